import { getIntrospectionQuery } from 'graphql'

/** Operations of one kind, of any size: the larger, the more they cost. */
export interface GrowingOperation {
  readonly title: string
  readonly maxSize: number
  readonly of: (size: number) => {
    readonly query: string
    readonly variables?: Readonly<Record<string, unknown>>
  }
}

const times = (count: number, write: (at: number) => string, between = ' '): string =>
  Array.from({ length: count }, (_, at) => write(at)).join(between)

const list = (count: number, where: (at: number) => object): object => ({
  where: { or: Array.from({ length: count }, (_, at) => where(at)) },
})

const aliases = (count: number, field: string): string =>
  `{ pods(first: 500) { nodes { ${times(count, (at) => `f${at}: ${field}`)} } } }`

const whereQuery =
  'query ($where: PodWhere) { pods(where: $where) { totalCount nodes { __typename } } }'
const selectorQuery = (many: number, inside: string): string =>
  `query ($s: String) { pods(first: ${many}) { nodes { ${inside} } } }`

/** One of each kind of work, alone and together with others. */
export const growingOperations: readonly GrowingOperation[] = [
  {
    title: 'aliases of __typename on 500 pods',
    maxSize: 3_000,
    of: (size) => ({ query: aliases(size, '__typename') }),
  },
  {
    title: 'aliases of id on 500 pods',
    maxSize: 3_000,
    of: (size) => ({ query: aliases(size, 'id') }),
  },
  {
    title: 'aliases of a name on 500 pods',
    maxSize: 1_500,
    of: (size) => ({ query: aliases(size, 'metadata { name }') }),
  },
  {
    title: 'aliases of a path of json on 500 pods',
    maxSize: 1_000,
    of: (size) => ({ query: aliases(size, 'json(path: "spec.containers[*].image")') }),
  },
  {
    title: 'aliases of json on 500 pods',
    maxSize: 1_000,
    of: (size) => ({ query: aliases(size, 'json') }),
  },
  {
    title: 'lists of 500 pods of 10 fields',
    maxSize: 200,
    of: (size) => ({
      query: `{ ${times(
        size,
        (at) =>
          `p${at}: pods(first: 500) { nodes { metadata { name namespace uid creationTimestamp } spec { nodeName serviceAccountName } status { phase podIP hostIP startTime } } }`,
      )} }`,
    }),
  },
  {
    title: 'pods of the nodes of pods',
    maxSize: 500,
    of: (size) => ({
      query: `{ pods(first: ${size}) { nodes { node { pods(first: 500) { nodes { metadata { name } } } } } } }`,
    }),
  },
  {
    title: 'owners of the owners of pods, by graphql-js',
    maxSize: 500,
    of: (size) => ({
      query: `{ pods(first: ${size}) { nodes { owners { metadata { name } owners { metadata { name } owners { id } } } } } }`,
    }),
  },
  {
    title: 'lists that look at every pod',
    maxSize: 1_000,
    of: (size) => ({
      query: `{ ${times(size, (at) => `p${at}: pods(where: { not: { name: { eq: "no" } }, nodeName: { exists: false } }) { totalCount }`)} }`,
    }),
  },
  {
    title: 'parts of names',
    maxSize: 950,
    of: (size) => ({
      query: whereQuery,
      variables: list(size, (at) => ({ name: { contains: `no-${at}` } })),
    }),
  },
  {
    title: 'beginnings of names, not one of which is there',
    maxSize: 950,
    of: (size) => ({
      query: whereQuery,
      variables: list(size, (at) => ({ name: { startsWith: `no-${at}` } })),
    }),
  },
  {
    title: 'pairs of conditions',
    maxSize: 600,
    of: (size) => ({
      query: whereQuery,
      variables: list(size, (at) => ({
        namespace: { startsWith: '' },
        name: { endsWith: `no-${at}` },
      })),
    }),
  },
  {
    title: 'a selector of 250 requirements in relations of pods',
    maxSize: 500,
    of: (size) => ({
      query: selectorQuery(size, 'node { pods(labelSelector: $s) { totalCount } }'),
      variables: { s: times(250, (at) => `k${at}!=v`, ',') },
    }),
  },
  {
    title: 'introspection',
    maxSize: 60,
    of: (size) => ({
      query: `{ ${times(size, (at) => `s${at}: __schema { types { fields { name args { name } type { name } } } }`)} }`,
    }),
  },
  {
    title: 'the whole schema',
    maxSize: 1,
    of: () => ({ query: getIntrospectionQuery() }),
  },
  {
    title: 'unknown fields',
    maxSize: 3_000,
    of: (size) => ({ query: `{ ${times(size, (at) => `podz${at}`)} }` }),
  },
  {
    title: 'the same field over and over',
    maxSize: 5_000,
    of: (size) => ({ query: `{ pods(first: 1) { nodes { ${times(size, () => 'kind')} } } }` }),
  },
]

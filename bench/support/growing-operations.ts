import { getIntrospectionQuery } from 'graphql'

/** Operations of one kind, of any size: the larger, the more they cost. */
export interface GrowingOperation {
  readonly title: string
  readonly maxSize: number
  /** The same for every `salt`, save that nothing of one is known from another: neither its document nor its texts. */
  readonly of: (
    size: number,
    salt: number,
  ) => {
    readonly query: string
    readonly variables?: Readonly<Record<string, unknown>>
  }
}

const times = (count: number, write: (at: number) => string, between = ' '): string =>
  Array.from({ length: count }, (_, at) => write(at)).join(between)

const list = (count: number, where: (at: number) => object): object => ({
  where: { or: Array.from({ length: count }, (_, at) => where(at)) },
})

const aliases = (count: number, salt: number, field: string): string =>
  `{ pods(first: 500) { nodes { ${times(count, (at) => `f${salt}_${at}: ${field}`)} } } }`

const whereQuery = (salt: number): string =>
  `query ($where: PodWhere) { p${salt}: pods(where: $where) { totalCount nodes { __typename } } }`
const selectorQuery = (many: number, salt: number, inside: string): string =>
  `query ($s: String) { p${salt}: pods(first: ${many}) { nodes { ${inside} } } }`

/** One of each kind of work, alone and together with others. */
export const growingOperations: readonly GrowingOperation[] = [
  {
    title: 'aliases of __typename on 500 pods',
    maxSize: 950,
    of: (size, salt) => ({ query: aliases(size, salt, '__typename') }),
  },
  {
    title: 'aliases of id on 500 pods',
    maxSize: 950,
    of: (size, salt) => ({ query: aliases(size, salt, 'id') }),
  },
  {
    title: 'aliases of a name on 500 pods',
    maxSize: 950,
    of: (size, salt) => ({ query: aliases(size, salt, 'metadata { name }') }),
  },
  {
    title: 'aliases of a path of json on 500 pods',
    maxSize: 950,
    of: (size, salt) => ({ query: aliases(size, salt, 'json(path: "spec.containers[*].image")') }),
  },
  {
    title: 'aliases of a part of json on 500 pods',
    maxSize: 950,
    of: (size, salt) => ({ query: aliases(size, salt, 'json(path: "spec.containers")') }),
  },
  {
    title: 'aliases of a label on 500 pods',
    maxSize: 950,
    of: (size, salt) => ({ query: aliases(size, salt, 'metadata { label(key: "app") }') }),
  },
  {
    title: 'aliases of all labels on 500 pods',
    maxSize: 950,
    of: (size, salt) => ({ query: aliases(size, salt, 'metadata { labels }') }),
  },
  {
    title: 'aliases of containers on 500 pods',
    maxSize: 500,
    of: (size, salt) => ({
      query: aliases(
        size,
        salt,
        'spec { containers { name image ports { containerPort } env { name value } } }',
      ),
    }),
  },
  {
    title: 'aliases of json on 500 pods',
    maxSize: 950,
    of: (size, salt) => ({ query: aliases(size, salt, 'json') }),
  },
  {
    title: 'lists of 500 pods of 10 fields',
    maxSize: 200,
    of: (size, salt) => ({
      query: `{ ${times(
        size,
        (at) =>
          `p${at}: pods(first: 500) { nodes { m${salt}: metadata { name namespace uid creationTimestamp } spec { nodeName serviceAccountName } status { phase podIP hostIP startTime } } }`,
      )} }`,
    }),
  },
  {
    title: 'pods of the nodes of pods',
    maxSize: 500,
    of: (size, salt) => ({
      query: `{ pods(first: ${size}) { nodes { node { pods(first: 500) { nodes { m${salt}: metadata { name } } } } } } }`,
    }),
  },
  {
    title: 'owners of the owners of pods',
    maxSize: 500,
    of: (size, salt) => ({
      query: `{ pods(first: ${size}) { nodes { m${salt}: owners { metadata { name } owners { metadata { name } owners { id } } } } } }`,
    }),
  },
  {
    title: 'lists that look at every pod',
    maxSize: 950,
    of: (size, salt) => ({
      query: `{ ${times(size, (at) => `p${salt}_${at}: pods(where: { not: { name: { eq: "no" } }, nodeName: { exists: false } }) { totalCount }`)} }`,
    }),
  },
  {
    title: 'parts of names',
    maxSize: 950,
    of: (size, salt) => ({
      query: whereQuery(salt),
      variables: list(size, (at) => ({ name: { contains: `no-${at}` } })),
    }),
  },
  {
    title: 'beginnings of names, not one of which is there',
    maxSize: 950,
    of: (size, salt) => ({
      query: whereQuery(salt),
      variables: list(size, (at) => ({ name: { startsWith: `no-${at}` } })),
    }),
  },
  {
    title: 'pairs of conditions',
    maxSize: 600,
    of: (size, salt) => ({
      query: whereQuery(salt),
      variables: list(size, (at) => ({
        namespace: { startsWith: '' },
        name: { endsWith: `no-${at}` },
      })),
    }),
  },
  {
    title: 'a selector of 250 requirements in relations of pods',
    maxSize: 500,
    of: (size, salt) => ({
      query: selectorQuery(size, salt, 'node { pods(labelSelector: $s) { totalCount } }'),
      variables: { s: times(250, (at) => `k${at}!=v`, ',') },
    }),
  },
  {
    title: 'introspection',
    maxSize: 60,
    of: (size, salt) => ({
      query: `{ ${times(size, (at) => `s${salt}_${at}: __schema { types { fields { name args { name } type { name } } } }`)} }`,
    }),
  },
  {
    title: 'types within types',
    maxSize: 300,
    of: (size, salt) => ({
      query: `{ __schema { types { ${times(size, (at) => `f${salt}_${at}: fields { type { fields { name type { name } } } }`)} } } }`,
    }),
  },
  {
    title: 'the whole schema',
    maxSize: 1,
    of: (_, salt) => ({ query: `${getIntrospectionQuery()} # ${salt}` }),
  },
  {
    title: 'unknown fields',
    maxSize: 3_000,
    of: (size, salt) => ({ query: `{ ${times(size, (at) => `podz${salt}_${at}`)} }` }),
  },
  {
    title: 'the same field over and over',
    maxSize: 5_000,
    of: (size, salt) => ({
      query: `{ p${salt}: pods(first: 1) { nodes { ${times(size, () => 'kind')} } } }`,
    }),
  },
]

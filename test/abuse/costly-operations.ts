/** An operation that costs more than anybody may ask for. */
export interface CostlyOperation {
  readonly title: string
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
  readonly error: {
    readonly code: 'QUERY_TOO_COSTLY' | 'BAD_USER_INPUT'
    /** What was too much: the work, or the argument. */
    readonly work?: string
    readonly argument?: string
    readonly message?: RegExp
  }
}

const times = (count: number, write: (at: number) => string, between = ' '): string =>
  Array.from({ length: count }, (_, at) => write(at)).join(between)

const nested = (depth: number, open: string, close: string, inside: string): string =>
  open.repeat(depth) + inside + close.repeat(depth)

const deepWhere = (depth: number): object => {
  let where: object = {}
  for (let level = 0; level < depth; level += 1) where = { not: where }
  return where
}

const relations = (depth: number): string =>
  nested(depth, 'node { pods(first: 500) { nodes { ', '} } } ', '__typename ')

const tooCostly = (work: string) => ({ code: 'QUERY_TOO_COSTLY', work }) as const
const bad = (argument: string, message?: RegExp) =>
  ({ code: 'BAD_USER_INPUT', argument, ...(message === undefined ? {} : { message }) }) as const

/** Written for a cluster of some 1,500 pods. */
export const costlyQueries: readonly CostlyOperation[] = [
  {
    title: '300 aliases of json',
    query: `{ pods(first: 500) { nodes { ${times(300, (at) => `j${at}: json`)} } } }`,
    error: tooCostly('bytes'),
  },
  {
    title: '300 aliases of a part of json',
    query: `{ pods(first: 500) { nodes { ${times(300, (at) => `j${at}: json(path: "spec.containers")`)} } } }`,
    error: tooCostly('bytes'),
  },
  {
    title: '1,000 aliases of __typename on each row',
    query: `{ pods(first: 500) { nodes { ${times(1_000, (at) => `t${at}: __typename`)} } } }`,
    error: tooCostly('fields'),
  },
  {
    title: 'aliases of 250 characters on each row',
    query: `{ pods(first: 500) { nodes { ${times(200, (at) => `${'x'.repeat(250)}${at}: kind`)} } } }`,
    error: tooCostly('bytes'),
  },
  {
    title: 'relations 8 deep',
    query: `{ pods(first: 500) { nodes { ${relations(8)} } } }`,
    error: { code: 'QUERY_TOO_COSTLY' },
  },
  {
    title: 'the topmost owner of each row 64 times',
    query: `{ pods(first: 500) { nodes { ${times(64, (at) => `r${at}: rootOwner { __typename }`)} } } }`,
    error: { code: 'QUERY_TOO_COSTLY' },
  },
  {
    title: 'how many Events each row has 64 times',
    query: `{ pods(first: 500) { nodes { ${times(64, (at) => `e${at}: events { totalCount }`)} } } }`,
    error: { code: 'QUERY_TOO_COSTLY' },
  },
  {
    title: 'what is part of the same as each row 16 times',
    query: `{ pods(first: 500) { nodes { ${times(16, (at) => `p${at}: partOfObjects(first: 2) { nodes { __typename } }`)} } } }`,
    error: { code: 'QUERY_TOO_COSTLY' },
  },
  {
    title: 'the values of facets under long names',
    query: `{ pods { ${times(
      4,
      (at) =>
        `f${at}: facets(by: [${times(10, () => '"name"')}], top: 1000) { values { ${times(30, (of) => `${'x'.repeat(150)}${of}: value`)} } }`,
    )} } }`,
    // All values of one list, and not as many as fit.
    error: { ...tooCostly('bytes'), message: /writes \d{8} of/ },
  },
  {
    title: 'twenty sums for each value of twenty facets',
    query: `{ pods(first: 0) { facets(by: [${times(20, () => '"name"')}], top: 1000, sum: [${times(20, () => '"cpuRequests"')}]) { values { value } } } }`,
    error: tooCostly('examined'),
  },
  {
    title: '300 aliases of the cursor of each row',
    query: `{ pods(first: 500) { edges { ${times(300, (at) => `c${at}: cursor`)} } } }`,
    // Before the first of them is written.
    error: {
      ...tooCostly('tests'),
      message: /^the operation makes more than \d+ tests of conditions$/,
    },
  },
  {
    title: '100 aliases of the resume token of a relation of each row',
    query: `{ pods(first: 500) { nodes { node { pods(first: 1) { ${times(100, (at) => `t${at}: resumeToken`)} } } } } }`,
    error: { code: 'QUERY_TOO_COSTLY' },
  },
  {
    title: 'introspection over and over',
    query: `{ ${times(40, (at) => `s${at}: __schema { types { fields { name args { name } type { name } } } }`)} }`,
    error: { code: 'QUERY_TOO_COSTLY' },
  },
  {
    title: 'introspection of types within types',
    query: `{ __schema { types { ${times(100, (at) => `f${at}: fields { type { fields { name type { name } } } }`)} } } }`,
    error: { code: 'QUERY_TOO_COSTLY' },
  },
  {
    title: 'fragments in fragments that make millions of fields',
    query: `{ pods { nodes { ...F0 } } } ${times(
      16,
      (at) =>
        `fragment F${at} on Pod { a: node { pods { nodes { ...F${at + 1} } } } b: node { pods { nodes { ...F${at + 1} } } } }`,
    )} fragment F16 on Pod { kind }`,
    error: { code: 'QUERY_TOO_COSTLY', message: /fields, and at most 10000/ },
  },
  {
    title: 'a chain of fragments 500 deep',
    query: `{ pods { nodes { ...F0 } } } ${times(
      500,
      (at) => `fragment F${at} on Pod { node { pods { nodes { ...F${at + 1} } } } }`,
    )} fragment F500 on Pod { kind }`,
    error: { code: 'QUERY_TOO_COSTLY', message: /fields within fields/ },
  },
  {
    title: 'the same fields in 150 fragments',
    query: `{ pods(first: 1) { nodes { ${times(150, (at) => `...F${at}`)} } } } ${times(
      150,
      (at) =>
        `fragment F${at} on Pod { metadata { name labels } spec { nodeName } status { phase } }`,
    )}`,
    error: { code: 'QUERY_TOO_COSTLY', message: /same fields in the same places/ },
  },
  {
    title: 'the same fields in 200 fragments that nobody spreads',
    query: `{ pods(first: 1) { totalCount } } ${times(
      200,
      (at) => `fragment F${at} on Pod { ${at === 199 ? times(199, (of) => `...F${of}`) : ''}
        metadata { name } spec { nodeName } }`,
    )}`,
    error: { code: 'QUERY_TOO_COSTLY', message: /same fields in the same places/ },
  },
  {
    title: 'another field of the same alias 500 times',
    query: `{ pods(first: 1) { nodes { ${times(500, (at) => `x: ${at % 2 === 0 ? 'id' : 'kind'}`)} } } }`,
    error: { code: 'QUERY_TOO_COSTLY', message: /same fields in the same places/ },
  },
  {
    title: 'a path of 5,000 steps through each object',
    query: `{ pods(first: 500) { nodes { json(path: "${'[*]'.repeat(5_000)}") } } }`,
    error: bad('path', /more than 64 steps/),
  },
  {
    title: 'a selector of 2,000 requirements in a relation',
    query: `{ pods(first: 500) { nodes { node { pods(labelSelector: "${times(2_000, (at) => `k${at}`, ',')}") { totalCount } } } } }`,
    error: bad('labelSelector', /requirements/),
  },
  {
    title: 'a selector of 250 requirements in a relation',
    query: `query ($s: String) { pods(first: 500) { nodes { ${times(
      10,
      (at) => `n${at}: node { pods(labelSelector: $s) { totalCount } }`,
    )} } } }`,
    variables: { s: times(250, (at) => `k${at}!=v`, ',') },
    error: tooCostly('tests'),
  },
  {
    title: 'a where 3,000 deep',
    query: `{ pods(where: ${nested(2_400, '{not:', '}', '{}')}) { totalCount } }`,
    error: bad('where', /nested more than 64 deep/),
  },
  {
    title: 'a where 3,000 deep in a variable',
    query: 'query ($where: PodWhere) { pods(where: $where) { totalCount } }',
    variables: { where: deepWhere(3_000) },
    error: bad('$where', /nested more than 64 deep/),
  },
  {
    title: 'a where of 9,000 objects without a condition',
    query: 'query ($where: PodWhere) { pods(where: $where) { totalCount } }',
    variables: { where: { or: Array.from({ length: 9_000 }, () => ({})) } },
    error: bad('$where', /more than 50000 values/),
  },
  {
    title: 'a where of 3,000 conditions',
    query: 'query ($where: PodWhere) { pods(where: $where) { totalCount } }',
    variables: {
      where: { or: Array.from({ length: 1_500 }, () => ({ name: { startsWith: 'a' } })) },
    },
    error: bad('where.or[999].name', /more than 2000 conditions/),
  },
  {
    title: 'a where of 900 parts of names',
    query: 'query ($where: PodWhere) { pods(where: $where) { totalCount } }',
    variables: {
      where: { or: Array.from({ length: 900 }, (_, at) => ({ name: { contains: `no-${at}` } })) },
    },
    error: tooCostly('tests'),
  },
  {
    title: '5,000 ids that are none',
    query: 'query ($ids: [ID!]!) { objects(ids: $ids) { id } }',
    variables: { ids: Array.from({ length: 5_000 }, (_, at) => `none-${at}`) },
    error: tooCostly('fields'),
  },
  {
    title: 'errors whose lines are counted',
    query: `${'\n'.repeat(60_000)}query ($ids: [ID!]!) { objects(ids: $ids) { id } }`,
    variables: { ids: Array.from({ length: 50 }, (_, at) => `none-${at}`) },
    error: tooCostly('fields'),
  },
  {
    title: 'the same errors on each row, by many aliases',
    query: `{ pods(first: 500) { nodes { ${times(20, (at) => `c${at}: can(verb: "V")`)} } } }`,
    error: tooCostly('fields'),
  },
  {
    title: 'selection sets 3,000 deep',
    query: nested(3_000, '{ a ', '}', ''),
    error: { code: 'BAD_USER_INPUT', message: /nested more than 64 deep/ },
  },
  ...(
    [
      [
        '500 lists in one order of 4,000 keys',
        '$large: [PodOrder!]',
        'pods(orderBy: $large) { totalCount }',
        Array.from({ length: 4_000 }, () => ({ name: 'ASC' })),
      ],
      [
        '500 lists in the clusters of one selector',
        '$large: String',
        'pods(clusterSelector: $large) { totalCount }',
        `app in (${times(2_900, (at) => `v${at}`, ',')})`,
      ],
      [
        '500 lists of the same 4,000 ids',
        '$large: [ID!]',
        'pods(ids: $large) { totalCount }',
        Array.from({ length: 4_000 }, (_, at) => `one/Pod/shop/${at}`),
      ],
      [
        'one verb of 100 KB for each row',
        '$large: String!',
        'pods(first: 500) { nodes { can(verb: $large) } }',
        'x'.repeat(100_000),
      ],
    ] as const
  ).map(([title, variable, field, large]): CostlyOperation => ({
    title,
    query: `query (${variable}) { ${times(title.startsWith('500') ? 500 : 1, (at) => `a${at}: ${field}`)} }`,
    variables: { large },
    error: { code: 'QUERY_TOO_COSTLY', argument: '$large' },
  })),
]

/** Wrong in a way that is told, and large, so that it must not be sent back. */
export const largeMistakes: readonly CostlyOperation[] = [
  {
    title: 'a field',
    query: `{ ${'x'.repeat(120_000)} }`,
    error: { code: 'BAD_USER_INPUT', message: /longer than 256 characters/ },
  },
  {
    title: 'a selector',
    query: 'query ($s: String) { pods(labelSelector: $s) { totalCount } }',
    variables: { s: `${'x'.repeat(120_000)}(` },
    error: bad('labelSelector'),
  },
  {
    title: 'a selector on each row',
    query:
      'query ($s: String) { pods(first: 500) { nodes { node { pods(labelSelector: $s) { totalCount } } } } }',
    variables: { s: `${times(200, (at) => `k${at}=v`, ',')},(` },
    error: bad('labelSelector', /never closed/),
  },
  {
    title: 'a cursor',
    query: 'query ($after: String) { pods(after: $after) { totalCount } }',
    variables: { after: 'x'.repeat(120_000) },
    error: bad('after'),
  },
  {
    title: 'an id',
    query: 'query ($id: ID!) { object(id: $id) { id } }',
    variables: { id: 'x'.repeat(120_000) },
    error: { code: 'BAD_USER_INPUT' },
  },
  {
    title: 'a cluster',
    query: 'query ($c: String) { pods(cluster: $c) { totalCount } }',
    variables: { c: 'x'.repeat(120_000) },
    error: bad('cluster'),
  },
  {
    title: 'a variable',
    query: 'query ($first: Int) { pods(first: $first) { totalCount } }',
    variables: { first: 'x'.repeat(120_000) },
    error: { code: 'BAD_USER_INPUT' },
  },
  {
    title: 'an unknown filter in a variable',
    query: 'query ($where: PodWhere) { pods(where: $where) { totalCount } }',
    variables: { where: { ['x'.repeat(120_000)]: { eq: 'a' } } },
    error: { code: 'BAD_USER_INPUT' },
  },
  {
    title: '500 unknown filters in a variable',
    query: 'query ($where: PodWhere) { pods(where: $where) { totalCount } }',
    variables: {
      where: Object.fromEntries(
        Array.from({ length: 500 }, (_, at) => [`wrong${at}`, { eq: 'a' }]),
      ),
    },
    error: { code: 'BAD_USER_INPUT', message: /unknown field "wrong0"/ },
  },
  {
    title: 'a thousand unknown fields',
    query: `{ ${times(1_000, (at) => `unknown${at}`)} }`,
    error: { code: 'BAD_USER_INPUT' },
  },
]

export const costlySubscriptions: readonly CostlyOperation[] = [
  {
    title: 'whose snapshot tries 900 parts of names',
    query: 'subscription ($where: PodWhere) { pods(where: $where) { synced } }',
    variables: {
      where: { or: Array.from({ length: 900 }, (_, at) => ({ name: { contains: `no-${at}` } })) },
    },
    error: tooCostly('tests'),
  },
  {
    title: 'whose frames have 100 aliases of json',
    query: `subscription { pods { changes { object { ${times(100, (at) => `j${at}: json`)} } } } }`,
    error: tooCostly('bytes'),
  },
  {
    title: 'with a selector of 2,000 requirements',
    query: 'subscription ($s: String) { pods(labelSelector: $s) { synced } }',
    variables: { s: times(2_000, (at) => `k${at}`, ',') },
    error: bad('labelSelector', /requirements/),
  },
]

/** An operation that is refused, the same by HTTP and by WebSocket. */
export interface AttackOperation {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
  /** What it is refused with. */
  readonly code: string
}

const times = (count: number, write: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => write(at)).join(' ')

/** By title. They need no more than a cluster with pods and nodes, and the default limits. */
export const attackOperations: Readonly<Record<string, AttackOperation>> = {
  'alias bombs': {
    query: `{ ${times(1_001, (at) => `a${at}: __typename`)} }`,
    code: 'QUERY_TOO_COSTLY',
  },
  'alias bombs through fragments': {
    query: `{ ${times(30, () => '...f')} } fragment f on Query { ${times(40, (at) => `a${at}: __typename`)} }`,
    code: 'QUERY_TOO_COSTLY',
  },
  'directives by the hundred': {
    query: `{ __typename ${times(201, () => '@include(if: true)')} }`,
    code: 'QUERY_TOO_COSTLY',
  },
  'deep fragments': {
    query: `{ nodes { nodes { ...f0 } } } ${times(40, (at) => `fragment f${at} on Node { pods { nodes { node { ...f${at + 1} } } } }`)} fragment f40 on Node { id }`,
    code: 'QUERY_TOO_COSTLY',
  },
  'fragments that multiply': {
    query: `{ ...f0 } ${times(20, (at) => `fragment f${at} on Query { ...f${at + 1} ...f${at + 1} }`)} fragment f20 on Query { __typename }`,
    code: 'QUERY_TOO_COSTLY',
  },
  'circular fragments': {
    query: '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }',
    code: 'BAD_USER_INPUT',
  },
  'fragments in each other, in hundreds of places': {
    query: `{ ${times(200, (at) => `n${at}: nodes { ...f0 }`)} } ${times(900, (at) => `fragment f${at} on NodeConnection { ...f${at + 1} }`)} fragment f900 on NodeConnection { totalCount }`,
    code: 'QUERY_TOO_COSTLY',
  },
  'fragments by the hundred in one place': {
    query: `{ ${times(450, (at) => `...f${at}`)} } ${times(450, (at) => `fragment f${at} on Query { a${at}: __typename }`)}`,
    code: 'QUERY_TOO_COSTLY',
  },
  'unknown fragments by the thousand': {
    query: `{ ${times(4_000, (at) => `...u${at}`)} }`,
    code: 'BAD_USER_INPUT',
  },
  'a fragment that spreads itself a thousand times': {
    query: `{ nodes { ...a } } fragment a on NodeConnection { ${times(1_000, () => '...a')} }`,
    code: 'BAD_USER_INPUT',
  },
  'a document of 100,000 tokens': {
    query: `{ a(b: [${'[]'.repeat(50_000)}]) }`,
    code: 'BAD_USER_INPUT',
  },
  'a list that holds the name of a namespace': {
    query: 'query ($in: String) { pods(namespace: $in) { totalCount } }',
    variables: { in: ['default'] },
    code: 'BAD_USER_INPUT',
  },
  'huge variables': {
    query: 'query ($names: [String!]) { pods(namespaces: $names) { totalCount } }',
    variables: { names: Array.from({ length: 51_000 }, () => 0) },
    code: 'BAD_USER_INPUT',
  },
  'deep variables': {
    query: 'query ($where: PodWhere) { pods(where: $where) { totalCount } }',
    variables: {
      where: Array.from({ length: 70 }).reduce<object>((inner) => ({ not: inner }), {}),
    },
    code: 'BAD_USER_INPUT',
  },
  'pages that are too large, by a variable': {
    query: 'query ($n: Int) { pods(first: $n) { totalCount } }',
    variables: { n: 100_000 },
    code: 'BAD_USER_INPUT',
  },
  'pages within pages, by variables': {
    query:
      'query ($n: Int) { nodes(first: $n) { nodes { pods(first: $n) { nodes { node { pods(first: $n) { totalCount } } } } } } }',
    variables: { n: 500 },
    code: 'QUERY_TOO_COSTLY',
  },
  'introspection where it is off': {
    query: '{ __schema { types { name } } }',
    code: 'UNSUPPORTED',
  },
  'introspection of one type, in a fragment': {
    query: '{ ...f } fragment f on Query { t: __type(name: "Pod") { name } }',
    code: 'UNSUPPORTED',
  },
  'forged cursors': {
    query: 'query ($after: String) { pods(first: 1, after: $after) { totalCount } }',
    variables: { after: Buffer.from('["forged",1,{}]').toString('base64url') },
    code: 'BAD_USER_INPUT',
  },
  'forged ids': {
    query: 'query ($id: ID!) { object(id: $id) { id } }',
    variables: { id: Buffer.from('["forged"]').toString('base64url') },
    code: 'BAD_USER_INPUT',
  },
}

/*
 * Random questions over clusters: every form of root field that takes `clusters`, with filters, orders, facets and pages, for gateways that
 * hold different clusters and have to answer the same.
 */

export interface Question {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  /** The connection whose pages are read to their end: the field, and the argument of its cursor is `$after`. */
  readonly pages?: string
}

const row = 'id clusterName namespace name'
const gaps = 'incomplete { cluster type code }'

const wheres = [
  '{}',
  '{ name: { contains: "a" } }',
  '{ health: { in: [DEGRADED, PROGRESSING] } }',
  '{ not: { namespace: { in: ["payments", "storefront"] } } }',
  '{ or: [{ name: { startsWith: "c" } }, { namespace: { gt: "o" } }] }',
]
const podWheres = [
  ...wheres,
  '{ phase: { eq: "Running" } }',
  '{ restarts: { gt: 0 } }',
  '{ node: { is: { name: { contains: "1" } } } }',
]
const orders = [
  '[]',
  '[{ name: DESC }]',
  '[{ namespace: DESC }, { name: ASC }]',
  '[{ creationTimestamp: DESC }]',
  '[{ health: ASC }, { name: DESC }]',
]
const podOrders = [...orders, '[{ restarts: DESC }]', '[{ nodeName: ASC }, { restarts: ASC }]']
const lists = ['deployments', 'services', 'configMaps', 'nodes', 'jobs', 'events']
const words = ['a', 'web', 'kind:pod,svc a', 'ns:payments', 'app', 'cluster-3', 'card']

/** Questions without an end; the same `random` gives the same. */
export function* randomQuestions(
  clusters: readonly string[],
  random: () => number,
): Generator<Question, never> {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const place = (): string => {
    const some = clusters.filter(() => random() < 0.5)
    return pick([
      'clusters: ["*"]',
      'clusters: ["*"]',
      'clusterSelector: "stage=even"',
      'clusterSelector: "stage!=even"',
      `clusters: ${JSON.stringify(some.length === 0 ? clusters : some)}`,
      `cluster: "${pick(clusters)}"`,
    ])
  }
  const pods = (): Question => ({
    query: `query ($after: String) { pods(
      ${place()}, first: ${pick([1, 7, 40])}, after: $after, where: ${pick(podWheres)}, orderBy: ${pick(podOrders)}
    ) {
      totalCount visible ${gaps} pageInfo { hasNextPage hasPreviousPage endCursor }
      nodes { ${row} status { phase } node { name } owners { kind name } }
    } }`,
    variables: {},
    pages: 'pods',
  })
  const forms: readonly (() => Question)[] = [
    pods,
    pods,
    () => ({
      query: `query ($after: String) { ${pick(lists)}(
        ${place()}, first: ${pick([2, 30])}, after: $after, where: ${pick(wheres)}, orderBy: ${pick(orders)}
      ) { totalCount ${gaps} pageInfo { hasNextPage endCursor } nodes { ${row} } } }`,
      variables: {},
    }),
    () => ({
      query: `{ pods(${place()}, first: 0, where: ${pick(podWheres)}) {
        totalCount ${gaps}
        facets(by: ["cluster", "phase", "namespace", "nodeName"], top: ${pick([3, 100])}, sum: ["cpuRequests", "restarts"]) {
          by distinctCount values { value count sums { of count value } }
        } } }`,
      variables: {},
    }),
    () => ({
      query: `query ($after: String) { kubernetesObjects(
        kinds: ${pick(['["Pod", "Deployment"]', '["*"]', '["Service", "ConfigMap", "Job"]'])},
        ${place()}, first: ${pick([3, 50])}, after: $after, where: ${pick(wheres)}, orderBy: ${pick(orders)}
      ) { totalCount types ${gaps} counts { type count } pageInfo { hasNextPage endCursor } nodes { kind ${row} } } }`,
      variables: {},
      pages: 'kubernetesObjects',
    }),
    () => ({
      query: `{ search(text: "${pick(words)}", ${place()}, first: ${pick([5, 100])}) {
        totalCount types ${gaps} counts { type count } nodes { object { id kind namespace name } matched value } } }`,
      variables: {},
    }),
    () => ({
      query: `query ($after: String) { problems(${place()}, first: ${pick([4, 100])}, after: $after) {
        totalCount ${gaps} counts { severity type kind count } pageInfo { hasNextPage endCursor }
        nodes { id cluster kind type severity reason message count object { id kind namespace name } } } }`,
      variables: {},
      pages: 'problems',
    }),
    // Several fields, about different clusters.
    () => ({
      query: `{ one: pods(${place()}, first: 3, orderBy: ${pick(podOrders)}) { totalCount ${gaps} nodes { ${row} } }
        other: deployments(${place()}, first: 3) { totalCount ${gaps} nodes { ${row} pods(first: 2) { nodes { name } } } }
        viewer { username } }`,
      variables: {},
    }),
  ]
  for (;;) yield pick(forms)()
}

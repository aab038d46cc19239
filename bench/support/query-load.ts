/** Fields of a pod as pages ask for them. */
const tenFields = `
  metadata { name namespace creationTimestamp label(key: "app.kubernetes.io/name") }
  spec { nodeName containers { name image } }
  status { phase podIP containerStatuses { restartCount } }`

/** An operation of the query benchmark. */
export interface QueryOperation {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
}

/** What the questions are about: names and values that the population has. */
export interface QuerySubjects {
  readonly namespace: string
  readonly pod: string
  readonly deploymentNamespace: string
  readonly deployment: string
  readonly nodeName: string
  /** Names that about a thousandth, and about a tenth, of all pods have: nodes and namespaces. */
  readonly nodes: readonly string[]
  readonly namespaces: readonly string[]
}

/** One query, and its equivalents for the other contenders. */
export interface QueryQuestion {
  readonly operations: readonly QueryOperation[]
  /** Connections that ask at once; default 1. */
  readonly connections?: number
  /** The path of `process/plain-objects.ts`, where plain objects could answer. */
  readonly plainObjects?: string
  /** What a plain client would ask the API server for. */
  readonly api?: string
  /** Whether one field of the answer fails. */
  readonly fails?: boolean
}

/** The questions, by title. */
export function queryQuestions(subjects: QuerySubjects): Readonly<Record<string, QueryQuestion>> {
  const { namespace, pod, deploymentNamespace, deployment, nodeName } = subjects
  return {
    'one pod, 6 fields': {
      ...one(
        `query ($namespace: String!, $name: String!) { pod(namespace: $namespace, name: $name) {
          metadata { name namespace creationTimestamp } spec { nodeName } status { phase podIP } } }`,
        { namespace, name: pod },
      ),
      connections: 32,
      api: `/api/v1/namespaces/${namespace}/pods/${pod}`,
    },
    '100 pods, 10 fields': {
      ...one(`{ pods(first: 100) { nodes { ${tenFields} } } }`),
      api: '/api/v1/pods?limit=100',
    },
    '5,000 pods, 10 fields': {
      ...one(`{ pods(first: 5000) { nodes { ${tenFields} } } }`),
      api: '/api/v1/pods?limit=5000',
    },
    'filtered by one index (90 %), ordered by another, first 100': {
      ...one(`{ pods(first: 100, where: { phase: { eq: "Running" } }, orderBy: [{ creationTimestamp: DESC }]) {
        nodes { ${tenFields} } pageInfo { hasNextPage endCursor } } }`),
      plainObjects: '/running',
    },
    'filtered (a few %), ordered by another index, first 100': {
      ...one(`{ pods(first: 100, where: { phase: { not: { in: ["Running"] } } }, orderBy: [{ restarts: DESC }, { name: ASC }]) {
        nodes { ${tenFields} } pageInfo { hasNextPage endCursor } } }`),
      plainObjects: '/broken',
    },
    'pods of a node': {
      ...one(
        `query ($nodeName: String!) { pods(first: 500, where: { nodeName: { eq: $nodeName } }) { nodes { ${tenFields} } } }`,
        { nodeName },
      ),
      api: `/api/v1/pods?fieldSelector=spec.nodeName%3D${nodeName}&limit=500`,
    },
    'a Deployment, 20 of its pods, their nodes': one(
      `query ($namespace: String!, $name: String!) { deployment(namespace: $namespace, name: $name) {
        metadata { name } status { replicas readyReplicas }
        pods(first: 20) { totalCount nodes { metadata { name } status { phase }
          node { metadata { name } status { nodeInfo { kubeletVersion } } } } } } }`,
      { namespace: deploymentNamespace, name: deployment },
    ),
    'facets of all pods': one(
      '{ pods(first: 0) { facets(by: ["phase", "nodeName"], top: 10) { by values { value count } distinctCount } } }',
    ),
    'facets of the pods that run': one(
      '{ pods(first: 0, where: { phase: { eq: "Running" } }) { facets(by: ["namespace"], top: 10) { by values { value count } } } }',
    ),
    'requests and limits of the pods that have not ended, by node': one(
      `{ pods(first: 0, where: { phase: { not: { in: ["Succeeded", "Failed"] } } }) {
        facets(by: ["nodeName"], top: 1000, sum: ["cpuRequests", "memoryRequests", "cpuLimits", "memoryLimits"]) {
          values { value count sums { of value number } } } } }`,
    ),
    '100 pods, 10 fields, beside a field that fails': {
      ...one(
        `{ pods(first: 100) { nodes { ${tenFields} } } failing: pods(labelSelector: "=") { totalCount } }`,
      ),
      fails: true,
    },
    '50 selections, filters and orders, 50 pods each': { operations: variedOperations(subjects) },
  }
}

const one = (query: string, variables?: QueryOperation['variables']): QueryQuestion => ({
  operations: [variables === undefined ? { query } : { query, variables }],
})

const fields = [
  'metadata { name namespace }',
  'metadata { name creationTimestamp label(key: "app.kubernetes.io/name") }',
  'metadata { uid labels } apiVersion kind',
  'spec { nodeName serviceAccountName }',
  'spec { containers { name image } }',
  'spec { restartPolicy priority containers { name ports { containerPort } } }',
  'status { phase podIP hostIP }',
  'status { startTime containerStatuses { name ready restartCount } }',
  'status { conditions { type status lastTransitionTime } }',
  'id clusterName',
]
const orders = [
  '',
  ', orderBy: [{ creationTimestamp: DESC }]',
  ', orderBy: [{ restarts: DESC }, { name: ASC }]',
  ', orderBy: [{ nodeName: ASC }]',
  ', orderBy: [{ name: DESC }]',
]

const quoted = (names: readonly string[], at: number): string =>
  JSON.stringify(names[at % names.length] ?? '')

/** Each with two or three of the fields, a filter that matches 0.1 %, 10 % or 90 %, and an order by something else. */
function variedOperations({ nodes, namespaces }: QuerySubjects): readonly QueryOperation[] {
  return Array.from({ length: 50 }, (_, at) => {
    const filters = [
      `nodeName: { eq: ${quoted(nodes, at)} }`,
      `namespace: { eq: ${quoted(namespaces, at)} }`,
      'phase: { eq: "Running" }',
    ]
    const selected = [at, at + 3, ...(at % 2 === 0 ? [at + 7] : [])]
    const selection = selected.map((field) => fields[field % fields.length]).join(' ')
    return {
      query: `{ pods(first: 50, where: { ${filters[at % filters.length]} }${orders[(at * 2 + 1) % orders.length]}) {
        nodes { ${selection} } pageInfo { endCursor } } }`,
    }
  })
}

/** New documents: the gateway parses, validates and compiles each, and writes each text. */
export function newDocuments(count: number, first: number): readonly QueryOperation[] {
  return Array.from({ length: count }, (_, at) => ({
    query: `{ pods(first: ${first}) { nodes { cold${at}: metadata { name namespace creationTimestamp
      label(key: "app.kubernetes.io/name") } spec { nodeName containers { name image } }
      status { phase podIP containerStatuses { restartCount } } } } }`,
  }))
}

/** One document with new arguments: the gateway has no cached text. */
export function newTexts(count: number, first: number): readonly QueryOperation[] {
  const query = `query ($key: String!) { pods(first: ${first}) { nodes { metadata { name namespace creationTimestamp
    label(key: $key) } spec { nodeName containers { name image } }
    status { phase podIP containerStatuses { restartCount } } } } }`
  return Array.from({ length: count }, (_, at) => ({ query, variables: { key: `bench/${at}` } }))
}

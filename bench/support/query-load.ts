/** Fields of a pod as pages ask for them. */
export const tenFields = `
  metadata { name namespace creationTimestamp label(key: "app.kubernetes.io/name") }
  spec { nodeName containers { name image } }
  status { phase podIP containerStatuses { restartCount } }`

/** One question of the query benchmark, as its GraphQL. */
export interface QueryQuestion {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
}

/** What the questions are about: names that the population has. */
export interface QuerySubjects {
  readonly namespace: string
  readonly pod: string
  readonly deploymentNamespace: string
  readonly deployment: string
  readonly nodeName: string
}

/** The questions, by title. */
export function queryQuestions(subjects: QuerySubjects): Readonly<Record<string, QueryQuestion>> {
  const { namespace, pod, deploymentNamespace, deployment, nodeName } = subjects
  return {
    'one pod, 6 fields': {
      query: `query ($namespace: String!, $name: String!) { pod(namespace: $namespace, name: $name) {
        metadata { name namespace creationTimestamp } spec { nodeName } status { phase podIP } } }`,
      variables: { namespace, name: pod },
    },
    '100 pods, 10 fields': { query: `{ pods(first: 100) { nodes { ${tenFields} } } }` },
    '5,000 pods, 10 fields': { query: `{ pods(first: 5000) { nodes { ${tenFields} } } }` },
    'filtered by one index (90 %), ordered by another, first 100': {
      query: `{ pods(first: 100, where: { phase: { eq: "Running" } }, orderBy: [{ creationTimestamp: DESC }]) {
        nodes { ${tenFields} } pageInfo { hasNextPage endCursor } } }`,
    },
    'filtered (a few %), ordered by another index, first 100': {
      query: `{ pods(first: 100, where: { phase: { not: { in: ["Running"] } } }, orderBy: [{ restarts: DESC }, { name: ASC }]) {
        nodes { ${tenFields} } pageInfo { hasNextPage endCursor } } }`,
    },
    'pods of a node': {
      query: `query ($nodeName: String!) { pods(first: 500, where: { nodeName: { eq: $nodeName } }) { nodes { ${tenFields} } } }`,
      variables: { nodeName },
    },
    'a Deployment, 20 of its pods, their nodes': {
      query: `query ($namespace: String!, $name: String!) { deployment(namespace: $namespace, name: $name) {
        metadata { name } status { replicas readyReplicas }
        pods(first: 20) { totalCount nodes { metadata { name } status { phase }
          node { metadata { name } status { nodeInfo { kubeletVersion } } } } } } }`,
      variables: { namespace: deploymentNamespace, name: deployment },
    },
    'facets of all pods': {
      query: `{ pods(first: 0) { facets(by: ["phase", "nodeName"], top: 10) { by values { value count } distinctCount } } }`,
    },
    'facets of the pods that run': {
      query: `{ pods(first: 0, where: { phase: { eq: "Running" } }) { facets(by: ["namespace"], top: 10) { by values { value count } } } }`,
    },
  }
}

/** Selections that nobody has asked before: each text of theirs has to be made. */
export function coldQuestions(count: number, first: number): readonly QueryQuestion[] {
  return Array.from({ length: count }, (_, at) => ({
    query: `{ pods(first: ${first}) { nodes { cold${at}: metadata { name namespace creationTimestamp
      label(key: "app.kubernetes.io/name") } spec { nodeName containers { name image } }
      status { phase podIP containerStatuses { restartCount } } } } }`,
  }))
}

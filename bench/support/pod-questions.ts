/** The questions of the query benchmark, each as GraphQL and as a plain client would ask the API server. */

/** What the questions ask of a pod. */
export interface Pod {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly creationTimestamp: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly nodeName?: string
    readonly containers: readonly { readonly name: string; readonly image: string }[]
  }
  readonly status: {
    readonly phase?: string
    readonly podIP?: string
    readonly containerStatuses?: readonly { readonly restartCount: number }[]
  }
}

/** One pod, 6 fields. */
export const podByName: string = `query ($namespace: String!, $name: String!) {
  pod(namespace: $namespace, name: $name) {
    metadata { name namespace creationTimestamp }
    spec { nodeName }
    status { phase podIP }
  }
}`

const tenFields = `
  metadata { name namespace creationTimestamp label(key: "app.kubernetes.io/name") }
  spec { nodeName containers { name image } }
  status { phase podIP containerStatuses { restartCount } }`

/** The first 100 pods that a label selector selects, 10 fields. */
export const podsBySelector: string = `query ($labelSelector: String!) {
  pods(first: 100, labelSelector: $labelSelector) { nodes { ${tenFields} } }
}`

/** The pods of a node, 10 fields. */
export const podsOfNode: string = `query ($nodeName: String!) {
  pods(first: 500, where: { nodeName: { eq: $nodeName } }) { nodes { ${tenFields} } }
}`

export type AnswerReader = 'graphql' | 'list' | 'object' | 'bytes' | 'json' | 'any'

/** Turns an answer into objects and says how many rows it has. */
export const answerReaders: Readonly<Record<AnswerReader, (body: Buffer) => number>> = {
  /** The answer is the objects. */
  graphql(body: Buffer): number {
    const { data, errors } = JSON.parse(body.toString()) as {
      readonly data?: { readonly pods?: { readonly nodes: readonly Pod[] }; readonly pod?: Pod }
      readonly errors?: unknown
    }
    if (errors !== undefined) return -1
    if (data?.pod != null) return 1
    return data?.pods?.nodes.length ?? 0
  },
  /** A list of whole pods, of which 10 fields are kept. */
  list(body: Buffer): number {
    const { items } = JSON.parse(body.toString()) as { readonly items: readonly Pod[] }
    return items.map(({ metadata, spec, status }) => ({
      name: metadata.name,
      namespace: metadata.namespace,
      creationTimestamp: metadata.creationTimestamp,
      label: metadata.labels?.['app.kubernetes.io/name'],
      nodeName: spec.nodeName,
      containers: spec.containers.map(({ name, image }) => ({ name, image })),
      phase: status.phase,
      podIP: status.podIP,
      restarts: status.containerStatuses?.map(({ restartCount }) => restartCount),
    })).length
  },
  /** One whole pod, of which 6 fields are kept. */
  object(body: Buffer): number {
    const { metadata, spec, status } = JSON.parse(body.toString()) as Pod
    const row = {
      name: metadata.name,
      namespace: metadata.namespace,
      creationTimestamp: metadata.creationTimestamp,
      nodeName: spec.nodeName,
      phase: status.phase,
      podIP: status.podIP,
    }
    return row.name === '' ? 0 : 1
  },
  /** Not looked at: what the server could do if clients cost nothing. The first item tells that there are some. */
  bytes(body: Buffer): number {
    return body.includes('"items":[{') ? 100 : 0
  },
  /** Turned into objects, whatever they are. */
  json(body: Buffer): number {
    return typeof JSON.parse(body.toString()) === 'object' ? 1 : 0
  },
  /** Not looked at, whatever it is. */
  any: () => 1,
}

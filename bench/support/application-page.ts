import { askGraphQL } from './graphql-client.ts'

/** How much of an application page there is. */
export const pageSizes = { deployments: 20, pods: 20, warnings: 3 } as const

/** One page of an application, as a client asks the gateway for it. */
export const pageQuery: string = `query ($namespaces: [String!]!) {
  deployments(namespaces: $namespaces, first: ${pageSizes.deployments}) { nodes {
    metadata { name } spec { replicas } status { readyReplicas }
    health { status message }
    autoscaler { metadata { name } spec { minReplicas maxReplicas } status { currentReplicas } }
    services { nodes { metadata { name } spec { type clusterIP } } }
    pods(first: ${pageSizes.pods}) { totalCount nodes {
      metadata { name } status { phase podIP }
      node { metadata { name } status { nodeInfo { kubeletVersion } } }
    } }
    podEvents(last: ${pageSizes.warnings}, where: { type: { eq: "Warning" } }) { nodes { reason message } }
  } }
}`

/** The content of the page, which is the same for all contenders. */
export interface PageCounts {
  readonly deployments: number
  readonly pods: number
  readonly nodes: number
  readonly services: number
  readonly autoscalers: number
  readonly warnings: number
}

/** The namespaces that have the most Deployments: a team has several. */
export async function busiestNamespaces(url: string): Promise<readonly string[]> {
  const text = await askGraphQL(url, {
    query: '{ deployments(first: 0) { facets(by: ["namespace"], top: 5) { values { value } } } }',
  })
  const { data } = JSON.parse(text) as {
    data: { deployments: { facets: { values: { value: string }[] }[] } }
  }
  return data.deployments.facets[0]?.values.map(({ value }) => value) ?? []
}

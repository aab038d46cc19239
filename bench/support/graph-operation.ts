import { askGraphQL } from './graphql-client.ts'
import type { QueryOperation } from './query-load.ts'

const graphQuery = `query ($roots: [ID!]!, $relations: [String!]) {
  graph(roots: $roots, depth: 4, relations: $relations) {
    nodes { id kind namespace name } edges { from to relation } truncated } }`

/** The relations that are named where not all are followed. */
export const namedRelations: readonly string[] = [
  'Deployment.replicaSets',
  'ReplicaSet.pods',
  'Pod.node',
  'Pod.services',
  'Pod.configMaps',
  'Pod.serviceAccount',
  'Service.endpointSlices',
]

/** The kinds that a graph from Deployments reaches. What it reaches depends on the kinds that are loaded. */
const graphKinds = [
  'deployments',
  'replicaSets',
  'nodes',
  'services',
  'endpointSlices',
  'configMaps',
  'serviceAccounts',
  'horizontalPodAutoscalers',
  'events',
]

/** A graph around these objects. `relations`: `null` for all. */
export function graphOperation(
  roots: readonly string[],
  relations: readonly string[] | null,
): QueryOperation {
  return { query: graphQuery, variables: { roots, relations } }
}

/** Loads the kinds that a graph from Deployments reaches. */
export async function loadGraphKinds(url: string): Promise<void> {
  const counts = graphKinds.map((kind) => `${kind} { totalCount }`).join(' ')
  await askGraphQL(url, { query: `{ ${counts} }` })
}

/** The ids of some Deployments. */
export async function deploymentIds(url: string, count: number): Promise<readonly string[]> {
  const text = await askGraphQL(url, { query: `{ deployments(first: ${count}) { nodes { id } } }` })
  const { data } = JSON.parse(text) as { data: { deployments: { nodes: { id: string }[] } } }
  return data.deployments.nodes.map(({ id }) => id)
}

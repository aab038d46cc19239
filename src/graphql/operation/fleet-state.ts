import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import type { CachedResourceState } from '../../cache/cached-resource-state.ts'
import type { ClusterCache } from '../../cache/cluster-cache.ts'
import type { ClusterState, FleetState, ResourceState } from '../schema/read-context.ts'
import type { ServedSchema } from './served-schema.ts'

/** The clusters and their caches, as they are when they are asked for. */
export function fleetOf(served: ServedSchema): FleetState {
  return {
    clusters: () => [...served.clusters.values()].map((cluster) => clusterStateOf(served, cluster)),
    cluster(name) {
      const cluster = served.clusters.get(name)
      return cluster === undefined ? null : clusterStateOf(served, cluster)
    },
  }
}

function clusterStateOf(served: ServedSchema, cluster: ClusterCache): ClusterState {
  const { connection } = cluster
  return {
    name: cluster.name,
    state: connection.state === 'connected' ? 'CONNECTED' : 'UNREACHABLE',
    version: connection.state === 'connected' ? connection.version : null,
    resources: cluster.states().map((state) => resourceStateOf(served, state)),
  }
}

function resourceStateOf(
  { kindOf }: ServedSchema,
  { resource, ...state }: CachedResourceState,
): ResourceState {
  const kind = kindOf(resource.group, resource.kind)
  // A version that the schema serves no more is there until it has been idle for long enough.
  const isServed = kind?.resource.version === resource.version
  return { ...state, kind: isServed ? kind.typeName : `${apiVersionOf(resource)} ${resource.kind}` }
}

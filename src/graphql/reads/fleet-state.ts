import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import type { CachedResourceState } from '../../cache/cached-resource.ts'
import type { ClusterCache } from '../../cache/cluster-cache.ts'
import { everything } from '../../query/condition/condition.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import { countObjects } from '../../query/page/page.ts'
import type { ClusterState, FleetState, ResourceState } from '../schema/read-context.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { ReadParts } from '../prepare/read-snapshot.ts'

/** The clusters and their caches, as one run reads them. */
export function fleetOf(served: ServedSchema, parts: ListedParts): FleetState {
  // All answered objects share a few clusters: builds the state of each once.
  const known = new Map<string, ClusterState | null>()
  const cluster = (name: string): ClusterState | null => {
    let state = known.get(name)
    if (state === undefined) known.set(name, (state = clusterState(served, parts, name) ?? null))
    return state
  }
  return {
    clusters: () => Array.from(served.clusters.keys(), cluster).filter((one) => one !== null),
    cluster,
  }
}

type ListedParts = Pick<ReadParts, 'access' | 'listed'>

/**
 * The state of a cluster. Its resources are the kinds of which the viewer may list something, with the number of
 * objects that the viewer may list; empty without `withResources`. Returns `undefined` while an access review is
 * missing, `null` for an unknown cluster.
 */
export function clusterState(
  served: ServedSchema,
  parts: ListedParts,
  name: string,
  withResources = true,
): ClusterState | null | undefined {
  const cluster = served.clusters.get(name)
  if (cluster === undefined) return null
  const states = withResources ? cluster.states() : []
  const resources = states.map((one) => resourceState(served, cluster, one, parts))
  if (resources.includes(undefined)) return undefined
  const { connection, uid = null } = cluster
  const access = served.access.get(name)
  const isConnected = connection.state === 'connected'
  return {
    name,
    state: isConnected ? 'CONNECTED' : 'UNREACHABLE',
    version: isConnected ? connection.version : null,
    uid,
    permissions:
      access?.state === undefined ? null : { state: access.state, resources: access.positions },
    resources: resources.filter((one) => one !== undefined && one !== null),
  }
}

/** The state of a kind; `null` if the viewer may list none of it, `undefined` while an access review is missing. */
function resourceState(
  served: ServedSchema,
  cluster: ClusterCache,
  { resource, ...cached }: CachedResourceState,
  parts: ListedParts,
): ResourceState | null | undefined {
  const found = served.kindOf(resource.group, resource.kind)
  // The cache keeps a version that the schema no longer serves until it has been idle for long enough.
  const kind = found?.resource.version === resource.version ? found : undefined
  const name = kind?.typeName ?? `${apiVersionOf(resource)} ${resource.kind}`
  const state: ResourceState = { ...cached, kind: name }
  if (parts.access === undefined) return state
  const scope = kind && parts.listed({ cluster: cluster.name, kind })
  if (kind === undefined || scope === 'nothing') return null
  if (scope === undefined) return undefined
  // Errors of the API server may quote other objects, or the account or the address of the gateway.
  const seen = { ...state, lastError: null }
  if (scope.form === 'all') return seen
  const view = cluster.synced(kind.resource)
  const budget = new WorkBudget()
  const objects =
    view === undefined ? null : countObjects({ view, scope, budget, condition: everything })
  return { ...seen, objects }
}

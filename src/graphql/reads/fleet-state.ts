import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import type { CachedResourceState } from '../../cache/cached-resource.ts'
import type { ClusterCache } from '../../cache/cluster-cache.ts'
import { everything } from '../../query/condition/condition.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import { countObjects } from '../../query/page/page.ts'
import type { Kind } from '../model/kind.ts'
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
  const seen = states.map((one) => resourceState(served, cluster, one, parts))
  const known = seen.filter((one) => one !== undefined)
  return known.length < seen.length ? undefined : clusterStateOf(served, cluster, known.flat())
}

function clusterStateOf(
  served: ServedSchema,
  cluster: ClusterCache,
  resources: readonly ResourceState[],
): ClusterState {
  const { connection, name } = cluster
  return {
    name,
    state: connection.state === 'connected' ? 'CONNECTED' : 'UNREACHABLE',
    version: connection.state === 'connected' ? connection.version : null,
    uid: cluster.uid ?? null,
    permissions: permissionStateOf(served, name),
    resources,
  }
}

function permissionStateOf({ access }: ServedSchema, cluster: string): ClusterState['permissions'] {
  const asked = access.get(cluster)
  if (asked?.state === undefined) return null
  return { state: asked.state, resources: asked.positions }
}

function resourceStateOf(
  served: ServedSchema,
  { resource, ...state }: CachedResourceState,
): ResourceState {
  const kind = servedKind(served, { resource })?.typeName
  // The cache keeps a version that the schema no longer serves until it has been idle for long enough.
  return { ...state, kind: kind ?? `${apiVersionOf(resource)} ${resource.kind}` }
}

function servedKind(
  { kindOf }: ServedSchema,
  { resource }: Pick<CachedResourceState, 'resource'>,
): Kind | undefined {
  const kind = kindOf(resource.group, resource.kind)
  return kind?.resource.version === resource.version ? kind : undefined
}

/** The state of a kind; empty if the viewer may list none of it, `undefined` while an access review is missing. */
function resourceState(
  served: ServedSchema,
  cluster: ClusterCache,
  cached: CachedResourceState,
  parts: ListedParts,
): readonly ResourceState[] | undefined {
  if (parts.access === undefined) return [resourceStateOf(served, cached)]
  const kind = servedKind(served, cached)
  if (kind === undefined) return []
  const scope = parts.listed({ cluster: cluster.name, kind })
  if (scope === undefined) return undefined
  if (scope === 'nothing') return []
  // Errors of the API server may quote other objects, or the account or the address of the gateway.
  const state = { ...resourceStateOf(served, cached), lastError: null }
  if (scope.form === 'all') return [state]
  const view = cluster.synced(kind.resource)
  const budget = new WorkBudget()
  const objects =
    view === undefined ? null : countObjects({ view, scope, budget, condition: everything })
  return [{ ...state, objects }]
}

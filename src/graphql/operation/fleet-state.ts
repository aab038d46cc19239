import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import type { CachedResourceState } from '../../cache/cached-resource.ts'
import type { ClusterCache } from '../../cache/cluster-cache.ts'
import { everything } from '../../query/condition/condition.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import { countObjects } from '../../query/page/page.ts'
import type { Kind } from '../model/kind.ts'
import type { ClusterState, FleetState, ResourceState } from '../schema/read-context.ts'
import { ClientError } from './client-error.ts'
import type { ServedSchema } from './served-schema.ts'
import type { ViewerAccess } from './viewer-access.ts'

/**
 * The clusters and their caches for one answer, as they are when it asks for them first: for a viewer only those of kinds of which something may
 * be listed, with the number of what may.
 */
export function fleetOf(served: ServedSchema, access: ViewerAccess | undefined): FleetState {
  // Every object has its cluster, and all that are answered have one of a few: it is put together once.
  const known = new Map<string, ClusterState | Promise<ClusterState> | null>()
  const clusterNamed = (name: string): ClusterState | Promise<ClusterState> | null => {
    const cluster = served.clusters.get(name)
    if (cluster === undefined) return null
    const seen = clusterAsKnown(served, access, name, true)
    if (seen !== undefined || access === undefined) return seen ?? null
    return seenClusterOf(served, cluster, access)
  }
  return {
    clusters: () => {
      const clusters = [...served.clusters.values()]
      return access === undefined
        ? clusters.map((cluster) => clusterStateOf(served, cluster))
        : Promise.all(clusters.map((cluster) => seenClusterOf(served, cluster, access)))
    },
    cluster(name) {
      let cluster = known.get(name)
      if (cluster === undefined) known.set(name, (cluster = clusterNamed(name)))
      return cluster
    },
  }
}

/**
 * A cluster as far as what a viewer may know of it is known; `undefined` where that has to be asked for, `null` where there is no
 * such cluster. Without `withResources` there are none.
 */
export function clusterAsKnown(
  served: ServedSchema,
  access: ViewerAccess | undefined,
  name: string,
  withResources: boolean,
): ClusterState | null | undefined {
  const cluster = served.clusters.get(name)
  if (cluster === undefined) return null
  if (!withResources) return clusterStateOf(served, cluster, [])
  if (access === undefined) return clusterStateOf(served, cluster)
  const seen = cluster.states().map((one) => knownStateOf(served, cluster, one, access))
  const known = seen.filter((one) => one !== undefined)
  return known.length < seen.length ? undefined : clusterStateOf(served, cluster, known.flat())
}

function clusterStateOf(
  served: ServedSchema,
  cluster: ClusterCache,
  resources: readonly ResourceState[] = cluster.states().map((one) => resourceStateOf(served, one)),
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

async function seenClusterOf(
  served: ServedSchema,
  cluster: ClusterCache,
  access: ViewerAccess,
): Promise<ClusterState> {
  const states = cluster.states()
  const seen = await Promise.all(states.map((one) => seenStateOf(served, cluster, one, access)))
  return clusterStateOf(served, cluster, seen.flat())
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
  // A version that the schema serves no more is there until it has been idle for long enough.
  return { ...state, kind: kind ?? `${apiVersionOf(resource)} ${resource.kind}` }
}

function servedKind(
  { kindOf }: ServedSchema,
  { resource }: Pick<CachedResourceState, 'resource'>,
): Kind | undefined {
  const kind = kindOf(resource.group, resource.kind)
  return kind?.resource.version === resource.version ? kind : undefined
}

/** The state of a kind as far as a viewer may know it; none where nothing of it may be listed. */
async function seenStateOf(
  served: ServedSchema,
  cluster: ClusterCache,
  cached: CachedResourceState,
  access: ViewerAccess,
): Promise<readonly ResourceState[]> {
  const kind = servedKind(served, cached)
  if (kind === undefined) return []
  try {
    await access.ask({ cluster: cluster.name, kind, list: { watch: false } })
  } catch (error) {
    // Too many to ask about: what is not known to be allowed is not told.
    if (error instanceof ClientError && error.code === 'RBAC_BUDGET_EXCEEDED') return []
    throw error
  }
  return knownStateOf(served, cluster, cached, access) ?? []
}

/** The same without asking; `undefined` where that would have to be. */
function knownStateOf(
  served: ServedSchema,
  cluster: ClusterCache,
  cached: CachedResourceState,
  access: ViewerAccess,
): readonly ResourceState[] | undefined {
  const kind = servedKind(served, cached)
  if (kind === undefined) return []
  const asked = access.list({ cluster: cluster.name, kind }, { watch: false })
  if (asked.state === 'unknown') return undefined
  if (asked.state !== 'allowed') return []
  // What the API server says to the gateway may be of objects that are anybody's, of its account, and of where it is.
  const state = { ...resourceStateOf(served, cached), lastError: null }
  const { scope } = asked
  if (scope.form === 'all') return [state]
  const view = cluster.synced(kind.resource)
  const budget = new WorkBudget()
  const objects =
    view === undefined ? null : countObjects({ view, scope, budget, condition: everything })
  return [{ ...state, objects }]
}

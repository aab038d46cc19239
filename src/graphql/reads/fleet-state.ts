import type { CachedResourceState } from '../../cache/cached-resource.ts'
import type { ClusterCache } from '../../cache/cluster-cache.ts'
import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import { everything } from '../../query/condition/condition.ts'
import { countObjects } from '../../query/page/page.ts'
import type { ClusterState, FleetState, ResourceState } from '../schema/read-context.ts'
import { OncePerRun, type ReadRun } from './read-run.ts'

/** The clusters and their caches, for resolvers. */
export function fleetOf(run: ReadRun): FleetState {
  return {
    clusters: () => clusterStates(run),
    cluster: (name) => clusterState(run, name),
  }
}

/** The states of all clusters. */
export function clusterStates(run: ReadRun): readonly ClusterState[] {
  const states = Array.from(run.served.clusters.keys(), (name) => clusterState(run, name))
  return states.filter((one) => one !== null)
}

const known = new OncePerRun<ClusterState | null>()

/** The state of a cluster; `null` for an unknown one. The rows of a run share it, and pay for it once. */
export function clusterState(run: ReadRun, name: string): ClusterState | null {
  return known.of(run, name, () => {
    const cluster = run.served.clusters.get(name)
    return cluster === undefined ? null : stateOf(run, cluster)
  })
}

function stateOf(run: ReadRun, cluster: ClusterCache): ClusterState {
  run.budget.spend('fields', 1)
  const { name, connection, uid = null } = cluster
  const access = run.served.access.get(name)
  const isConnected = connection.state === 'connected'
  const isReachable = isConnected && connection.isReachable?.() !== false
  let whole: readonly ResourceState[] | undefined
  return {
    name,
    state: isReachable ? 'CONNECTED' : 'UNREACHABLE',
    version: isConnected ? connection.version : null,
    uid,
    permissions:
      access?.state === undefined ? null : { state: access.state, resources: access.positions },
    get resources() {
      run.parts.dependsOnViewer?.()
      if (whole !== undefined) return whole
      const cached = cluster.states()
      run.budget.spend('fields', cached.length)
      const states = cached.map((one) => resourceState(run, cluster, one))
      const seen = states.filter((one) => one !== undefined && one !== null)
      if (!states.includes(undefined)) whole = seen
      return seen
    },
  }
}

/**
 * The state of a kind, with the number of objects that the viewer may list; `null` if the viewer may list none of it,
 * `undefined` while an access review is missing.
 */
function resourceState(
  { served, parts, budget }: ReadRun,
  cluster: ClusterCache,
  { resource, ...cached }: CachedResourceState,
): ResourceState | null | undefined {
  const found = served.kindOf(resource.group, resource.kind)
  // The cache keeps a version that the schema no longer serves until it has been idle for long enough.
  const kind = found?.resource.version === resource.version ? found : undefined
  const type = kind?.typeName ?? `${apiVersionOf(resource)} ${resource.kind}`
  const state: ResourceState = { ...cached, type }
  if (parts.access === undefined) return state
  const scope = kind && parts.listed({ cluster: cluster.name, kind })
  if (kind === undefined || scope === 'nothing') return null
  if (scope === undefined) return undefined
  // Errors of the API server may quote other objects, or the account or the address of the gateway.
  const seen = { ...state, lastError: null }
  if (scope.form === 'all') return seen
  const view = cluster.synced(kind.resource)
  let objects: number | null | undefined
  return {
    ...seen,
    get objects() {
      if (view === undefined) return null
      return (objects ??= countObjects({ view, scope, budget, condition: everything }))
    },
  }
}

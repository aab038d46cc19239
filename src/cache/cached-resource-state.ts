import type { ApiResource } from '../kubernetes/api-resource.ts'
import type { InformerState } from '../informer/shared-informer.ts'
import type { CachedResource } from './cached-resource.ts'

/**
 * `IDLE`, `LISTING`, `WAITING` before the first sync; `SYNCED`; `RECONNECTING` while what is held may be out of date
 * after a failure; `STOPPED`.
 */
export type CacheStateName =
  | 'IDLE'
  | 'LISTING'
  | 'WATCHING'
  | 'WAITING'
  | 'SYNCED'
  | 'RECONNECTING'
  | 'STOPPED'

/** How one cached resource is. */
export interface CachedResourceState {
  readonly resource: ApiResource
  readonly state: CacheStateName
  /** The number of objects; `null` before the first sync. */
  readonly objects: number | null
  readonly resourceVersion: string | null
  /** How long ago the API server was last heard of the resource. */
  readonly lagMs: number | null
  readonly lastError: string | null
  /** What the store takes, about, indexes included. */
  readonly heldBytes: number
  /** How many indexes the store has, besides those of labels: what nobody asks for is not there. */
  readonly indexes: number
  /** Deltas that wait to be applied. */
  readonly queueLength: number
  readonly listeners: number
}

export function stateOf(cached: CachedResource): CachedResourceState {
  const { resource, informer } = cached
  const { lastContactMs, lastError } = informer
  const synced = informer.hasSynced()
  return {
    resource,
    state: synced ? syncedState(lastError) : stateName(informer.state),
    objects: synced ? informer.store.size : null,
    resourceVersion: synced ? informer.store.resourceVersion : null,
    lagMs: lastContactMs === undefined ? null : Math.round(performance.now() - lastContactMs),
    lastError: (lastError ?? cached.indexingError)?.message ?? null,
    heldBytes: cached.heldBytes,
    indexes: informer.store.indexNames().length,
    queueLength: informer.queueLength,
    listeners: informer.listeners,
  }
}

/** Between its first list and its first watch, and while one watch follows another, nothing has gone wrong. */
function syncedState(lastError: Error | undefined): CacheStateName {
  return lastError === undefined ? 'SYNCED' : 'RECONNECTING'
}

function stateName(state: InformerState): CacheStateName {
  return state.toUpperCase() as Uppercase<InformerState>
}

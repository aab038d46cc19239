import type { ApiResource } from '../kubernetes/api-resource.ts'
import type { CachedResource } from './cached-resource.ts'

/**
 * `IDLE`, `LISTING`, `WAITING` before the first sync; `SYNCED`; `RECONNECTING` while what is held may be out of date
 * after a failure; `FAILED` where the informer's own loop has broken; `STOPPED`.
 */
export type CacheStateName =
  | 'IDLE'
  | 'LISTING'
  | 'WATCHING'
  | 'WAITING'
  | 'SYNCED'
  | 'RECONNECTING'
  | 'FAILED'
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
}

export function stateOf(cached: CachedResource): CachedResourceState {
  const { resource, informer } = cached
  const { lastContactMs } = informer
  const synced = informer.hasSynced()
  const lastError = cached.loopError ?? informer.lastError
  return {
    resource,
    state: stateNameOf(cached, synced, lastError),
    objects: synced ? informer.store.size : null,
    resourceVersion: synced ? informer.store.resourceVersion : null,
    lagMs: lastContactMs === undefined ? null : Math.round(performance.now() - lastContactMs),
    lastError: lastError?.message ?? null,
  }
}

function stateNameOf(
  { informer, loopError }: CachedResource,
  synced: boolean,
  lastError: Error | undefined,
): CacheStateName {
  if (loopError !== undefined) return 'FAILED'
  // Between its first list and its first watch, and while one watch follows another, nothing has gone wrong.
  if (synced) return lastError === undefined ? 'SYNCED' : 'RECONNECTING'
  return informer.state.toUpperCase() as Uppercase<typeof informer.state>
}

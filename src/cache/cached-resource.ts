import { type ApiResource } from '../kubernetes/api-resource.ts'
import type { SharedInformer } from '../informer/shared-informer.ts'
import type { Indexers } from '../informer/store/store-view.ts'
import { DeadlineError } from '../lib/deadline.ts'
import {
  isLasting,
  notIndexed,
  notSynced,
  retryAfterMs,
  stopped,
  unindexable,
  type UnreadablePlace,
  type UnreadableResourceError,
} from './cache-errors.ts'
import type { ResourceHistory } from './resource-history.ts'
import { Lease } from './lease.ts'

export interface CachedResourceOptions extends UnreadablePlace {
  readonly informer: SharedInformer
  readonly history: ResourceHistory
  /** How long it runs without a lease. */
  readonly idleStopMs: number
  /** The functions of indexes by name, of those that there are: what the store lacks is made when it is asked for. */
  readonly indexersNamed: (names: readonly string[]) => Indexers
  /** Told of indexes that could not be made: they are tried again when somebody asks for them, but not at once. */
  readonly indexingFailed: (error: Error) => void
  /** Called in the tick in which the first list has been waited for; may {@link CachedResource.refuse} it. */
  readonly synced: (cached: CachedResource) => void
  /** Called when it stops, before anything else happens. */
  readonly ended: (cached: CachedResource) => void
}

/**
 * One resource of one cluster that is kept in memory. It runs as long as somebody holds a lease, and for a while after
 * the last one has been given back.
 */
export class CachedResource {
  readonly cluster: string
  readonly resource: ApiResource
  readonly informer: SharedInformer
  readonly history: ResourceHistory
  readonly #options: CachedResourceOptions
  readonly #stop = new AbortController()
  /** Those who wait for the first sync. */
  readonly #waiting = new Set<AbortController>()
  /** The indexes that are being made. */
  readonly #making = new Map<string, Promise<void>>()
  /** The indexes that could not be made when it was last tried, and when that was, by `performance.now()`. */
  readonly #unmade = new Map<string, { readonly error: Error; readonly sinceMs: number }>()
  #leases = 0
  #idleSinceMs = performance.now()
  #idleTimer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #refusal: UnreadableResourceError | undefined
  /** `performance.now()` when somebody last waited in vain until the deadline. */
  #vainWaitMs = Number.NEGATIVE_INFINITY

  constructor(options: CachedResourceOptions) {
    this.cluster = options.cluster
    this.resource = options.resource
    this.informer = options.informer
    this.history = options.history
    this.#options = options
  }

  get leases(): number {
    return this.#leases
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  /** `performance.now()` when the last lease was given back. */
  get idleSinceMs(): number {
    return this.#idleSinceMs
  }

  /** What its store takes, about, indexes included. */
  get heldBytes(): number {
    return this.informer.store.heldBytes
  }

  /**
   * Makes indexes that are not there yet, in slices, and keeps them from then on. Resolves when they are there, and never
   * rejects: where the resource is stopped meanwhile, or it goes wrong, there are none. What has just gone wrong is not tried
   * again at once. `undefined` where there is nothing to wait for.
   */
  makeIndexes(names: readonly string[]): Promise<unknown> | undefined {
    const { store } = this.informer
    const missing = names.filter((name) => !store.hasIndex(name))
    if (missing.length === 0 || this.isStopped) return undefined
    const fresh = missing.filter((name) => !this.#making.has(name) && !this.#hasJustFailed(name))
    if (fresh.length > 0) {
      const indexers = this.#options.indexersNamed(fresh)
      const made = this.#make(indexers)
      for (const name of Object.keys(indexers)) this.#making.set(name, made)
    }
    return Promise.all(missing.flatMap((name) => this.#making.get(name) ?? []))
  }

  /** Whether it has an index, or is about to. */
  hasOrMakes(name: string): boolean {
    return this.informer.store.hasIndex(name) || this.#making.has(name)
  }

  /** Why it cannot be read by these indexes now; `undefined` where it can. */
  unindexed(names: Iterable<string>): UnreadableResourceError | undefined {
    for (const name of names) {
      if (this.informer.store.hasIndex(name)) continue
      const failure = this.#making.has(name) ? undefined : this.#unmade.get(name)
      return failure === undefined
        ? notIndexed(this.#options, name)
        : unindexable(this.#options, name, failure.error)
    }
    return undefined
  }

  /** Why an index could not be made that is still missing; `undefined` where none is. */
  get indexingError(): Error | undefined {
    for (const [name, { error }] of this.#unmade) {
      if (!this.informer.store.hasIndex(name)) return error
    }
    return undefined
  }

  async #make(indexers: Indexers): Promise<void> {
    const names = Object.keys(indexers)
    try {
      await this.informer.backfillIndexers(indexers)
      for (const name of names) this.#unmade.delete(name)
    } catch (thrown) {
      // Where it has been stopped meanwhile, whoever waits is told so.
      if (this.isStopped) return
      const error = thrown as Error
      const failure = { error, sinceMs: performance.now() }
      for (const name of names) this.#unmade.set(name, failure)
      this.#options.indexingFailed(error)
    } finally {
      for (const name of names) this.#making.delete(name)
    }
  }

  #hasJustFailed(name: string): boolean {
    const failure = this.#unmade.get(name)
    return failure !== undefined && performance.now() - failure.sinceMs < retryAfterMs
  }

  /** Starts the informer. To be called once. */
  start(): void {
    this.#running = this.informer.run(this.#stop.signal)
  }

  lease(): Lease {
    this.#leases += 1
    return new Lease(this)
  }

  /** The lease's: it has been given back. */
  released(): void {
    this.#leases -= 1
    if (this.#leases > 0) return
    this.#idleSinceMs = performance.now()
    this.#watchIdleness(this.#options.idleStopMs)
  }

  /** Why the resource cannot be read now; `undefined` where it can. */
  unreadable(): UnreadableResourceError | undefined {
    if (this.#refusal !== undefined) return this.#refusal
    return this.informer.hasSynced() ? undefined : notSynced(this.#options, this.informer.lastError)
  }

  /**
   * Waits for the first sync. Rejects with {@link UnreadableResourceError}: at once where waiting is of no use, and for a
   * moment after somebody has waited in vain, as whoever was told to ask again in a moment has not waited for it.
   */
  async ready(deadlineMs: number): Promise<void> {
    if (this.#refusal !== undefined) throw this.#refusal
    const { informer } = this
    if (informer.hasSynced()) return
    const known = informer.lastError
    if (known !== undefined && informer.state === 'waiting' && isLasting(known)) {
      throw notSynced(this.#options, known)
    }
    if (performance.now() - this.#vainWaitMs < retryAfterMs) {
      throw notSynced(this.#options, known, deadlineMs)
    }
    const wait = new AbortController()
    this.#waiting.add(wait)
    try {
      await informer.waitForSync({ deadlineMs, signal: wait.signal })
    } catch (error) {
      if (this.#refusal !== undefined) throw this.#refusal
      const isInVain = error instanceof DeadlineError
      if (isInVain) this.#vainWaitMs = performance.now()
      const cause = isInVain ? informer.lastError : (error as Error)
      throw notSynced(this.#options, cause, deadlineMs)
    } finally {
      this.#waiting.delete(wait)
    }
    this.#options.synced(this)
    if (this.#refusal !== undefined) throw this.#refusal
  }

  /** The informer's observer: a list has failed. One that will hardly succeed ends the waits for it. */
  listFailed(error: Error): void {
    if (isLasting(error)) this.#endWaits(error)
  }

  /** Stops it although there may be leases: whoever holds one is told why. */
  refuse(refusal: UnreadableResourceError): void {
    this.#refusal ??= refusal
    void this.stop()
  }

  /** Stops the informer and lets go of what it holds; resolves when its connections are closed. */
  stop(): Promise<void> {
    if (!this.#stop.signal.aborted) {
      this.#refusal ??= stopped(this.#options)
      clearTimeout(this.#idleTimer)
      this.#options.ended(this)
      this.#stop.abort()
      this.#endWaits(this.#refusal)
    }
    return this.#running
  }

  /** One timer however often leases come and go: it finds out when it is due whether it has been idle for long enough. */
  #watchIdleness(delayMs: number): void {
    if (this.#idleTimer !== undefined || this.#stop.signal.aborted) return
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = undefined
      if (this.#leases > 0) return
      const idleMs = performance.now() - this.#idleSinceMs
      const restMs = this.#options.idleStopMs - idleMs
      if (restMs <= 0) void this.stop()
      else this.#watchIdleness(restMs)
    }, Math.ceil(delayMs))
    this.#idleTimer.unref()
  }

  #endWaits(error: Error): void {
    for (const wait of this.#waiting) wait.abort(error)
  }
}

/*
 * One resource of one cluster, held in memory. `lease` gives the right to read it. The informer runs while there are
 * leases, and for `idleStopMs` after the last one was released. A reader first declares its indexes (`Lease.want`), then
 * waits for the first sync and these indexes (`Lease.ready`), and reads the store while `unreadable` is `undefined`.
 *
 * The constructor assembles the parts: the history of recent changes, the namespaces, the staleness, and the informer, or
 * one that another part of the program lends. `#observer` hears every step of the informer. It reports to the gateway's
 * observer first, then to the parts. All of them refer to this object only, and go with it.
 */

import type { InformerObserver } from '../informer/informer-observer.ts'
import type { ListerWatcher } from '../informer/reflector/lister-watcher.ts'
import type { ArchivedBase } from '../informer/reflector/archived-base.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import {
  createSharedInformer,
  type InformerState,
  type SharedInformer,
} from '../informer/shared-informer.ts'
import type { Change } from '../informer/store/change.ts'
import type { Indexers } from '../informer/store/store-view.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import { present } from '../lib/options.ts'
import { outsideRequests } from '../lib/async-context.ts'
import { DeadlineError, withDeadline } from '../lib/deadline.ts'
import type { AccountNamespaces, CachedNamespaces } from './account-namespaces.ts'
import type { CacheBounds } from './cache-bounds.ts'
import {
  away,
  isLasting,
  listedNowhere,
  notIndexed,
  notSynced,
  retryAfterMs,
  stopped,
  type UnreadablePlace,
  UnreadableResourceError,
} from './cache-errors.ts'
import type { ArchivedResource } from './archived-resource.ts'
import type { Coverage } from './coverage.ts'
import { type IncarnationObserver, ResourceStaleness } from './staleness.ts'
import { polledSource, unwatched } from './polled-source.ts'
import { ResourceHistory } from './recent-changes.ts'
import { ResourceNamespaces } from './resource-namespaces.ts'

export interface CachedResourceOptions extends UnreadablePlace {
  readonly metadataOnly: boolean
  /** Whether it is listed at an interval, and not watched. */
  readonly isPolled: boolean
  /** Whether it keeps running while it is idle, unless a bound needs its room. */
  readonly isKept: boolean
  readonly source: ListerWatcher
  readonly resourceVersionsComparable: boolean
  readonly reflector: ReflectorOptions
  /** The indexes that exist from the start. */
  readonly indexers: Indexers
  /** The functions of the indexes with these names, as far as they exist. Missing indexes are built on demand. */
  readonly indexersNamed: (names: readonly string[]) => Indexers
  readonly bounds: CacheBounds
  readonly account: AccountNamespaces
  /** Whether the rights of the account can be asked for. Then a refused list of all namespaces is repeated by namespaces. */
  readonly mayNarrow: boolean
  readonly wanted: CachedNamespaces
  /** The informer of another part of the program, if it has all objects of the resource, unchanged. */
  readonly lent: () => SharedInformer | undefined
  readonly archived: ArchivedResource | undefined
  /** Observes the informer for the gateway. */
  readonly observer: InformerObserver
  readonly incarnation: IncarnationObserver
  /** Whether the API server answers, as far as the gateway knows. */
  readonly isReachable: () => boolean
  /** Aborts with the caches of the cluster. */
  readonly signal: AbortSignal
  readonly synced: () => void
  readonly stalenessChanged: () => void
  /** Other namespaces are covered than before. */
  readonly covered: (coverage: Coverage | undefined) => void
  /** Measurements were listed. */
  readonly polled: (changes: readonly Change[], isList: boolean) => void
  readonly ended: () => void
}

/** A polled resource stops after this many intervals without a lease. */
const idlePolls = 3

export class CachedResource {
  readonly cluster: string
  readonly resource: ApiResource
  readonly isPolled: boolean
  readonly informer: SharedInformer
  readonly history: ResourceHistory
  readonly namespaces: ResourceNamespaces
  readonly staleness: ResourceStaleness
  /** Indexes that readers need and that the informer did not start with. */
  readonly needed: readonly string[]
  readonly #options: CachedResourceOptions
  readonly #idleStopMs: number
  /** Whether another part of the program runs the informer, and ends it. */
  readonly #isLent: boolean
  readonly #observer: InformerObserver
  #stopObserving: (() => void) | undefined
  #stopRecording: (() => void) | undefined
  readonly #stop = new AbortController()
  readonly #waiting = new Set<AbortController>()
  readonly #making = new Map<string, Promise<void>>()
  /** The indexes that were added to the running informer. */
  readonly #built = new Set<string>()
  /** Indexes whose last build failed, and the time of that failure (`performance.now()`). */
  readonly #unmade = new Map<string, { readonly error: Error; readonly sinceMs: number }>()
  #leases = 0
  #idleSinceMs = performance.now()
  #idleTimer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #refusal: UnreadableResourceError | undefined
  /** `performance.now()` when the last wait reached its deadline. */
  #vainWaitMs = Number.NEGATIVE_INFINITY

  constructor(options: CachedResourceOptions) {
    const { cluster, resource, metadataOnly, isPolled, indexers } = options
    const { resourceVersionsComparable, observer, wanted, account } = options
    const { limits } = options.bounds
    this.#options = options
    this.cluster = cluster
    this.resource = resource
    this.isPolled = isPolled
    const pollMs = isPolled ? limits.usageIntervalMs : undefined
    const source =
      pollMs === undefined
        ? options.source
        : polledSource({
            resource,
            source: options.source,
            intervalMs: pollMs,
            recorder: options.bounds.usage.recorder(cluster, resource.resource),
          })
    this.history = new ResourceHistory({
      resource,
      metadataOnly,
      source: isPolled ? unwatched(source, resource) : source,
      maxChanges: limits.maxRecentChanges,
      maxBytes: limits.maxRecentBytes,
      resourceVersionsComparable,
      archived: options.archived,
      objectBytes: () => {
        const { heldBytes, size } = this.informer.store
        return size === 0 ? 0 : heldBytes / size
      },
      signal: this.#stop.signal,
    })
    this.namespaces = new ResourceNamespaces({
      resource,
      wanted,
      account,
      informer: () => this.informer,
      changed: (coverage) => {
        this.staleness.keep(coverage?.namespaces)
        options.covered(coverage)
      },
      forbidden: (error) => {
        observer.failed?.('list', error, resource)
        this.#failed('list', error)
      },
    })
    // A lent informer must have all objects, and no index whose name the cache uses for another index.
    const { initial } = this.namespaces
    const offered = Object.keys(initial).length === 0 ? options.lent() : undefined
    const names = Object.keys(indexers)
    const isTaken = names.some((name) => offered?.store.hasIndex(name) === true)
    const lent = isTaken ? undefined : offered
    this.#isLent = lent !== undefined
    this.needed = lent === undefined ? [] : names
    const idleStopMs = pollMs === undefined ? limits.idleStopMs : pollMs * idlePolls
    this.#idleStopMs = options.isKept || lent !== undefined ? Infinity : idleStopMs
    this.staleness = new ResourceStaleness({
      queueLength: () => this.informer.queueLength,
      lastContactMs: (namespace) => this.#part(namespace)?.lastContactMs,
      staleAfterMs: Math.max(limits.staleAfterMs, (pollMs ?? 0) * idlePolls),
      changed: options.stalenessChanged,
    })
    this.#observer = this.#observing()
    this.informer =
      lent ??
      createSharedInformer({
        ...options.reflector,
        ...(metadataOnly ? { metadataOnly } : {}),
        resource,
        source,
        ...initial,
        indexers,
        resourceVersionsComparable,
        observer: this.#observer,
        ...present({ base: options.archived && this.#base.bind(this) }),
      })
  }

  async #base(signal: AbortSignal, byNamespaces: boolean): Promise<ArchivedBase | undefined> {
    const { archived, mayNarrow, signal: ending } = this.#options
    if (!byNamespaces && mayNarrow && (await archived?.isByNamespaces()) === true) {
      await this.namespaces.expectNarrow(ending)
      signal.throwIfAborted()
    }
    return await archived?.base(signal, byNamespaces)
  }

  get leases(): number {
    return this.#leases
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  get idleSinceMs(): number {
    return this.#idleSinceMs
  }

  /** The approximate bytes of the store, its indexes, a list that will replace it, and recent changes. */
  get heldBytes(): number {
    return this.informer.store.heldBytes + this.history.bytes
  }

  /** The namespaces that the store covers; `undefined`: all. */
  get coverage(): Coverage | undefined {
    return this.namespaces.coverage
  }

  /**
   * Builds missing indexes in slices, and keeps them. Resolves when each build has succeeded or failed; never rejects. Skips
   * indexes whose build has just failed. Returns `undefined` if there is nothing to wait for.
   */
  makeIndexes(names: readonly string[]): Promise<unknown> | undefined {
    const { store } = this.informer
    const missing = names.filter((name) => !store.hasIndex(name))
    if (missing.length === 0 || this.isStopped) return undefined
    const nowMs = performance.now()
    const fresh = missing.filter((name) => {
      const { sinceMs = Number.NEGATIVE_INFINITY } = this.#unmade.get(name) ?? {}
      return !this.#making.has(name) && nowMs - sinceMs >= retryAfterMs
    })
    if (fresh.length > 0) {
      const indexers = this.#options.indexersNamed(fresh)
      const made = this.#make(indexers)
      for (const name of Object.keys(indexers)) {
        this.#built.add(name)
        this.#making.set(name, made)
      }
    }
    return Promise.all(missing.flatMap((name) => this.#making.get(name) ?? []))
  }

  hasOrMakes(name: string): boolean {
    return this.informer.store.hasIndex(name) || this.#making.has(name)
  }

  /** The error if the resource cannot be read by these indexes now. */
  unindexed(names: Iterable<string>): UnreadableResourceError | undefined {
    for (const name of names) {
      if (this.informer.store.hasIndex(name)) continue
      const failure = this.#making.has(name) ? undefined : this.#unmade.get(name)
      if (failure?.error instanceof UnreadableResourceError) return failure.error
      return notIndexed(this.#options, name, failure?.error)
    }
    return undefined
  }

  get indexingError(): Error | undefined {
    for (const [name, { error }] of this.#unmade) {
      if (!this.informer.store.hasIndex(name)) return error
    }
    return undefined
  }

  async #make(indexers: Indexers): Promise<void> {
    const names = Object.keys(indexers)
    try {
      const refusal = this.#options.bounds.refusal(this, 0, this)
      if (refusal !== undefined) throw refusal
      await this.informer.backfillIndexers(indexers)
      for (const name of names) this.#unmade.delete(name)
    } catch (thrown) {
      // Each lease reports a stopped resource itself.
      if (this.isStopped) return
      const error = thrown as Error
      const failure = { error, sinceMs: performance.now() }
      for (const name of names) this.#unmade.set(name, failure)
      if (error instanceof UnreadableResourceError) return
      this.#options.observer.failed?.('index', error, this.resource)
    } finally {
      for (const name of names) this.#making.delete(name)
    }
  }

  start(): void {
    const { informer } = this
    const { bounds, signal, synced } = this.#options
    bounds.started(this)
    this.#stopRecording = this.#options.archived?.record(informer)
    if (!this.#isLent) this.#running = outsideRequests(() => informer.run(this.#stop.signal))
    else {
      this.#stopObserving = informer.observe(this.#observer)
      if (informer.hasSynced()) {
        this.staleness.of(undefined).succeeded()
        this.#observer.advanced?.(informer.store.resourceVersion, [], true)
      }
    }
    this.namespaces.start(signal)
    informer.waitForSync().then(synced, () => {})
  }

  /** With `mayNarrow`, a list of all namespaces that the API server refuses is no failure: it lists them one by one. */
  #observing(): InformerObserver {
    const { bounds, observer, incarnation, polled, mayNarrow, signal } = this.#options
    const { history, namespaces, staleness, resource } = this
    let isChecked = false
    return {
      ...observer,
      watching: (position, namespace, continues) => {
        observer.watching?.(position)
        incarnation.watching(continues)
        // A streamed list begins with a watch whose objects are still to come.
        if (this.#part(namespace)?.state !== 'listing') staleness.of(namespace).watching()
      },
      // Checks once the step that caused the growth is over.
      grown: () => queueMicrotask(() => bounds.grown(this, this.informer.hasSynced())),
      listed: (list) => {
        observer.listed?.(list)
        staleness.of(list.namespace).succeeded()
      },
      restored: (base) => {
        observer.restored?.(base)
        staleness.of().succeeded()
      },
      advanced: (position, changes, isList, at) => {
        // The owner has limited the lent informer to some namespaces. The next lease starts a separate informer.
        if (this.#isLent && at !== undefined) return this.refuse(stopped(this.#options))
        history.add(position, changes, at)
        incarnation.advanced(position, changes, isList && !this.isPolled, at)
        staleness.of(at?.namespace).advanced(changes.length === 0 && !isList)
        namespaces.advanced(isList, at)
        if (this.isPolled) polled(changes, isList)
        if (isChecked) return
        isChecked = true
        // Checks the size in the tick of the first list, before a caller can read the resource.
        bounds.grown(this, false)
      },
      failed: (failure, error, _, namespace) => {
        const isOfServer = failure === 'list' || failure === 'watch'
        const narrows = isOfServer && mayNarrow && !this.#isLent
        if (narrows && namespaces.refused(error, namespace, signal)) return
        observer.failed?.(failure, error, resource)
        if (isOfServer || failure === 'loop') this.#failed(failure, error, namespace)
      },
      stopped: () => void this.stop(),
    }
  }

  /** The watch of one namespace; without a name, of all. */
  #part(
    namespace: string | undefined,
  ): Pick<SharedInformer, 'state' | 'lastContactMs'> | undefined {
    return namespace === undefined ? this.informer : this.informer.namespaces?.get(namespace)
  }

  /** `outdated`: returns the error if the reader knows one of the indexes by another definition. */
  lease(outdated: () => UnreadableResourceError | undefined): Lease {
    this.#leases += 1
    return new Lease(this, outdated)
  }

  released(): void {
    this.#leases -= 1
    if (this.#leases > 0) return
    this.#idleSinceMs = performance.now()
    this.#watchIdleness(this.#idleStopMs)
  }

  /** Why the resource cannot be read now; `undefined` if it can. */
  unreadable(): UnreadableResourceError | undefined {
    if (this.#refusal !== undefined) return this.#refusal
    const { coverage, namespaces } = this
    if (coverage?.namespaces?.size === 0) {
      return listedNowhere(this.#options, coverage, namespaces.refusal)
    }
    if (this.informer.hasSynced()) return this.unindexed(this.needed)
    const { lastError } = this.informer
    const isAway = lastError === undefined && !this.#options.isReachable()
    return isAway ? away(this.#options) : notSynced(this.#options, lastError)
  }

  /** Whether its first list is on the way, and nothing has failed: then {@link unreadable} says NOT_SYNCED. */
  get awaitsFirstList(): boolean {
    const { informer, coverage } = this
    const isFailed = this.#refusal !== undefined || informer.lastError !== undefined
    if (informer.hasSynced() || isFailed || coverage !== undefined) return false
    return this.#options.isReachable()
  }

  /**
   * Waits for the first sync. Rejects with {@link UnreadableResourceError}: at once if the failure lasts or the cluster is
   * unreachable, else after `deadlineMs`. For a moment after one wait has reached its deadline, other waits reject at once,
   * so that callers who retry do not wait again.
   */
  async ready(deadlineMs: number): Promise<void> {
    if (this.#refusal !== undefined) throw this.#refusal
    const { informer } = this
    if (informer.hasSynced()) return
    const known = informer.lastError
    const { isDeciding } = this.namespaces
    const isWaiting = informer.state === 'waiting' && !isDeciding
    if (known !== undefined && isWaiting && this.#endsWaits(known)) {
      throw notSynced(this.#options, known)
    }
    if (!this.#options.isReachable()) throw away(this.#options, known)
    if (performance.now() - this.#vainWaitMs < retryAfterMs) {
      throw notSynced(this.#options, known, deadlineMs)
    }
    const wait = new AbortController()
    this.#waiting.add(wait)
    try {
      await informer.waitForSync({ deadlineMs, signal: wait.signal })
    } catch (error) {
      if (this.#refusal !== undefined) throw this.#refusal
      const isLate = error instanceof DeadlineError
      if (isLate) this.#vainWaitMs = performance.now()
      const cause = isLate ? informer.lastError : (error as Error)
      throw notSynced(this.#options, cause, deadlineMs)
    } finally {
      this.#waiting.delete(wait)
    }
    if (this.#refusal !== undefined) throw this.#refusal
  }

  /** Whether a failure of the list ends the wait. For measurements any failure does: rows appear without them. */
  #endsWaits(error: Error): boolean {
    return this.isPolled || isLasting(error)
  }

  /** A list or watch has failed. A lasting failure of the list ends all waits. */
  #failed(failure: 'list' | 'watch' | 'loop', error: Error, namespace?: string): void {
    if (this.informer.hasSynced()) this.staleness.of(namespace).failed()
    if (failure === 'list' && this.#endsWaits(error)) this.#endWaits(error)
  }

  /** Stops the resource even while there are leases, which then report `refusal`. */
  refuse(refusal: UnreadableResourceError): void {
    this.#refusal ??= refusal
    void this.stop()
  }

  /** Resolves when its connections are closed. */
  stop(): Promise<void> {
    if (!this.#stop.signal.aborted) {
      this.#refusal ??= stopped(this.#options)
      clearTimeout(this.#idleTimer)
      this.staleness.stop()
      this.namespaces.end()
      this.#stopObserving?.()
      this.#stopRecording?.()
      if (this.#isLent) this.informer.dropIndexers([...this.#built])
      this.#options.bounds.ended(this)
      this.#options.ended()
      this.#stop.abort()
      this.#endWaits(this.#refusal)
    }
    return this.#running
  }

  /** Keeps one timer, however often leases come and go. */
  #watchIdleness(delayMs: number): void {
    if (this.#idleTimer !== undefined || this.#stop.signal.aborted || delayMs === Infinity) return
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = undefined
      if (this.#leases > 0) return
      const idleMs = performance.now() - this.#idleSinceMs
      const restMs = this.#idleStopMs - idleMs
      if (restMs <= 0) void this.stop()
      else this.#watchIdleness(restMs)
    }, Math.ceil(delayMs))
    this.#idleTimer.unref()
  }

  #endWaits(error: Error): void {
    for (const wait of this.#waiting) wait.abort(error)
  }
}

/** Lazy indexes to build, by name. */
export interface WantedIndexes {
  /** The resource is unreadable until these exist. */
  readonly needed?: Iterable<string> | undefined
  /** These make reading faster. */
  readonly useful?: Iterable<string> | undefined
}

/**
 * The right to read one cached resource. Its informer runs while there is a lease. Dispose of the lease to release it;
 * disposing twice is harmless.
 */
export class Lease implements Disposable {
  readonly #cached: CachedResource
  readonly #outdated: () => UnreadableResourceError | undefined
  readonly #indexes = new Set<string>()
  #released = false

  constructor(cached: CachedResource, outdated: () => UnreadableResourceError | undefined) {
    this.#cached = cached
    this.#outdated = outdated
  }

  /** The informer. Read its store only while {@link unreadable} returns `undefined`. */
  get informer(): SharedInformer {
    return this.#cached.informer
  }

  get history(): ResourceHistory {
    return this.#cached.history
  }

  /** Whether the resource was stopped in spite of this lease, by a bound or with the gateway. A new lease may work. */
  get isStopped(): boolean {
    return this.#cached.isStopped
  }

  /**
   * Builds lazy indexes. The resource is unreadable until all `needed` indexes exist. The `useful` ones are built in the
   * background.
   */
  want({ needed = [], useful = [] }: WantedIndexes): void {
    for (const name of needed) this.#indexes.add(name)
    void this.#cached.makeIndexes([...needed, ...useful])
  }

  /** See `SharedInformer.silentMs`. */
  get silentMs(): number {
    return this.#cached.informer.silentMs
  }

  /** Why the resource cannot be read now; `undefined` if it can. */
  unreadable(): UnreadableResourceError | undefined {
    return this.#cached.unreadable() ?? this.#outdated() ?? this.#cached.unindexed(this.#indexes)
  }

  /**
   * Whether {@link unreadable} says NOT_SYNCED. Mostly without making that error: of thousands of kinds that load, this is
   * asked again and again.
   */
  get isLoading(): boolean {
    return this.#cached.awaitsFirstList || this.unreadable()?.code === 'NOT_SYNCED'
  }

  /**
   * Waits for the first sync and the needed indexes. Retries failures that may pass. Rejects with {@link
   * UnreadableResourceError}: at once if the failure lasts, else after `deadlineMs`.
   */
  async ready(deadlineMs: number): Promise<void> {
    const start = performance.now()
    await this.#cached.ready(deadlineMs)
    const built = this.#cached.makeIndexes([...this.#indexes])
    if (built !== undefined) {
      const restMs = Math.max(0, deadlineMs - (performance.now() - start))
      await withDeadline('indexing', built, restMs).catch(() => {})
    }
    const failure = this.unreadable()
    if (failure !== undefined) throw failure
  }

  makeIndex(name: string): Promise<unknown> | undefined {
    return this.#cached.makeIndexes([name])
  }

  [Symbol.dispose](): void {
    if (this.#released) return
    this.#released = true
    this.#cached.released()
  }
}

/**
 * `IDLE`, `LISTING` and `WAITING` come before the first sync. `RECONNECTING`: synced, but possibly out of date after a
 * failure.
 */
export type CacheStateName =
  | 'IDLE'
  | 'LISTING'
  | 'WATCHING'
  | 'WAITING'
  | 'SYNCED'
  | 'RECONNECTING'
  | 'STOPPED'

/** The state of one cached resource. */
export interface CachedResourceState {
  readonly resource: ApiResource
  /** Whether it is listed at an interval, and not watched. */
  readonly isPolled: boolean
  readonly state: CacheStateName
  /** The number of objects; `null` before the first sync. */
  readonly objects: number | null
  readonly resourceVersion: string | null
  /** The time since the API server last sent something about the resource. */
  readonly lagMs: number | null
  readonly lastError: string | null
  /** The approximate size of the store and its indexes. */
  readonly heldBytes: number
  /** The number of indexes, except label indexes. Lazy indexes count once they are built. */
  readonly indexes: number
  /** Deltas that wait to be applied. */
  readonly queueLength: number
  readonly listeners: number
  /** The namespaces that the store covers; `undefined`: all. */
  readonly coverage: Coverage | undefined
}

export function stateOf(cached: CachedResource): CachedResourceState {
  const { resource, informer } = cached
  const { lastContactMs } = informer
  const isNowhere = cached.coverage?.namespaces?.size === 0
  const lastError = isNowhere ? cached.namespaces.refusal : informer.lastError
  const synced = informer.hasSynced() && !isNowhere
  // Without an error it is between two watches, and stays synced.
  const syncedState = lastError === undefined ? 'SYNCED' : 'RECONNECTING'
  return {
    resource,
    isPolled: cached.isPolled,
    state: synced
      ? syncedState
      : isNowhere
        ? 'WAITING'
        : (informer.state.toUpperCase() as Uppercase<InformerState>),
    objects: synced ? informer.store.size : null,
    resourceVersion: synced ? informer.store.resourceVersion : null,
    lagMs: lastContactMs === undefined ? null : Math.round(performance.now() - lastContactMs),
    lastError: (lastError ?? cached.indexingError)?.message ?? null,
    heldBytes: cached.heldBytes,
    indexes: informer.store.indexNames().length,
    queueLength: informer.queueLength,
    listeners: informer.listeners,
    coverage: cached.coverage,
  }
}

/*
 * The caches of one cluster. `acquire` gives a lease of a resource, and starts its cache if there is none (`#start`, and
 * the constructor of `CachedResource`). Closures in `#start` live as long as the cached resource and hold all variables
 * that they share. So `#start` makes nothing that outlives the resource. `serve`, `drop` and `reread` follow changes of
 * the schema and of the cluster.
 */

import { type ApiResource, versionedResourceOf } from '../kubernetes/api-resource.ts'
import type { ApiServer } from '../api-server/api-server.ts'
import type { LentServer } from '../api-server/lent-servers.ts'
import { objectKey } from '../kubernetes/object.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import { showsWrite, type WrittenState } from './written-state.ts'
import type { InformerObserver } from '../informer/informer-observer.ts'
import type { ListerWatcher } from '../informer/reflector/lister-watcher.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import type { SharedInformer } from '../informer/shared-informer.ts'
import type { Change } from '../informer/store/change.ts'
import type { IndexFunction, Indexers, StoreView } from '../informer/store/store-view.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import type { CacheBounds } from './cache-bounds.ts'
import type { ClusterPrometheus } from './prometheus.ts'
import type { UsageRings } from './usage-rings.ts'
import { notCached, notServed, reindexed, renewed, stopped, unreachable } from './cache-errors.ts'
import {
  AccountNamespaces,
  type AccountRequests,
  type CachedNamespaces,
} from './account-namespaces.ts'
import type { Coverage } from './coverage.ts'
import { Incarnation, type IncarnationObserver } from './staleness.ts'
import { CachedResource, type CachedResourceState, type Lease, stateOf } from './cached-resource.ts'
import { DirectApi } from './direct-api.ts'
import type { ArchivedPlace, ArchivedResource, ArchiveOf } from './archived-resource.ts'

export interface ClusterCacheOptions {
  readonly name: string
  /** Shared by the caches of all clusters. */
  readonly bounds: CacheBounds
  /** The Prometheus that knows the cluster now. */
  readonly prometheus?: () => ClusterPrometheus | undefined
  readonly reflector: ReflectorOptions
  readonly observer: (resource: ApiResource) => InformerObserver
  /** The namespaces to cache. Default: all that the gateway's account may list. */
  readonly namespaces?: CachedNamespaces
  /** The informer of a resource that another part of the program runs, if it follows all objects of the resource. */
  readonly lent?: (resource: ApiResource, metadataOnly: boolean) => SharedInformer | undefined
  /** The archives of resources. */
  readonly archived?: ArchiveOf
  /** Called when a cache covers other namespaces than before; `undefined`: all. */
  readonly covered?: (resource: ApiResource, coverage: Coverage | undefined) => void
}

/** The connection to a cluster, or the reason why there is none. */
export type ClusterConnection =
  | {
      readonly state: 'connected'
      readonly source: (
        resource: ApiResource,
        options: { readonly metadataOnly?: boolean },
      ) => ListerWatcher
      /** `v1.36.3`. */
      readonly version: string
      readonly resourceVersionsComparable: boolean
      /** Whether the API server answers, as in `ApiServer.isReachable`. Default: it does. */
      readonly isReachable?: () => boolean
      /** The cluster's identity; `undefined` if unknown. */
      readonly uid?: string | undefined
      /**
       * A version of the history of a resource that the server has reached, asked for anew if the known one is before
       * `atLeast`; `undefined` if it cannot be known.
       */
      readonly reached?: (
        resource: Pick<ApiResource, 'group' | 'resource'>,
        atLeast: ResourceVersion,
      ) => Promise<ResourceVersion | undefined>
      /** Reads the identity again. Rejects if the cluster is unreachable. */
      readonly askUid?: (signal: AbortSignal) => Promise<string | undefined>
      /** Asks for the rights of the gateway's own account. Absent: a refused list is not repeated by namespaces. */
      readonly account?: AccountRequests
      /** Reads from the API server, without a cache. */
      readonly direct: DirectApi
      /** The API server with a caller's bearer token; without a token, with the gateway's own credentials. */
      readonly as: (token: string | undefined) => CallerServer
    }
  | { readonly state: 'unreachable'; readonly error: Error }

type Connected = ClusterConnection & { readonly state: 'connected' }

/** The API server as one caller. */
export type CallerServer = LentServer<ApiServer>

export interface ServedResource {
  readonly resource: ApiResource
  readonly metadataOnly: boolean
  /** Whether each read of the resource goes to the API server, without a cache. */
  readonly uncached?: boolean
  /** Whether to list the resource at an interval while it is leased, as it cannot be watched. */
  readonly isPolled?: boolean
  /** Indexes of values from another resource, whose objects have the same names. */
  readonly joined?: JoinedIndexes
  /** Whether an idle cache keeps running, unless a bound needs its room. */
  readonly isKept?: boolean
  /** Indexes that the store has from the start, in addition to the built-in ones. */
  readonly indexers: Indexers
  /** Indexes that are built on demand. */
  readonly lazyIndexers?: Indexers
  /** The definitions of indexes by name, if they may change while the gateway runs. */
  readonly indexTexts?: IndexTexts
}

/** By {@link versionedResourceOf}. */
export type ServedResources = ReadonlyMap<string, ServedResource>

/** For {@link ClusterCache.serve}; clusters that serve the same may share it. */
export function servedResources(resources: readonly ServedResource[]): ServedResources {
  return new Map(resources.map((served) => [versionedResourceOf(served.resource), served]))
}

/** Indexes that copy the indexes of a polled resource. Built on demand, and dropped when nothing reads the resource. */
export interface JoinedIndexes {
  readonly resource: ApiResource
  /** The names of the indexes of the polled resource, by the names of their copies. */
  readonly indexes: Readonly<Record<string, string>>
}

/** The definitions of the indexes of one resource, as texts, by index name. */
export type IndexTexts = Readonly<Record<string, string>>

/**
 * The caches of one cluster, by group, version and resource. Acquiring a lease starts a cache; it stops when it has
 * been idle for a while. Knows no viewers.
 */
export class ClusterCache implements AsyncDisposable {
  readonly name: string
  readonly #options: ClusterCacheOptions
  readonly #cached = new Map<string, CachedResource>()
  /** The definitions from which the indexes of each store were built. */
  readonly #made = new WeakMap<CachedResource, IndexTexts>()
  readonly #listeners = new Set<(resource: ApiResource) => void>()
  readonly #renewals = new Set<() => void>()
  readonly #stalenessListeners = new Set<() => void>()
  #staleCaches = 0
  #isTellingStaleness = false
  #silenceTimer: NodeJS.Timeout | undefined
  readonly #incarnation: Incarnation
  /** The requested lazy indexes, by resource. A new informer starts with them. */
  readonly #wanted = new Map<string, Set<string>>()
  readonly #account: AccountNamespaces
  /** Aborts with the cache of the cluster. */
  readonly #ending = new AbortController()
  /** The number of resources that are cached for some namespaces only. */
  #partial = 0
  #connection: ClusterConnection
  #served: ServedResources = new Map()
  #stopped = false

  constructor(connection: ClusterConnection, options: ClusterCacheOptions) {
    this.name = options.name
    this.#options = options
    this.#connection = connection
    const connectionNow = (): ClusterConnection => this.#connection
    this.#account = new AccountNamespaces({
      ...options.namespaces,
      requests: () => {
        const now = connectionNow()
        return now.state === 'connected' ? now.account : undefined
      },
      changed: () => {
        for (const { namespaces } of this.#cached.values()) namespaces.follow()
      },
    })
    this.#incarnation = new Incarnation({
      async ask(signal) {
        const now = connectionNow()
        if (now.state !== 'connected') throw now.error
        return await now.askUid?.(signal)
      },
      renewed: () => {
        for (const cached of this.#cached.values()) {
          cached.refuse(renewed({ cluster: this.name, resource: cached.resource }))
        }
        options.bounds.usage.drop(options.name)
        for (const listener of this.#renewals) listener()
      },
    })
    this.connect(connection)
  }

  get connection(): ClusterConnection {
    return this.#connection
  }

  connect(connection: ClusterConnection): void {
    this.#connection = connection
    if (connection.state === 'connected') this.#incarnation.learn(connection.uid)
  }

  /** The cluster's identity; `undefined` if unknown. */
  get uid(): string | undefined {
    return this.#incarnation.uid
  }

  /** See {@link Incarnation}. */
  get incarnation(): string {
    return this.#incarnation.text
  }

  get excludedNamespaces(): readonly string[] {
    return this.#options.namespaces?.excludeNamespaces ?? []
  }

  /** Whether {@link incarnation} is known to be that of everything in the caches. */
  get isVerified(): boolean {
    return this.#incarnation.isVerified
  }

  /**
   * Calls `listener` whenever the cluster was replaced or restored, after all caches were dropped. The next lease lists
   * again. Returns a function that removes the listener.
   */
  onRenewed(listener: () => void): () => void {
    this.#renewals.add(listener)
    return () => void this.#renewals.delete(listener)
  }

  /** Asks whether it is still the same cluster. Call it after the credentials have changed. */
  verifyIdentity(): void {
    this.#incarnation.verify()
  }

  /** An observer for each informer of the cluster: see {@link Incarnation.observer}. */
  incarnationObserver(resource: ApiResource): IncarnationObserver {
    return this.#incarnation.observer(resource)
  }

  /**
   * Replaces the resources that can be acquired. Running informers build their new indexes in slices. Stops an informer
   * that has an index whose definition has changed, so that the next lease lists again.
   */
  serve(resources: ServedResources): void {
    this.#served = resources
    for (const [key, cached] of this.#cached) {
      const now = this.#served.get(key)
      if (now === undefined) continue
      const made = this.#made.get(cached) ?? {}
      const texts = now.indexTexts ?? {}
      if (texts === made) continue
      if (redefined(made, texts).some((name) => cached.hasOrMakes(name))) {
        cached.refuse(reindexed({ cluster: this.name, resource: cached.resource }))
        continue
      }
      const isAll = Object.keys(made).every((name) => Object.hasOwn(texts, name))
      this.#made.set(cached, isAll ? texts : { ...made, ...texts })
      void cached.makeIndexes(Object.keys(now.indexers))
    }
  }

  /** Stops caches of resources that the cluster no longer serves. Their leases report it. */
  drop(isGone: (resource: ApiResource) => boolean): void {
    for (const cached of this.#cached.values()) {
      const { resource } = cached
      if (isGone(resource)) cached.refuse(notServed({ cluster: this.name, resource }))
    }
  }

  /** Lists resources again after a change of the definition that decides the form of their objects. */
  reread(isRedefined: (resource: ApiResource) => boolean): void {
    for (const { resource, informer } of this.#cached.values()) {
      if (isRedefined(resource)) informer.reread()
    }
  }

  serves(resource: ApiResource): boolean {
    return this.#served.has(versionedResourceOf(resource))
  }

  /**
   * Leases a resource; starts its informer if needed. `indexTexts`: the definitions of indexes that the reader relies on.
   * `mayPoll`: whether the reader accepts a resource that is listed at an interval. Throws `UnreadableResourceError`:
   * CLUSTER_UNREACHABLE, NOT_FOUND if the cluster does not serve it, CACHE_FULL, UNSUPPORTED if it is never cached, or
   * NOT_SYNCED if an index has another definition by now.
   */
  acquire(resource: ApiResource, indexTexts?: IndexTexts, mayPoll = false): Lease {
    const key = versionedResourceOf(resource)
    const place = { cluster: this.name, resource }
    if (this.#redefined(key, indexTexts).length > 0) throw reindexed(place)
    const served = this.#served.get(key)
    const isPolled = mayPoll && served?.isPolled === true
    if (served?.uncached === true && !isPolled) throw notCached(place)
    const cached = this.#cached.get(key)
    if (cached !== undefined) return this.#leaseOf(cached, key, indexTexts)
    if (this.#stopped) throw stopped(place)
    if (this.#connection.state === 'unreachable') throw unreachable(place, this.#connection.error)
    if (served === undefined) throw notServed(place)
    this.#options.bounds.admit(place)
    this.#silenceTimer ??= this.#watchSilence()
    return this.#leaseOf(this.#start(key, served, this.#connection), key, indexTexts)
  }

  /**
   * Makes a lease that becomes unreadable if an index gets another definition than the reader relies on. Only an index that
   * is built after the change can have that: {@link serve} stops a cache that already has the index.
   */
  #leaseOf(cached: CachedResource, key: string, indexTexts: IndexTexts | undefined): Lease {
    const lease = cached.lease(() => {
      const isOutdated = this.#redefined(key, indexTexts).some((name) => cached.hasOrMakes(name))
      return isOutdated ? reindexed({ cluster: this.name, resource: cached.resource }) : undefined
    })
    if (cached.needed.length > 0) lease.want({ needed: cached.needed })
    return lease
  }

  /** Reads from the API server. Throws `UnreadableResourceError`: CLUSTER_UNREACHABLE, NOT_FOUND. */
  direct(resource: ApiResource): DirectApi {
    return this.#connected(resource).direct
  }

  /** Like {@link direct}, with the credentials of a bearer token. */
  directAs(resource: ApiResource, token: string): DirectApi & AsyncDisposable {
    const caller = this.#connected(resource).as(token)
    return Object.assign(new DirectApi(caller.server), {
      [Symbol.asyncDispose]: () => caller[Symbol.asyncDispose](),
    })
  }

  /**
   * Waits until the cache of a resource shows a write (read-your-writes). Resolves with true once it does, or if there is no
   * cache to wait for; with false if the deadline passes first.
   */
  async caughtUp(
    resource: ApiResource,
    written: WrittenState,
    deadlineMs: number,
  ): Promise<boolean> {
    const cached = this.#cached.get(versionedResourceOf(resource))
    if (cached === undefined) return true
    const endsAtMs = performance.now() + deadlineMs
    if (cached.unreadable() !== undefined) {
      try {
        // The first list may have begun before the write.
        await cached.ready(deadlineMs)
      } catch {
        return false
      }
    }
    const leftMs = Math.max(0, endsAtMs - performance.now())
    return await showsWrite(cached.informer.store, written, leftMs)
  }

  /**
   * The store of a synced resource, without a lease: valid within this tick. `undefined` if the resource is not synced,
   * or if one of the reader's indexes has another definition by now.
   */
  synced(resource: ApiResource, indexTexts?: IndexTexts): StoreView | undefined {
    const key = versionedResourceOf(resource)
    const cached = this.#cached.get(key)
    if (cached === undefined || cached.unreadable() !== undefined) return undefined
    return this.#redefined(key, indexTexts).length > 0 ? undefined : cached.informer.store
  }

  /** The key of an object that was deleted while its resource was cached; `undefined` if that is not known. */
  keyOfDeleted(resource: ApiResource, uid: string): string | undefined {
    return this.#cached.get(versionedResourceOf(resource))?.history.keyOfDeleted(uid)
  }

  /** The indexes whose served definition is another one than the reader relies on. */
  #redefined(key: string, known: IndexTexts | undefined): readonly string[] {
    const { indexTexts: texts } = this.#served.get(key) ?? {}
    if (known === texts || known === undefined || texts === undefined) return []
    return redefined(texts, known)
  }

  /** Calls `listener` after the first sync of each resource. Returns a function that removes it. */
  onSynced(listener: (resource: ApiResource) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** What objects of all clusters used during the last hour. */
  get usage(): UsageRings {
    return this.#options.bounds.usage
  }

  /** Absent: there is none, or it cannot tell clusters apart. */
  get prometheus(): ClusterPrometheus | undefined {
    return this.#options.prometheus?.()
  }

  /** Whether any cache of the cluster is stale. */
  get hasStale(): boolean {
    return this.#staleCaches > 0
  }

  /** When the cache of a resource became stale, in milliseconds since the epoch; `undefined` if it is in step. */
  staleSinceMs(resource: ApiResource): number | undefined {
    return this.hasStale
      ? this.#cached.get(versionedResourceOf(resource))?.staleness.sinceMs
      : undefined
  }

  /**
   * Calls `listener` after caches have become stale or are in step again, once for all changes of one tick. Returns a
   * function that removes it.
   */
  onStaleness(listener: () => void): () => void {
    this.#stalenessListeners.add(listener)
    return () => void this.#stalenessListeners.delete(listener)
  }

  /** Whether any resource is cached for some namespaces only. */
  get hasPartial(): boolean {
    return this.#partial > 0
  }

  /** The namespaces that the cache of a resource covers; `undefined`: all, or there is no cache. */
  coverage(resource: ApiResource): Coverage | undefined {
    return this.hasPartial ? this.#cached.get(versionedResourceOf(resource))?.coverage : undefined
  }

  /** The namespaces to examine if the gateway's account may not list in all namespaces, as far as they are known. */
  get accountNamespaces(): readonly string[] {
    return this.#account.known
  }

  /** Examines the rights of the gateway's account again. Call it after the credentials have changed. */
  renewAccount(): void {
    for (const { namespaces } of this.#cached.values()) namespaces.renewed()
    this.#account.renewed()
  }

  resources(): readonly ApiResource[] {
    return Array.from(this.#cached.values(), ({ resource }) => resource)
  }

  /** A text that differs whenever a cache has come, gone, or may have changed its objects, indexes or state. */
  get stateText(): string {
    const states = Array.from(this.#cached, ([key, { informer, coverage }]) => {
      const { store, lastError } = informer
      const { namespaces } = coverage ?? {}
      const isSynced = informer.hasSynced()
      const indexes = store.indexNames().length
      return `${key} ${isSynced} ${store.resourceVersion} ${store.size} ${indexes} ${lastError?.message} ${namespaces?.size}`
    })
    return states.join('\n')
  }

  states(): readonly CachedResourceState[] {
    return [...this.#cached.values()].map(stateOf)
  }

  /** How long each stale cache has been stale, in milliseconds. */
  lagsBehind(): readonly number[] {
    const nowMs = Date.now()
    return [...this.#cached.values()].flatMap(({ staleness: { sinceMs } }) =>
      sinceMs === undefined ? [] : [Math.max(0, nowMs - sinceMs)],
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    this.#ending.abort(new Error('the gateway is stopping'))
    clearInterval(this.#silenceTimer)
    // The archive keeps nothing of a cluster that may be another one.
    if (this.#options.archived !== undefined) await this.#incarnation.settled(identityMs)
    await this.#incarnation[Symbol.asyncDispose]()
    await Promise.all([...this.#cached.values()].map((cached) => cached.stop()))
    await this.#account.ended()
    this.#options.bounds.usage.drop(this.name)
  }

  #start(
    key: string,
    { resource, metadataOnly, isKept = false, isPolled = false, ...served }: ServedResource,
    { resourceVersionsComparable, ...connection }: Connected,
  ): CachedResource {
    const { bounds, reflector, namespaces: wanted = {}, lent, covered } = this.#options
    const cached = new CachedResource({
      cluster: this.name,
      resource,
      metadataOnly,
      isKept,
      isPolled,
      source: connection.source(resource, metadataOnly ? { metadataOnly } : {}),
      resourceVersionsComparable,
      reflector,
      indexers: { ...served.indexers, ...this.#indexersNamed(key, this.#wanted.get(key) ?? []) },
      indexersNamed: (names) => this.#indexersNamed(key, names),
      bounds,
      account: this.#account,
      mayNarrow: connection.account !== undefined,
      wanted,
      lent: () => lent?.(resource, metadataOnly),
      archived: isPolled ? undefined : this.#archiveOf(resource),
      observer: this.#options.observer(resource),
      incarnation: this.incarnationObserver(resource),
      isReachable: () => {
        const now = this.#connection
        return now.state === 'connected' && now.isReachable?.() !== false
      },
      signal: this.#ending.signal,
      synced: () => {
        for (const listener of this.#listeners) listener(resource)
      },
      stalenessChanged: () => this.#stalenessChanged(),
      covered: (coverage) => {
        this.#countPartial()
        covered?.(resource, coverage)
      },
      polled: (changes, isList) => this.#join(cached, changes, isList),
      ended: () => {
        if (this.#cached.get(key) === cached) this.#cached.delete(key)
        for (const [target, indexes] of isPolled ? this.#joinedTo(resource) : []) {
          const names = Object.keys(indexes)
          target.informer.dropIndexers(names)
          for (const name of names)
            this.#wanted.get(versionedResourceOf(target.resource))?.delete(name)
        }
        this.#countPartial()
      },
    })
    this.#cached.set(key, cached)
    this.#made.set(cached, served.indexTexts ?? {})
    cached.start()
    return cached
  }

  #watchSilence(): NodeJS.Timeout {
    const check = (): void => {
      for (const { staleness } of this.#cached.values()) staleness.checkSilence()
    }
    return setInterval(check, this.#options.bounds.limits.staleAfterMs / 10).unref()
  }

  #archiveOf(resource: ApiResource): ArchivedResource | undefined {
    const incarnation = this.#incarnation
    const place: ArchivedPlace = {
      cluster: this.name,
      incarnation: () => incarnation.text,
      isVerified: () => incarnation.isVerified,
      reached: async (position, of = resource) => {
        const now = this.#connection
        if (now.state !== 'connected' || !now.resourceVersionsComparable) return undefined
        return await now.reached?.(of, position)
      },
      wentBack: () => incarnation.wentBack(),
    }
    return this.#options.archived?.(resource, place)
  }

  /** Copies changed values of a polled resource to the indexes that are joined to it. */
  #join({ resource, informer }: CachedResource, changes: readonly Change[], isList: boolean): void {
    for (const [target, indexes] of this.#joinedTo(resource)) {
      // A list without changes is the first one. The indexes are built anew, in slices.
      if (isList && changes.length === 0) target.informer.dropIndexers(Object.keys(indexes))
      const names = Object.entries(indexes).filter(([name]) => target.hasOrMakes(name))
      if (names.length === 0) continue
      for (const { key } of changes) {
        const values = names.map(([name, there]) => [
          name,
          indexedValues(informer.store, there, key),
        ])
        target.informer.reindex(key, Object.fromEntries(values))
      }
    }
  }

  *#joinedTo(
    resource: ApiResource,
  ): Generator<readonly [CachedResource, JoinedIndexes['indexes']]> {
    const polled = versionedResourceOf(resource)
    for (const [key, target] of this.#cached) {
      const joined = this.#served.get(key)?.joined
      if (joined !== undefined && versionedResourceOf(joined.resource) === polled)
        yield [target, joined.indexes]
    }
  }

  #countPartial(): void {
    const caches = [...this.#cached.values()]
    this.#partial = caches.filter(({ coverage }) => coverage !== undefined).length
  }

  #stalenessChanged(): void {
    const caches = [...this.#cached.values()]
    this.#staleCaches = caches.filter(({ staleness }) => staleness.sinceMs !== undefined).length
    if (this.#isTellingStaleness) return
    this.#isTellingStaleness = true
    setImmediate(() => {
      this.#isTellingStaleness = false
      for (const listener of this.#stalenessListeners) listener()
    })
  }

  #connected(resource: ApiResource): Connected {
    const place = { cluster: this.name, resource }
    if (this.#connection.state === 'unreachable') throw unreachable(place, this.#connection.error)
    if (!this.serves(resource)) throw notServed(place)
    return this.#connection
  }

  #indexersNamed(key: string, names: Iterable<string>): Indexers {
    const { indexers = {}, lazyIndexers, joined } = this.#served.get(key) ?? {}
    const lazy: Record<string, IndexFunction> = { ...lazyIndexers }
    // {@link #join} follows changes of the polled resource.
    for (const [name, there] of Object.entries(joined?.indexes ?? {})) {
      lazy[name] = ({ metadata }) => {
        const view =
          joined && this.#cached.get(versionedResourceOf(joined.resource))?.informer.store
        return view === undefined ? noValues : indexedValues(view, there, objectKey(metadata))
      }
    }
    const wanted = getOrInsert(this.#wanted, key, () => new Set())
    const found: Record<string, IndexFunction> = {}
    for (const name of names) {
      const isLazy = Object.hasOwn(lazy, name)
      const valuesOf = isLazy ? lazy[name] : indexers[name]
      if (valuesOf === undefined) continue
      if (isLazy) wanted.add(name)
      found[name] = valuesOf
    }
    return found
  }
}

const noValues: readonly string[] = []

/** How long a stop waits for the identity of the cluster. */
const identityMs = 1_000

function indexedValues(view: StoreView, index: string, key: string): readonly string[] {
  const id = view.idOf(key)
  return id === undefined ? noValues : view.index(index).valuesOf(id)
}

/** The names of the indexes that both define by different texts. */
function redefined(before: IndexTexts, now: IndexTexts): readonly string[] {
  return Object.keys(now).filter(
    (name) => Object.hasOwn(before, name) && before[name] !== now[name],
  )
}

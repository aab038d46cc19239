import { type ApiResource, apiVersionOf } from '../kubernetes/api-resource.ts'
import { isBuiltInGroup } from '../kubernetes/built-in-groups.ts'
import { isBefore, type ResourceVersion } from '../kubernetes/resource-version.ts'
import type { InformerObserver } from '../informer/informer-observer.ts'
import type { ListerWatcher } from '../informer/reflector/lister-watcher.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import { createSharedInformer } from '../informer/shared-informer.ts'
import type { IndexFunction, Indexers, StoreView } from '../informer/store/store-view.ts'
import type { CacheBounds } from './cache-bounds.ts'
import { notCached, notServed, reindexed, renewed, stopped, unreachable } from './cache-errors.ts'
import { Incarnation, type IncarnationObserver } from './incarnation.ts'
import { missedChanges } from './missed-changes.ts'
import { RecentChanges } from './recent-changes.ts'
import { ResourceHistory } from './resource-history.ts'
import { CachedResource } from './cached-resource.ts'
import { type CachedResourceState, stateOf } from './cached-resource-state.ts'
import type { Lease } from './lease.ts'
import type { LiveApi } from './live-api.ts'

export interface ClusterCacheOptions {
  /** The cluster's name. */
  readonly name: string
  /** Shared by the caches of all clusters. */
  readonly bounds: CacheBounds
  readonly reflector: ReflectorOptions
  readonly observer: (resource: ApiResource) => InformerObserver
}

/** How a cluster is read, or why it cannot be. */
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
      /** By what the cluster is known; `undefined` where it does not say. */
      readonly uid?: string | undefined
      /** Asks it again. Rejects where it cannot be asked now. */
      readonly askUid?: (signal: AbortSignal) => Promise<string | undefined>
      /** Reads what no cache holds. */
      readonly live: LiveApi
      /** Reads it as the bearer of a token, and as nobody else. */
      readonly liveAs: (token: string) => LiveApi & AsyncDisposable
    }
  | { readonly state: 'unreachable'; readonly error: Error }

/** One resource that a cluster serves and that may be cached. */
export interface ServedResource {
  readonly resource: ApiResource
  readonly metadataOnly: boolean
  /** Whether it is never cached, but read live. */
  readonly uncached?: boolean
  /** What its store is to have besides the indexes of every store. */
  readonly indexers: Indexers
  /** Those that it gets when they are first asked for. */
  readonly lazyIndexers?: Indexers
  /** What indexes are made from, by name, where that may change while the gateway runs. */
  readonly indexTexts?: Readonly<Record<string, string>>
}

/**
 * The caches of one cluster, by group, version and resource: each is started by the first who acquires it, and stopped
 * when nobody has needed it for a while. Knows nothing of who reads them.
 */
export class ClusterCache implements AsyncDisposable {
  readonly name: string
  readonly #options: ClusterCacheOptions
  readonly #cached = new Map<string, CachedResource>()
  /** What the indexes of a store are made from, by name. */
  readonly #made = new WeakMap<CachedResource, Readonly<Record<string, string>>>()
  readonly #listeners = new Set<(resource: ApiResource) => void>()
  readonly #renewals = new Set<() => void>()
  readonly #incarnation: Incarnation
  /** The lazy indexes that have been asked for, by resource: informers that start anew have them from the start. */
  readonly #wanted = new Map<string, Set<string>>()
  #connection: ClusterConnection
  #served: ReadonlyMap<string, ServedResource> = new Map()
  #stopped = false

  constructor(connection: ClusterConnection, options: ClusterCacheOptions) {
    this.name = options.name
    this.#options = options
    this.#connection = connection
    this.#incarnation = new Incarnation({
      ask: (signal) => this.#askUid(signal),
      renewed: () => this.#renew(),
    })
    this.connect(connection)
  }

  get connection(): ClusterConnection {
    return this.#connection
  }

  /** The cluster has been reached, or is lost; what is cached goes on. */
  connect(connection: ClusterConnection): void {
    this.#connection = connection
    if (connection.state === 'connected') this.#incarnation.learn(connection.uid)
  }

  /** By what the cluster is known; `undefined` where that is not known. */
  get uid(): string | undefined {
    return this.#incarnation.uid
  }

  /** Which cluster all that is cached is of, and which of its histories: {@link Incarnation} says why. */
  get incarnation(): string {
    return this.#incarnation.text
  }

  /**
   * Calls `listener` whenever the cluster has turned out to be another one, or one that was restored, until the function that it
   * returns is called. All that was cached has been let go of then, and whoever acquires something reads it anew.
   */
  onRenewed(listener: () => void): () => void {
    this.#renewals.add(listener)
    return () => void this.#renewals.delete(listener)
  }

  /**
   * What an informer of the cluster is to tell: whoever answers when a watch begins may be another cluster than before, and versions
   * that go back are of another history.
   */
  incarnationObserver({ group }: ApiResource): IncarnationObserver {
    let last: ResourceVersion | undefined
    return {
      watching: () => this.#incarnation.verify(),
      advanced: (position) => {
        // Other servers may count as they like.
        const hasGoneBack = last !== undefined && isBuiltInGroup(group) && isBefore(position, last)
        last = position
        if (hasGoneBack) this.#incarnation.wentBack()
      },
    }
  }

  /**
   * What may be acquired from now on. Informers that are running get the indexes that they lack, in slices: who needs one
   * of them waits for it. One that has an index of which something else has become is stopped, so that whoever needs it
   * starts it anew.
   */
  serve(resources: readonly ServedResource[]): void {
    this.#served = new Map(resources.map((served) => [keyOf(served.resource), served]))
    for (const [key, cached] of this.#cached) {
      const now = this.#served.get(key)
      if (now === undefined) continue
      const made = this.#made.get(cached) ?? {}
      const texts = now.indexTexts ?? {}
      const isOther = ([name, text]: [string, string]): boolean =>
        (made[name] ?? text) !== text && cached.hasOrMakes(name)
      if (Object.entries(texts).some(isOther)) {
        cached.refuse(reindexed({ cluster: this.name, resource: cached.resource }))
        continue
      }
      this.#made.set(cached, { ...made, ...texts })
      void cached.makeIndexes(Object.keys(now.indexers))
    }
  }

  /** Stops what the cluster does not have any more; whoever holds a lease of it is told. */
  drop(isGone: (resource: ApiResource) => boolean): void {
    for (const cached of this.#cached.values()) {
      const { resource } = cached
      if (isGone(resource)) cached.refuse(notServed({ cluster: this.name, resource }))
    }
  }

  /** Reads what is cached of resources anew, as another definition decides what their objects look like. */
  reread(isRedefined: (resource: ApiResource) => boolean): void {
    for (const { resource, informer } of this.#cached.values()) {
      if (isRedefined(resource)) informer.reread()
    }
  }

  /** Whether the cluster has the resource, as far as is known. */
  serves(resource: ApiResource): boolean {
    return this.#served.has(keyOf(resource))
  }

  /**
   * A lease of a resource, whose informer is started where it does not run. Throws `UnreadableResourceError`:
   * CLUSTER_UNREACHABLE, NOT_FOUND where the cluster does not serve it, CACHE_FULL, and UNSUPPORTED for what is never cached.
   */
  acquire(resource: ApiResource): Lease {
    const key = keyOf(resource)
    const cached = this.#cached.get(key)
    if (cached !== undefined) return cached.lease()
    const place = { cluster: this.name, resource }
    if (this.#stopped) throw stopped(place)
    if (this.#connection.state === 'unreachable') throw unreachable(place, this.#connection.error)
    const served = this.#served.get(key)
    if (served === undefined) throw notServed(place)
    if (served.uncached === true) throw notCached(place)
    this.#options.bounds.admit(place)
    return this.#start(key, served, this.#connection).lease()
  }

  /** Reads a resource from the API server. Throws `UnreadableResourceError`: CLUSTER_UNREACHABLE, NOT_FOUND. */
  live(resource: ApiResource): LiveApi {
    return this.#connected(resource).live
  }

  /** The same, as the bearer of a token. */
  liveAs(resource: ApiResource, token: string): LiveApi & AsyncDisposable {
    return this.#connected(resource).liveAs(token)
  }

  /** The store of a resource that is cached and synced, without a lease: good for this tick. */
  synced(resource: ApiResource): StoreView | undefined {
    const cached = this.#cached.get(keyOf(resource))
    return cached === undefined || cached.unreadable() !== undefined
      ? undefined
      : cached.informer.store
  }

  /** Calls `listener` whenever a resource has come to be cached and synced, until the function that it returns is called. */
  onSynced(listener: (resource: ApiResource) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** What is cached, synced or not. */
  resources(): readonly ApiResource[] {
    return Array.from(this.#cached.values(), ({ resource }) => resource)
  }

  /** What is cached, and how it is. */
  states(): readonly CachedResourceState[] {
    return [...this.#cached.values()].map(stateOf)
  }

  /** How long ago the server was last heard of each resource that may be out of date after a failure, milliseconds. */
  lagsBehind(): readonly number[] {
    return [...this.#cached.values()].flatMap(({ informer }) => {
      const { lastContactMs, lastError } = informer
      const isBehind = informer.hasSynced() && lastError !== undefined
      return isBehind && lastContactMs !== undefined ? [performance.now() - lastContactMs] : []
    })
  }

  /** Stops all informers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    await this.#incarnation[Symbol.asyncDispose]()
    await Promise.all([...this.#cached.values()].map((cached) => cached.stop()))
  }

  #start(
    key: string,
    { resource, metadataOnly, indexers, indexTexts = {} }: ServedResource,
    connection: ClusterConnection & { readonly state: 'connected' },
  ): CachedResource {
    const { bounds, reflector } = this.#options
    const how = metadataOnly ? { metadataOnly } : {}
    const observer = this.#options.observer(resource)
    const { resourceVersionsComparable } = connection
    const source = connection.source(resource, how)
    const { maxRecentChanges: maxChanges, maxRecentBytes: maxBytes } = bounds.limits
    const recent = new RecentChanges({
      limits: { maxChanges, maxBytes },
      resourceVersionsComparable,
      objectBytes: () => averageBytes(cached.informer.store),
    })
    const incarnation = this.incarnationObserver(resource)
    const cached: CachedResource = new CachedResource({
      cluster: this.name,
      resource,
      history: new ResourceHistory(recent, async (from, until) =>
        resourceVersionsComparable
          ? missedChanges({ resource, metadataOnly, source, from, until, maxChanges })
          : undefined,
      ),
      idleStopMs: bounds.limits.idleStopMs,
      informer: createSharedInformer({
        ...reflector,
        ...how,
        resource,
        source,
        indexers: { ...indexers, ...this.#indexersNamed(key, this.#wanted.get(key) ?? []) },
        resourceVersionsComparable,
        observer: {
          ...observer,
          watching: (position) => {
            observer.watching?.(position)
            incarnation.watching()
          },
          advanced: (position, changes) => {
            recent.add(position, changes)
            incarnation.advanced(position)
          },
          failed(failure, error) {
            observer.failed?.(failure, error, resource)
            if (failure === 'list') cached.listFailed(error)
          },
        },
      }),
      indexersNamed: (names) => this.#indexersNamed(key, names),
      indexingFailed: (error) => observer.failed?.('index', error, resource),
      synced: (one) => bounds.synced(one),
      ended: (one) => {
        bounds.ended(one)
        if (this.#cached.get(key) === one) this.#cached.delete(key)
      },
    })
    this.#cached.set(key, cached)
    this.#made.set(cached, indexTexts)
    bounds.started(cached)
    cached.start()
    cached.informer.waitForSync().then(
      () => {
        for (const listener of this.#listeners) listener(resource)
      },
      () => {},
    )
    return cached
  }

  #askUid(signal: AbortSignal): Promise<string | undefined> {
    const connection = this.#connection
    if (connection.state !== 'connected') return Promise.reject(connection.error)
    return connection.askUid?.(signal) ?? Promise.resolve(undefined)
  }

  #renew(): void {
    for (const cached of this.#cached.values()) {
      cached.refuse(renewed({ cluster: this.name, resource: cached.resource }))
    }
    for (const listener of this.#renewals) listener()
  }

  #connected(resource: ApiResource): ClusterConnection & { readonly state: 'connected' } {
    const place = { cluster: this.name, resource }
    if (this.#connection.state === 'unreachable') throw unreachable(place, this.#connection.error)
    if (!this.serves(resource)) throw notServed(place)
    return this.#connection
  }

  #indexersNamed(key: string, names: Iterable<string>): Indexers {
    const { indexers = {}, lazyIndexers: lazy = {} } = this.#served.get(key) ?? {}
    let wanted = this.#wanted.get(key)
    if (wanted === undefined) this.#wanted.set(key, (wanted = new Set()))
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

function averageBytes({ heldBytes, size }: StoreView): number {
  return size === 0 ? 0 : heldBytes / size
}

function keyOf(resource: ApiResource): string {
  return `${apiVersionOf(resource)}/${resource.resource}`
}

import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'
import type { InformerFailure, InformerObserver } from '../../informer/informer-observer.ts'
import type { ListerWatcher } from '../../informer/reflector/lister-watcher.ts'
import {
  createSharedInformerFactory,
  type SharedInformerFactory,
} from '../../informer/informers.ts'
import type { SharedInformer } from '../../informer/shared-informer.ts'
import type { Indexers } from '../../informer/store/store-view.ts'
import type { ReflectorOptions } from '../../informer/reflector/reflector-options.ts'
import { indexersOf } from '../../query/index/index-definition.ts'
import type { Relation } from '../../query/relation/relation.ts'
import { indexersFor } from '../../query/relation/relations.ts'
import type { Kind } from '../model/kind.ts'
import type { ClusterState, ResourceState } from '../schema/read-context.ts'
import { gatewayError, unreadableKindError } from './gateway-error.ts'

export interface ClusterCacheOptions {
  readonly name: string
  /** Everything that the schema serves and this cluster has, by type name. */
  readonly kinds: ReadonlyMap<string, Kind>
  /** Every relation of the schema, by full name. */
  readonly relations: ReadonlyMap<string, Relation>
  readonly reflector: ReflectorOptions
  readonly observer: (kind: Kind) => InformerObserver
  readonly connection: ClusterConnection
}

/** How a cluster is read, or why it cannot be. */
export type ClusterConnection =
  | {
      readonly source: (
        resource: ApiResource,
        options: { readonly metadataOnly?: boolean },
      ) => ListerWatcher
      /** `v1.36.3`. */
      readonly version: string
      readonly resourceVersionsComparable: boolean
    }
  | { readonly unreachable: Error }

interface CachedKind {
  readonly kind: Kind
  readonly informer: SharedInformer
  /** Those who wait for the first sync; a failure that will not pass by itself ends their wait. */
  readonly waiting: Set<(error: Error) => void>
}

/** The informers of one cluster, started by the first operation that touches their kind. */
export class ClusterCache implements AsyncDisposable {
  readonly name: string
  readonly #options: ClusterCacheOptions
  readonly #factory: SharedInformerFactory | undefined
  readonly #cached = new Map<string, CachedKind>()
  #kinds: ReadonlyMap<string, Kind>
  #relations: ReadonlyMap<string, Relation>

  constructor(options: ClusterCacheOptions) {
    const { name, kinds, relations, connection, reflector } = options
    this.name = name
    this.#options = options
    this.#kinds = kinds
    this.#relations = relations
    this.#factory =
      'source' in connection
        ? createSharedInformerFactory({
            ...reflector,
            source: connection.source,
            resourceVersionsComparable: connection.resourceVersionsComparable,
          })
        : undefined
  }

  /** The kinds that this cluster serves. */
  kinds(): Iterable<Kind> {
    return this.#kinds.values()
  }

  /** The schema has changed: informers that are running get the indexes that they lack. */
  serve(kinds: ReadonlyMap<string, Kind>, relations: ReadonlyMap<string, Relation>): void {
    this.#kinds = kinds
    this.#relations = relations
    for (const { kind, informer } of this.#cached.values()) {
      const now = kinds.get(kind.typeName)
      if (now === undefined) continue
      const known = informer.store.indexNames()
      const all = Object.entries(this.#indexersOf(now))
      informer.addIndexers(Object.fromEntries(all.filter(([index]) => !known.includes(index))))
    }
  }

  /** The informer of a kind, if an operation has touched it. */
  informer(kind: Kind): SharedInformer | undefined {
    return this.#cached.get(kind.typeName)?.informer
  }

  /**
   * Starts a kind's informer where it is not running and waits for its first sync. Rejects with the GraphQL error of the
   * field that needs the kind: FORBIDDEN, CLUSTER_UNREACHABLE, or NOT_SYNCED after `deadlineMs`.
   */
  async ready(kind: Kind, deadlineMs: number): Promise<void> {
    const { connection } = this.#options
    if (this.#factory === undefined || 'unreachable' in connection) {
      const reason = 'unreachable' in connection ? connection.unreachable : undefined
      throw unreadableKindError(reason, this.name, kind.typeName)
    }
    const served = this.#kinds.get(kind.typeName)
    if (served === undefined) {
      throw gatewayError('NOT_FOUND', `cluster ${this.name} does not serve ${kind.typeName}`, {
        cluster: this.name,
        kind: kind.typeName,
      })
    }
    const cached = this.#cached.get(served.typeName) ?? this.#start(this.#factory, served)
    if (cached.informer.hasSynced()) return
    const { lastError, state } = cached.informer
    if (lastError !== undefined && state === 'waiting' && isLasting(lastError)) {
      throw unreadableKindError(lastError, this.name, kind.typeName)
    }
    const failure = Promise.withResolvers<never>()
    cached.waiting.add(failure.reject)
    try {
      await Promise.race([cached.informer.waitForSync({ deadlineMs }), failure.promise])
    } catch (error) {
      throw unreadableKindError(error, this.name, kind.typeName)
    } finally {
      cached.waiting.delete(failure.reject)
    }
  }

  /** What the caches of this cluster hold and how they are. */
  state(): ClusterState {
    const { connection } = this.#options
    return {
      name: this.name,
      state: 'unreachable' in connection ? 'UNREACHABLE' : 'CONNECTED',
      version: 'unreachable' in connection ? null : connection.version,
      resources: [...this.#cached.values()].map(stateOf),
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#factory?.shutdown() ?? Promise.resolve()
  }

  #start(factory: SharedInformerFactory, kind: Kind): CachedKind {
    const waiting = new Set<(error: Error) => void>()
    const observer = this.#options.observer(kind)
    const informer = factory.informer(kind.resource, {
      indexers: this.#indexersOf(kind),
      ...(kind.metadataOnly ? { metadataOnly: true } : {}),
      observer: {
        ...observer,
        failed(failure: InformerFailure, error: Error) {
          observer.failed?.(failure, error)
          if (failure === 'list' && isLasting(error)) for (const end of waiting) end(error)
        },
      },
    })
    const cached = { kind, informer, waiting }
    this.#cached.set(kind.typeName, cached)
    factory.start()
    return cached
  }

  #indexersOf(kind: Kind): Indexers {
    return {
      ...indexersOf(kind.indexes),
      ...indexersFor(this.#relations.values(), kind.typeName),
    }
  }
}

/** Failures that waiting for will hardly mend, so that an operation is told at once. */
function isLasting(error: Error): boolean {
  if (error instanceof ApiStatusError) return ![429, 500, 502, 503, 504].includes(error.httpStatus)
  return true
}

function stateOf({ kind, informer }: CachedKind): ResourceState {
  const { lastContactMs, lastError } = informer
  const synced = informer.hasSynced()
  return {
    kind: kind.typeName,
    state: synced && informer.state !== 'synced' ? 'RECONNECTING' : informer.state.toUpperCase(),
    objects: synced ? informer.store.size : null,
    resourceVersion: synced ? informer.store.resourceVersion : null,
    lagMs: lastContactMs === undefined ? null : Math.round(performance.now() - lastContactMs),
    lastError: lastError?.message ?? null,
  }
}

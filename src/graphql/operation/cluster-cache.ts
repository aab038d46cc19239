import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'
import type { InformerFailure, InformerObserver } from '../../informer/informer-observer.ts'
import type { ListerWatcher } from '../../informer/lister-watcher.ts'
import {
  createSharedInformerFactory,
  type SharedInformerFactory,
} from '../../informer/informers.ts'
import type { SharedInformer } from '../../informer/shared-informer.ts'
import type { ReflectorOptions } from '../../informer/reflector-options.ts'
import { indexersOf } from '../../query/index-definition.ts'
import type { Relation } from '../../query/relation.ts'
import { indexersFor } from '../../query/relations.ts'
import type { Kind } from '../schema/kind.ts'
import type { ClusterState, ResourceState } from '../schema/read-context.ts'
import { gatewayError, unreadableKindError } from './gateway-error.ts'

export interface ClusterCacheOptions {
  readonly name: string
  /** Everything that the schema serves and this cluster has, by type name. */
  readonly kinds: ReadonlyMap<string, Kind>
  /** Every relation of the schema, by full name. */
  readonly relations: ReadonlyMap<string, Relation>
  readonly source: (
    resource: ApiResource,
    options: { readonly metadataOnly?: boolean },
  ) => ListerWatcher
  /** `v1.36.3`; `undefined` where the cluster could not be asked. */
  readonly version: string | undefined
  /** Why the cluster cannot be reached at all; then no informer is started. */
  readonly unreachable?: Error
  readonly resourceVersionsComparable: boolean
  readonly reflector: ReflectorOptions
  readonly observer: (kind: Kind) => InformerObserver
}

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
  readonly #factory: SharedInformerFactory
  readonly #cached = new Map<string, CachedKind>()

  constructor(options: ClusterCacheOptions) {
    this.name = options.name
    this.#options = options
    this.#factory = createSharedInformerFactory({
      ...options.reflector,
      source: options.source,
      resourceVersionsComparable: options.resourceVersionsComparable,
    })
  }

  /** The kinds that this cluster serves. */
  kinds(): Iterable<Kind> {
    return this.#options.kinds.values()
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
    if (this.#options.unreachable !== undefined) {
      throw unreadableKindError(this.#options.unreachable, this.name, kind.typeName)
    }
    const served = this.#options.kinds.get(kind.typeName)
    if (served === undefined) {
      throw gatewayError('NOT_FOUND', `cluster ${this.name} does not serve ${kind.typeName}`, {
        cluster: this.name,
        kind: kind.typeName,
      })
    }
    const cached = this.#cached.get(served.typeName) ?? this.#start(served)
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
    const { unreachable, version } = this.#options
    return {
      name: this.name,
      state: unreachable === undefined ? 'CONNECTED' : 'UNREACHABLE',
      version: version ?? null,
      resources: [...this.#cached.values()].map(stateOf),
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#factory.shutdown()
  }

  #start(kind: Kind): CachedKind {
    const waiting = new Set<(error: Error) => void>()
    const observer = this.#options.observer(kind)
    const informer = this.#factory.informer(kind.resource, {
      indexers: {
        ...indexersOf(kind.indexes),
        ...indexersFor(this.#options.relations.values(), kind.typeName),
      },
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
    this.#factory.start()
    return cached
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

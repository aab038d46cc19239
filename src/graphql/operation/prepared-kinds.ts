import { UnreadableResourceError } from '../../cache/cache-errors.ts'
import { Lease } from '../../cache/lease.ts'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { withDeadline } from '../../lib/deadline.ts'
import type { SharedInformer } from '../../informer/shared-informer.ts'
import type { UnknownIndexError } from '../../informer/store/store-errors.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import { unrestricted } from '../../query/condition/scope.ts'
import type { Kind } from '../model/kind.ts'
import { ClientError } from './client-error.ts'
import type { CachedParts, KindAt, KindPart } from './kind-part.ts'
import type { ServedSchema } from './served-schema.ts'

export interface PreparedKindsOptions {
  readonly served: ServedSchema
  /** How long a kind is waited for, once. */
  readonly syncDeadlineMs: number
}

/**
 * What one operation holds leases of, from its preparation to its end: a query until it is answered, a subscription for
 * as long as it lives. Each kind is waited for once; after that {@link settle} tells how it is at the moment.
 */
export class PreparedKinds implements Disposable {
  readonly #options: PreparedKindsOptions
  /** A lease of each kind that was wanted, or why there is none; by cluster. */
  readonly #acquired = new Map<string, Map<Kind, Lease | UnreadableResourceError>>()
  #disposed = false

  constructor(options: PreparedKindsOptions) {
    this.#options = options
  }

  /**
   * Acquires leases of kinds and waits for their first sync; `undefined` where there is nothing to wait for. Never rejects:
   * what failed is told by {@link settle}.
   */
  prepare(kinds: Iterable<KindAt>): Promise<unknown> | undefined {
    const waits: Promise<void>[] = []
    for (const at of kinds) {
      const known = this.#known(at)
      if (this.#disposed || (known !== undefined && at.indexes === undefined)) continue
      const lease = known ?? this.#acquire(at)
      if (lease instanceof UnreadableResourceError) continue
      if (at.indexes !== undefined) lease.want(at.indexes)
      if (lease.unreadable() === undefined) continue
      waits.push(lease.ready(this.#options.syncDeadlineMs).catch(() => {}))
    }
    return waits.length === 0 ? undefined : Promise.all(waits)
  }

  /** Has lazy indexes made, and waits until they are there, or the deadline; never rejects. */
  async makeIndexes(indexes: Iterable<IndexAt>): Promise<void> {
    const waits: Promise<unknown>[] = []
    for (const { at, index } of indexes) {
      const lease = this.#lease(at)
      const made = lease instanceof Lease ? lease.makeIndex(index) : undefined
      if (made !== undefined) waits.push(made)
    }
    const { syncDeadlineMs } = this.#options
    await withDeadline('lazy indexes', Promise.all(waits), syncDeadlineMs).catch(() => {})
  }

  /** What can be read now, in this tick. */
  settle(): SettledKinds {
    return new SettledKinds({
      lease: (at) => this.#lease(at),
      synced: ({ cluster, kind }) =>
        this.#options.served.clusters.get(cluster)?.synced(kind.resource),
    })
  }

  /** Gives all leases back. */
  [Symbol.dispose](): void {
    this.#disposed = true
    for (const leases of this.#acquired.values()) {
      for (const lease of leases.values()) {
        if (!(lease instanceof UnreadableResourceError)) lease[Symbol.dispose]()
      }
    }
    this.#acquired.clear()
  }

  #known({ cluster, kind }: KindAt): Lease | UnreadableResourceError | undefined {
    return this.#acquired.get(cluster)?.get(kind)
  }

  /** `undefined`: nobody has waited for it. One that could not be had is asked for again: its failure may have passed. */
  #lease(at: KindAt): Lease | UnreadableResourceError | undefined {
    const known = this.#known(at)
    if (known === undefined || this.#disposed) return undefined
    if (!(known instanceof UnreadableResourceError)) {
      if (!known.isStopped) return known
      known[Symbol.dispose]()
    }
    return this.#acquire(at)
  }

  #acquire({ cluster, kind }: KindAt): Lease | UnreadableResourceError {
    const acquired = this.#acquireOf(cluster, kind)
    let kinds = this.#acquired.get(cluster)
    if (kinds === undefined) this.#acquired.set(cluster, (kinds = new Map()))
    kinds.set(kind, acquired)
    return acquired
  }

  #acquireOf(name: string, { resource }: Kind): Lease | UnreadableResourceError {
    const cluster = this.#options.served.clusters.get(name)
    if (cluster === undefined) throw new TypeError(`there is no cluster ${name}`)
    try {
      return cluster.acquire(resource)
    } catch (error) {
      if (error instanceof UnreadableResourceError) return error
      throw error
    }
  }
}

/** A lazy index of a kind in a cluster. */
export interface IndexAt {
  readonly at: KindAt
  readonly index: string
}

interface KindSource {
  readonly lease: (at: KindAt) => Lease | UnreadableResourceError | undefined
  readonly synced: (at: KindAt) => StoreView | undefined
}

/** What one execution reads. Each kind is settled when it is first asked for, which is in the same tick, and stays so. */
export class SettledKinds implements CachedParts {
  readonly #source: KindSource
  readonly #outcomes = new Map<string, Map<Kind, KindPart | ClientError>>()
  readonly #needed: KindAt[] = []
  readonly #neededIndexes: IndexAt[] = []

  constructor(source: KindSource) {
    this.#source = source
  }

  /** The kinds that were asked for although nobody has waited for them: what another round is to prepare. */
  get needed(): readonly KindAt[] {
    return this.#needed
  }

  /** The lazy indexes that were missed: what another round is to make. */
  get neededIndexes(): readonly IndexAt[] {
    return this.#neededIndexes
  }

  /** The execution has failed for want of an index of one of the kinds that it has read. */
  missed({ resource, index }: UnknownIndexError): void {
    for (const [cluster, outcomes] of this.#outcomes) {
      for (const kind of outcomes.keys()) {
        if (groupResourceOf(kind.resource) !== resource) continue
        if (kind.indexes.some(({ name, lazy }) => name === index && lazy === true)) {
          this.#neededIndexes.push({ at: { cluster, kind }, index })
        }
      }
    }
  }

  part(at: KindAt): KindPart {
    const outcome = this.#outcomes.get(at.cluster)?.get(at.kind) ?? this.#settle(at)
    if (outcome instanceof ClientError) throw outcome
    for (const name of at.indexes?.needed ?? []) {
      if (outcome.view.hasIndex(name)) continue
      this.#needed.push(at)
      throw notLoaded(at)
    }
    return outcome
  }

  named(at: KindAt): KindPart | undefined {
    return this.part(at)
  }

  cachedPart(at: KindAt): KindPart | undefined {
    const outcome = this.#outcomes.get(at.cluster)?.get(at.kind)
    if (outcome !== undefined) return outcome instanceof ClientError ? undefined : outcome
    const view = this.#source.synced(at)
    return view === undefined ? undefined : this.#keep(at, partOf(at, view))
  }

  /** What to listen to for the changes of a kind. Throws as {@link part} does. */
  informer(at: KindAt): SharedInformer {
    this.part(at)
    const lease = this.#source.lease(at)
    if (lease === undefined || lease instanceof UnreadableResourceError) {
      throw new TypeError(`${at.kind.typeName} has been read without a lease`)
    }
    return lease.informer
  }

  #settle(at: KindAt): KindPart | ClientError {
    const lease = this.#source.lease(at)
    if (lease === undefined) {
      this.#needed.push(at)
      return this.#keep(at, notLoaded(at))
    }
    const failure = lease instanceof UnreadableResourceError ? lease : lease.unreadable()
    if (failure !== undefined) return this.#keep(at, unreadableKindError(at, failure))
    return this.#keep(at, partOf(at, (lease as Lease).informer.store))
  }

  #keep<T extends KindPart | ClientError>({ cluster, kind }: KindAt, outcome: T): T {
    let outcomes = this.#outcomes.get(cluster)
    if (outcomes === undefined) this.#outcomes.set(cluster, (outcomes = new Map()))
    outcomes.set(kind, outcome)
    return outcome
  }
}

/** The one place where it is decided what of a kind may be seen. */
function partOf({ cluster, kind }: KindAt, view: StoreView): KindPart {
  return { cluster, kind, view, scope: unrestricted }
}

function notLoaded({ cluster, kind: { typeName } }: KindAt): ClientError {
  return new ClientError('NOT_SYNCED', `${typeName} is not loaded yet`, {
    cluster,
    kind: typeName,
    hint: 'ask again in a moment, or for fewer relations one within the other',
    retryAfterMs: 1000,
  })
}

/** Why a kind cannot be read, as the error of the field that wanted it. */
function unreadableKindError(
  { cluster, kind }: KindAt,
  cause: UnreadableResourceError,
): ClientError {
  const { code, message, hint, retryAfterMs } = cause
  const kindName = kind.typeName
  return new ClientError(code, message, { cluster, kind: kindName, hint, retryAfterMs, cause })
}

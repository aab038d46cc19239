/*
 * The leases of kinds that an operation holds: a query until its answer, a subscription until it ends. The operation asks
 * what the viewer may see of each kind, takes leases of the kinds that the viewer may read, and waits once for the first
 * sync of each. Kinds in memory need no wait. An optional kind is given up when its cluster cannot be reached or is silent. After
 * that, each run reads a `ReadSnapshot` (`preparation.ts`): the current state of the kinds, within the viewer's access.
 */

import type { AccessQuestion } from '../../access/access-question.ts'
import { UnreadableResourceError } from '../../cache/cache-errors.ts'
import type { Coverage } from '../../cache/coverage.ts'
import { Lease, type WantedIndexes } from '../../cache/cached-resource.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { inSlices } from '../../lib/event-loop.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import { ClusterPace } from './cluster-pace.ts'
import { type ClusterKind, isReachable } from './kind-view.ts'
import { type OperationTrace, type PartDetails, within } from './operation-trace.ts'
import { goneCluster } from './read-failures.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { KindNeed, ViewerAccess } from './viewer-access.ts'

export interface KindLeasesOptions {
  readonly served: ServedSchema
  /** How long the operation waits for a kind, once. */
  readonly syncDeadlineMs: number
  /** See {@link ClusterPace}. */
  readonly silenceMs: number
  /** Absent: the viewer may see everything. */
  readonly access?: ViewerAccess | undefined
  /** Whether a viewer sees the errors. Default: true if there is `access`. */
  readonly isViewed?: boolean
  readonly trace?: OperationTrace | undefined
}

/** An index of a kind that a run lacked. */
export interface IndexAt {
  readonly at: ClusterKind
  readonly index: string
}

/** The permissions that a run lacked: questions of fields by cluster, and kinds to list. */
export interface LackedPermissions {
  readonly questions: ReadonlyMap<string, readonly AccessQuestion[]>
  readonly listings: readonly KindNeed[]
}

export class KindLeases implements Disposable {
  readonly #options: KindLeasesOptions
  /** The lease of each kind, or why there is none. */
  readonly #acquired = new ByKind<Lease | UnreadableResourceError>()
  /** Why the access of the viewer is not known; by cluster. */
  readonly #failures = new Map<string, unknown>()
  /** The kinds that the operation itself names, with the indexes that its fields read. */
  readonly #named = new ByKind<WantedIndexes[]>()
  /** Why the server could not ask for permissions; by cluster. */
  readonly #refusals = new Map<string, unknown>()
  #disposed = false

  constructor(options: KindLeasesOptions) {
    this.#options = options
  }

  /**
   * Asks for the viewer's access to kinds, acquires leases of the kinds that the viewer may read, and waits for their
   * first sync. `undefined` if there is nothing to wait for. Never rejects: a snapshot gives the failures.
   */
  prepare(kinds: Iterable<KindNeed>): Promise<unknown> | undefined {
    const admitted = inSlices(this.#admitAll(kinds), () => this.#disposed)
    if (admitted instanceof Promise) return admitted.then((waits = []) => Promise.all(waits))
    return admitted.length === 0 ? undefined : Promise.all(admitted)
  }

  /** Yields between kinds, as `inSlices` has it: a question over many clusters may start thousands of informers. */
  *#admitAll(kinds: Iterable<KindNeed>): Generator<void, readonly Promise<unknown>[]> {
    const waits: Promise<unknown>[] = []
    const pace = new ClusterPace(this.#options.silenceMs)
    for (const need of kinds) {
      const wait = this.#admit(need)
      if (need.isOptional === true) pace.add(need.cluster, wait)
      if (wait === undefined) continue
      waits.push(need.isOptional === true ? this.#whileReachable(need, wait, pace) : wait)
      yield
    }
    return waits
  }

  /**
   * Prepares the kinds that the operation names itself. Access to them may still become known later: the server then
   * builds their indexes before it reads them.
   */
  prepareNamed(kinds: readonly KindNeed[]): Promise<unknown> | undefined {
    for (const at of kinds) getOrInsert(this.#named, at, () => []).push(at.indexes ?? {})
    return this.prepare(kinds)
  }

  /**
   * Whether only a permission can be missing: the operation names the kind, or the kind is in memory. Each round finds
   * the missing permissions of one more level of nesting, so these rounds are not counted with the others.
   */
  isExpected(need: KindNeed): boolean {
    if (this.#named.get(need) !== undefined) return true
    const view = this.synced(need)
    return view !== undefined && isIndexed(view, need.indexes)
  }

  /** Builds missing indexes and waits for them, at most until the sync deadline. Never rejects. */
  async makeIndexes(indexes: Iterable<IndexAt>): Promise<void> {
    const waits: Promise<unknown>[] = []
    for (const { at, index } of indexes) {
      const lease = this.lease(at)
      const made = lease instanceof Lease ? lease.makeIndex(index) : undefined
      if (made !== undefined) waits.push(made)
    }
    const { syncDeadlineMs } = this.#options
    await withDeadline('indexes', Promise.all(waits), syncDeadlineMs).catch(() => {})
  }

  /** Asks for the permissions that a run lacked, if any. Never rejects: the next snapshot throws the failures. */
  ask({ questions, listings }: LackedPermissions): Promise<unknown> | undefined {
    const { access } = this.#options
    if (access === undefined || questions.size + listings.length === 0) return undefined
    const refused = (cluster: string) => (error: unknown) => void this.#refusals.set(cluster, error)
    return Promise.all([
      ...Array.from(questions, ([cluster, of]) =>
        access.askCan(cluster, of).catch(refused(cluster)),
      ),
      ...listings.map((need) => access.ask(need).catch(refused(need.cluster))),
    ])
  }

  get access(): ViewerAccess | undefined {
    return this.#options.access
  }

  /** Whether a viewer sees the errors, which then withhold details. */
  get isViewed(): boolean {
    return this.#options.isViewed ?? this.access !== undefined
  }

  /** `undefined` if the operation has not waited for the kind. Acquires again after a failure: it may have passed. */
  lease(at: ClusterKind): Lease | UnreadableResourceError | undefined {
    if (this.#disposed) return undefined
    const known = this.#acquired.get(at)
    if (known === undefined) {
      return this.#isReadAsItIs(at) ? this.#acquire(at) : undefined
    }
    if (!(known instanceof UnreadableResourceError)) {
      if (!known.isStopped) return known
      const isListedAgain = known.unreadable()?.code === 'NOT_SYNCED'
      known[Symbol.dispose]()
      if (isListedAgain) {
        // Its cluster was replaced or restored: the operation has not waited for the cache that takes its place.
        this.#acquired.delete(at)
        return this.#isReadAsItIs(at) ? this.#acquire(at) : undefined
      }
    }
    return this.#acquire(at)
  }

  /** The reason why the server could not ask for `can` permissions or for what may be listed. */
  refusal(cluster: string): unknown {
    return this.#refusals.get(cluster)
  }

  /** The reason why the access of the viewer is not known. */
  failure(cluster: string): unknown {
    return this.#failures.get(cluster)
  }

  synced({ cluster, kind }: ClusterKind): StoreView | undefined {
    if (kind.uncached) return undefined
    const { clusters, indexTexts } = this.#options.served
    return clusters.get(cluster)?.synced(kind.resource, indexTexts.get(kind))
  }

  /** Whether any cache may be out of date. */
  get hasStale(): boolean {
    for (const cluster of this.#options.served.clusters.values()) {
      if (cluster.hasStale) return true
    }
    return false
  }

  /** Whether any cache covers some namespaces only. */
  get hasPartial(): boolean {
    for (const cluster of this.#options.served.clusters.values()) {
      if (cluster.hasPartial) return true
    }
    return false
  }

  /** The namespaces that a cache covers; `undefined`: all. */
  coverage({ cluster, kind }: ClusterKind): Coverage | undefined {
    return this.#options.served.clusters.get(cluster)?.coverage(kind.resource)
  }

  incarnation(cluster: string): string {
    return this.#options.served.clusters.get(cluster)?.incarnation ?? ''
  }

  [Symbol.dispose](): void {
    this.#disposed = true
    for (const lease of this.#acquired.values()) {
      if (!(lease instanceof UnreadableResourceError)) lease[Symbol.dispose]()
    }
    this.#acquired.clear()
  }

  /**
   * Whether an operation may read a kind without a wait: the kind is in memory, with the indexes that the operation
   * names. Without a viewer, the operation waits for a kind whose lazy indexes are not built.
   */
  #isReadAsItIs(at: ClusterKind): boolean {
    const view = this.synced(at)
    if (view === undefined) return false
    if (this.access === undefined && at.indexes !== undefined) {
      const { needed = [], useful = [] } = at.indexes
      if (!isIndexed(view, { needed: [...needed, ...useful] })) return false
    }
    return this.#named.get(at)?.every((indexes) => isIndexed(view, indexes)) ?? true
  }

  /** Waits as long as the cluster can be reached, answers access reviews, and sends something of the list. */
  async #whileReachable(at: ClusterKind, wait: Promise<unknown>, pace: ClusterPace): Promise<void> {
    const { cluster } = at
    const { served } = this.#options
    const access = served.access.get(cluster)
    const listMs = (): number => {
      const lease = this.#acquired.get(at)
      return lease instanceof Lease ? lease.silentMs : 0
    }
    const reviewsMs = (): number => access?.silentMs ?? 0
    const isHeard = await pace.whileHeard(wait, () =>
      isReachable(served, cluster) ? Math.max(reviewsMs(), listMs()) : 'unreachable',
    )
    if (!isHeard && reviewsMs() > listMs()) this.#failures.set(cluster, silentReviews(cluster))
  }

  /** Starts an informer only if the viewer may see something of its kind. */
  #admit(need: KindNeed): Promise<unknown> | undefined {
    const { access } = this.#options
    // A look-up by UID searches all kinds in memory, whatever the viewer may see of them.
    const isInMemory = need.keys?.length === 0 && this.synced(need) !== undefined
    const admission = isInMemory ? 'admitted' : (access?.admission(need) ?? 'admitted')
    if (admission === 'admitted') return this.#wait(need)
    if (admission === 'refused' || access === undefined) return undefined
    this.#failures.delete(need.cluster)
    const { trace } = this.#options
    return within(trace, 'access', partOf(need), () => access.ask(need)).then(
      () => (access.admission(need) === 'admitted' ? this.#wait(need) : undefined),
      (error: unknown) => void this.#failures.set(need.cluster, error),
    )
  }

  #wait(at: ClusterKind): Promise<void> | undefined {
    if (this.#disposed) return undefined
    const known = this.#acquired.get(at)
    const isKnown = known !== undefined && this.#options.access === undefined
    if (isKnown && at.indexes === undefined) return undefined
    const lease = known ?? this.#acquire(at)
    if (lease instanceof UnreadableResourceError) return undefined
    if (at.indexes !== undefined) lease.want(at.indexes)
    if (lease.unreadable() === undefined) return undefined
    const { trace, syncDeadlineMs } = this.#options
    const ready = (): Promise<void> => lease.ready(syncDeadlineMs).catch(() => {})
    return within(trace, 'wait', partOf(at), ready)
  }

  #acquire(at: ClusterKind): Lease | UnreadableResourceError {
    const { kind } = at
    const { clusters, indexTexts } = this.#options.served
    const cluster = clusters.get(at.cluster)
    if (cluster === undefined) throw goneCluster(at.cluster)
    let acquired: Lease | UnreadableResourceError
    try {
      acquired = cluster.acquire(kind.resource, indexTexts.get(kind), !kind.uncached)
    } catch (error) {
      if (!(error instanceof UnreadableResourceError)) throw error
      acquired = error
    }
    this.#acquired.set(at, acquired)
    if (acquired instanceof Lease) {
      for (const indexes of this.#named.get(at) ?? []) acquired.want(indexes)
    }
    return acquired
  }
}

function partOf({ cluster, kind }: ClusterKind): PartDetails {
  return { cluster, type: kind.typeName }
}

/** The error of a cluster that leaves access reviews unanswered. */
export function silentReviews(cluster: string): ClientError {
  const message = `cluster ${cluster} does not answer access reviews`
  const details = { cluster, hint: 'try again in a moment', retryAfterMs: 1_000 }
  return new ClientError('CLUSTER_UNREACHABLE', message, details)
}

const none: readonly string[] = []

/** Whether a store has the needed indexes. */
export function isIndexed(view: StoreView, indexes: WantedIndexes | undefined): boolean {
  for (const name of indexes?.needed ?? none) if (!view.hasIndex(name)) return false
  return true
}

export class ByKind<V> {
  readonly #values = new Map<string, Map<Kind, V>>()

  get({ cluster, kind }: ClusterKind): V | undefined {
    return this.#values.get(cluster)?.get(kind)
  }

  set({ cluster, kind }: ClusterKind, value: V): void {
    const kinds = getOrInsert(this.#values, cluster, () => new Map<Kind, V>())
    kinds.set(kind, value)
  }

  delete({ cluster, kind }: ClusterKind): void {
    this.#values.get(cluster)?.delete(kind)
  }

  *values(): Generator<V, void, void> {
    for (const kinds of this.#values.values()) yield* kinds.values()
  }

  *kinds(): Generator<ClusterKind, void, void> {
    for (const [cluster, kinds] of this.#values) {
      for (const kind of kinds.keys()) yield { cluster, kind }
    }
  }

  clear(): void {
    this.#values.clear()
  }
}

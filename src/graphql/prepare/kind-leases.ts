import { UnreadableResourceError } from '../../cache/cache-errors.ts'
import { Lease } from '../../cache/cached-resource.ts'
import { withDeadline } from '../../lib/deadline.ts'
import type { Kind } from '../model/kind.ts'
import type { ClusterKind } from './kind-view.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { type DirectFetch, type FurtherRuns, type IndexAt, ReadSnapshot } from './read-snapshot.ts'
import type { KindNeed, ViewerAccess } from './viewer-access.ts'

export interface KindLeasesOptions {
  readonly served: ServedSchema
  /** How long a kind is waited for, once. */
  readonly syncDeadlineMs: number
  /** What the viewer may see; absent: everything. */
  readonly access?: ViewerAccess | undefined
  /** Whether a viewer sees the errors; default: where there is `access`. */
  readonly isViewed?: boolean
}

/**
 * What one operation holds leases of, from its preparation to its end: a query until it is answered, a subscription for
 * as long as it lives. Each kind is waited for once; after that {@link settle} tells how it is at the moment, and what of it
 * the viewer may see.
 */
export class KindLeases implements Disposable {
  readonly #options: KindLeasesOptions
  /** A lease of each kind that was wanted, or why there is none; by cluster. */
  readonly #acquired = new Map<string, Map<Kind, Lease | UnreadableResourceError>>()
  /** Why nothing is known of what the viewer may see; by cluster. */
  readonly #failures = new Map<string, unknown>()
  /** The kinds that were known before anything was read; by cluster. */
  readonly #named = new Map<string, Set<Kind>>()
  /** Why permissions could not be asked for; by cluster. */
  readonly #refusals = new Map<string, unknown>()
  #disposed = false

  constructor(options: KindLeasesOptions) {
    this.#options = options
  }

  /** How long a kind is waited for, once. */
  get syncDeadlineMs(): number {
    return this.#options.syncDeadlineMs
  }

  /**
   * Asks what the viewer may see of kinds, acquires leases of those of which that is something, and waits for their first
   * sync; `undefined` where there is nothing to wait for. Never rejects: what failed is told by {@link settle}.
   */
  prepare(kinds: Iterable<KindNeed>): Promise<unknown> | undefined {
    const waits: Promise<unknown>[] = []
    for (const need of kinds) {
      const wait = this.#admit(need)
      if (wait !== undefined) waits.push(wait)
    }
    return waits.length === 0 ? undefined : Promise.all(waits)
  }

  /** The same of kinds that are known before anything is read: what a viewer may see of them may be known only later. */
  prepareNamed(kinds: readonly KindNeed[]): Promise<unknown> | undefined {
    for (const { cluster, kind } of kinds) {
      let named = this.#named.get(cluster)
      if (named === undefined) this.#named.set(cluster, (named = new Set()))
      named.add(kind)
    }
    return this.prepare(kinds)
  }

  /**
   * Whether a need is no further kind that only what has been read names: nothing but a permission can have been missing. What is
   * nested in what was missing is missed one level a round, so these rounds are not counted with the others.
   */
  isExpected(need: KindNeed): boolean {
    return this.#named.get(need.cluster)?.has(need.kind) === true || this.isThere(need)
  }

  /** Has indexes made that are not there, and waits until they are there, or the deadline; never rejects. */
  async makeIndexes(indexes: Iterable<IndexAt>): Promise<void> {
    const waits: Promise<unknown>[] = []
    for (const { at, index } of indexes) {
      const lease = this.#lease(at)
      const made = lease instanceof Lease ? lease.makeIndex(index) : undefined
      if (made !== undefined) waits.push(made)
    }
    const { syncDeadlineMs } = this.#options
    await withDeadline('indexes', Promise.all(waits), syncDeadlineMs).catch(() => {})
  }

  /**
   * Asks for the permissions that a run lacked; `undefined` where there are none to ask for. Never rejects: the next snapshot throws
   * why they could not be asked for.
   */
  ask({
    questions,
    listings,
  }: Pick<ReadSnapshot, 'questions' | 'listings'>): Promise<unknown> | undefined {
    const { access } = this.#options
    if (access === undefined || questions.size + listings.length === 0) return undefined
    const refused = (cluster: string) => (error: unknown) => void this.#refusals.set(cluster, error)
    return Promise.all([
      ...Array.from(questions, ([cluster, of]) =>
        access.askAll(cluster, of).catch(refused(cluster)),
      ),
      ...listings.map((at) =>
        access.ask({ ...at, list: { watch: false } }).catch(refused(at.cluster)),
      ),
    ])
  }

  /** Whether a kind is in memory with the indexes that it is to be read by, so that nothing but a permission can be missing. */
  isThere({ cluster, kind, indexes }: ClusterKind): boolean {
    const view = this.#options.served.clusters.get(cluster)?.synced(kind.resource)
    return view !== undefined && [...(indexes?.needed ?? [])].every((name) => view.hasIndex(name))
  }

  /** Another answer begins, which may need as many access reviews as any. */
  begin(): void {
    this.#options.access?.begin()
  }

  /** What can be read now, in this tick. `direct`: what the run reads directly. */
  settle({
    further = 'any',
    direct,
  }: { readonly further?: FurtherRuns; readonly direct?: DirectFetch } = {}): ReadSnapshot {
    const { access, served, isViewed = access !== undefined } = this.#options
    return new ReadSnapshot({
      access,
      isViewed,
      further,
      isExpected: (need) => this.isExpected(need),
      direct,
      refusal: (cluster) => this.#refusals.get(cluster),
      failure: (cluster) => this.#failures.get(cluster),
      lease: (at) => this.#lease(at),
      synced: ({ cluster, kind }) => served.clusters.get(cluster)?.synced(kind.resource),
      incarnation: (cluster) => served.clusters.get(cluster)?.incarnation ?? '',
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

  /** An informer starts only for somebody who may see something of its kind. */
  #admit(need: KindNeed): Promise<unknown> | undefined {
    const { access } = this.#options
    const admission = access?.admission(need) ?? 'admitted'
    if (admission === 'admitted') return this.#wait(need)
    if (admission === 'refused' || access === undefined) return undefined
    this.#failures.delete(need.cluster)
    return access.ask(need).then(
      () => (access.admission(need) === 'admitted' ? this.#wait(need) : undefined),
      (error: unknown) => void this.#failures.set(need.cluster, error),
    )
  }

  #wait(at: ClusterKind): Promise<void> | undefined {
    if (this.#disposed) return undefined
    const known = this.#known(at)
    const isKnown = known !== undefined && this.#options.access === undefined
    if (isKnown && at.indexes === undefined) return undefined
    const lease = known ?? this.#acquire(at)
    if (lease instanceof UnreadableResourceError) return undefined
    if (at.indexes !== undefined) lease.want(at.indexes)
    if (lease.unreadable() === undefined) return undefined
    return lease.ready(this.#options.syncDeadlineMs).catch(() => {})
  }

  #known({ cluster, kind }: ClusterKind): Lease | UnreadableResourceError | undefined {
    return this.#acquired.get(cluster)?.get(kind)
  }

  /** `undefined`: nobody has waited for it. One that could not be had is asked for again: its failure may have passed. */
  #lease(at: ClusterKind): Lease | UnreadableResourceError | undefined {
    if (this.#disposed) return undefined
    const known = this.#known(at)
    if (known === undefined) {
      const { access, served } = this.#options
      // What is there already may be read at once by whoever may see it; what lacks an index is waited for.
      const isThere = served.clusters.get(at.cluster)?.synced(at.kind.resource) !== undefined
      const isReadAsItIs = access !== undefined || at.indexes === undefined
      return isThere && isReadAsItIs ? this.#acquire(at) : undefined
    }
    if (!(known instanceof UnreadableResourceError)) {
      if (!known.isStopped) return known
      known[Symbol.dispose]()
    }
    return this.#acquire(at)
  }

  #acquire({ cluster, kind }: ClusterKind): Lease | UnreadableResourceError {
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

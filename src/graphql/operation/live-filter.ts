import { Backoff, sleep } from '../../lib/backoff.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import type { RelatedStores } from '../../query/condition/related-by.ts'
import { bindCondition } from '../../query/condition/id-set.ts'
import { type Scope, unrestricted } from '../../query/condition/scope.ts'
import { WorkBudget, type WorkLimits } from '../../query/condition/work-budget.ts'
import type { LiveSet } from '../../query/live-set.ts'
import { filterParts } from '../reads/filter-parts.ts'
import { FollowedFilter, followedNeeds } from './followed-filter.ts'
import type { FollowedList } from './followed-list.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import { isSameScope, type LiveScope, liveScope } from './live-scope.ts'
import { PermissionWait } from '../prepare/permission-wait.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'

export interface LiveFilterOptions {
  readonly served: ServedSchema
  readonly list: FollowedList
  /** Their leases must last as long as it does. */
  readonly kinds: ReadSnapshot
  /** What the viewer may see; absent: everything. */
  readonly access: ViewerAccess | undefined
  /** What deciding may cost, each time. */
  readonly work: Partial<WorkLimits>
  /** How long a kind is waited for. */
  readonly syncDeadlineMs: number
}

interface ReadKind {
  readonly at: ClusterKind
  readonly live: LiveScope | undefined
  scope: Scope
}

const watched = { watch: true } as const

/** A filter on related objects as one subscriber may ask it, whose permissions are followed from frame to frame. */
export class LiveFilter {
  readonly #options: LiveFilterOptions
  readonly #followed: FollowedFilter
  readonly #read: readonly ReadKind[]

  /** Throws where a kind cannot be read. */
  constructor(options: LiveFilterOptions) {
    this.#options = options
    const { list, access, kinds, served } = options
    const needs = followedNeeds(list)
    const errors: unknown[] = []
    // All that is missing is noted together, for one more round.
    for (const at of needs) {
      try {
        kinds.part(at, watched)
      } catch (error) {
        errors.push(error)
      }
    }
    // Of those that cannot be read, the error names the argument that rests on them.
    const stores = filterParts(served, { part: (at) => kinds.part(at, watched) })
    const { view } = kinds.part(list.at, { watch: true, within: () => list.within })
    bindCondition(list.condition, view, new WorkBudget(options.work), stores(list.at.cluster))
    if (errors.length > 0) throw errors[0]
    this.#followed = new FollowedFilter(list)
    this.#read = needs.map((at) => {
      const { scope } = kinds.part(at, watched)
      return { at, scope, live: access && liveScope(access, at, undefined) }
    })
  }

  /** To be called in the tick in which the rows are first decided. Throws where a kind cannot be read. */
  listen(): void {
    this.#followed.listen(this.#options.kinds)
  }

  /** What the condition reads now. */
  related(): RelatedStores {
    const { served, kinds, list } = this.#options
    const now = kinds.again()
    return filterParts(served, { part: (at) => now.part(at, watched) })(list.at.cluster)
  }

  /**
   * The keys of rows that have come to match, or match no more, in this tick. Rejects with the `ClientError` that ends the
   * subscription, where a kind cannot be read any more, and with the signal's reason.
   */
  async turned(held: LiveSet, view: StoreView, leaving: AbortSignal): Promise<readonly string[]> {
    const isOther = await this.#settle(leaving)
    if (isOther) this.#followed.concernsAll()
    const { rows, isAll } = this.#followed.take(isOther)
    const budget = new WorkBudget(this.#options.work)
    if (!isAll) return held.turnedOf(rows, view, budget)
    const startMs = performance.now()
    const turned = held.turned(view, budget)
    this.#followed.decidedAll(startMs)
    return turned
  }

  /** All rows are decided anew by whoever asks, by what may be seen in this tick. Rejects as {@link turned} does. */
  async taken(leaving: AbortSignal): Promise<void> {
    await this.#settle(leaving)
    this.#followed.take(true)
  }

  /**
   * Resolves when {@link turned} has had something to tell for some time. Rejects as that does, and it is nobody's error where
   * nobody waits any more.
   */
  gathered(coalesceMs: number, leaving: AbortSignal): Promise<'filtered'> {
    const gather = async (): Promise<'filtered'> => {
      await this.#changed(leaving)
      await sleep(coalesceMs, leaving)
      return 'filtered'
    }
    const gathered = gather()
    gathered.catch(() => {})
    return gathered
  }

  async #changed(leaving: AbortSignal): Promise<void> {
    const isFollowed = await Promise.race([
      this.#followed.changed(),
      ...this.#read.flatMap(({ live }) => live?.changed(leaving).then(() => true) ?? []),
    ])
    // Where the kind can be read all the same, it is followed no more: the subscriber is to come back.
    if (!isFollowed && !leaving.aborted) await this.#settle(leaving)
    if (!isFollowed) throw new FilterEndedError()
  }

  close(): void {
    this.#followed.close()
  }

  /** Waits until it is known what may be seen; whether that is another thing than before. */
  async #settle(leaving: AbortSignal): Promise<boolean> {
    let isOther = false
    const permissions = new PermissionWait(this.#options.syncDeadlineMs)
    const backoff = new Backoff({ initialMs: 10, maxMs: 1_000 })
    for (;;) {
      for (const kind of this.#read) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const scope = (await kind.live?.now(leaving)) ?? unrestricted
        if (!isSameScope(scope, kind.scope)) isOther = true
        kind.scope = scope
      }
      const settled = this.#options.kinds.again()
      try {
        for (const { at } of this.#read) settled.part(at, watched)
        return isOther
      } catch (error) {
        if (settled.needed.length === 0 || permissions.isOver()) throw error
      }
      // oxlint-disable-next-line no-await-in-loop -- what has been dropped is asked for again
      await sleep(backoff.nextMs(), leaving)
    }
  }
}

/** A kind that a filter rests on is followed no more, although it can be read. */
export class FilterEndedError extends Error {}

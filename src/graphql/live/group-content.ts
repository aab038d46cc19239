import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { Condition } from '../../query/condition/condition.ts'
import type { RelatedStores } from '../../query/condition/condition.ts'
import { type Scope, unrestricted } from '../../query/condition/scope.ts'
import { type LiveChange, LiveSet } from '../../query/live-set.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { PlanRun } from '../plan/plan-run.ts'
import type { GroupRun } from './group-reading.ts'
import type { SentChange } from './live-change.ts'
import type { RowDependencies } from './row-dependencies.ts'

/** What is known of objects from their changes alone. */
export interface SeenChanges {
  /** False where a deletion was not seen but concluded. */
  readonly isFinalStateKnown: (uid: string) => boolean
  /** An object as it was before its changes, where that was asked for and is known. */
  readonly previousOf: (uid: string) => HeldObject | undefined
}

/** Of objects that have not changed. */
export const nothingSeen: SeenChanges = {
  isFinalStateKnown: () => true,
  previousOf: () => undefined,
}

/** What the frames of a page say besides its steps. */
export interface PageState {
  /** All objects of the list. */
  readonly totalCount: number
}

/** What the members of a group hold, by the form of their subscription: the objects of a list, or a page of it. */
export interface GroupContent {
  readonly dependencies: RowDependencies
  /** `undefined` for what is no page. */
  readonly page: PageState | undefined
  /** The number of rows that have been sent. */
  readonly size: number
  /** The memory that it takes, at the most. */
  readonly bytes: number
  /** Begins anew: the keys of the rows that match. Throws `QueryTooCostlyError` and whatever reading throws. */
  matching(part: KindView, run: PlanRun): readonly string[]
  /**
   * The keys of rows that have come to match, or match no more, because of other objects: of `keys`, or of all that there are. Throws
   * `QueryTooCostlyError` and whatever reading throws.
   */
  changedMatches(part: KindView, run: PlanRun, keys?: readonly string[]): readonly string[]
  /**
   * What to send for the keys of rows that have changed, or are written from objects that have. A row that is written as before is
   * left out. Throws `QueryTooCostlyError`, and what `run.check` throws; then nothing counts as sent.
   */
  changes(
    keys: Iterable<string>,
    part: KindView,
    run: GroupRun,
    seen: SeenChanges,
  ): readonly SentChange[]
  /** The keys of all rows that have been sent. */
  keys(): readonly string[]
  /** What leads from nothing to what has been sent. */
  all(): readonly SentChange[]
  /** Changes that were sent last as fewer that lead to the same. */
  merged(changes: readonly SentChange[]): readonly SentChange[]
}

/** The objects of a group's list that match. What its condition asks of related objects is read in the tick of each call. */
export class MatchingObjects {
  readonly #condition: Condition
  #set: LiveSet
  #related: RelatedStores | undefined

  constructor(condition: Condition) {
    this.#condition = condition
    this.#set = this.#newSet(unrestricted)
  }

  get size(): number {
    return this.#set.size
  }

  /** What the condition reads in this tick. */
  get related(): RelatedStores {
    if (this.#related === undefined) throw new TypeError('nothing has been read yet')
    return this.#related
  }

  /** As `LiveSet.matching` of a new set. */
  matching({ view, scope, cluster }: KindView, run: PlanRun): readonly string[] {
    this.#set = this.#newSet(scope)
    this.#related = run.related(cluster)
    return this.#set.matching(view, run.budget)
  }

  /** As `LiveSet.changedMatches`, or of `keys` as `LiveSet.changedMatchesOf`. */
  changedMatches(
    { view, cluster }: KindView,
    run: PlanRun,
    keys?: readonly string[],
  ): readonly string[] {
    this.#related = run.related(cluster)
    if (keys === undefined) return this.#set.changedMatches(view, run.budget)
    return this.#set.changedMatchesOf(keys, view, run.budget)
  }

  /** As `LiveSet.due`. */
  due(keys: Iterable<string>, { view, cluster }: KindView, run: PlanRun): readonly LiveChange[] {
    this.#related = run.related(cluster)
    return this.#set.due(view, keys, run.budget)
  }

  /** As `LiveSet.sent`. */
  sent(changes: readonly LiveChange[]): void {
    this.#set.sent(changes)
  }

  #newSet(scope: Scope): LiveSet {
    return new LiveSet({ condition: this.#condition, scope, related: () => this.related })
  }
}

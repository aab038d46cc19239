import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { PlanRun } from '../plan/plan-run.ts'
import type { GroupRun } from './group-run.ts'
import type { SentChange } from './live-change.ts'
import type { RowDependencies } from './row-dependencies.ts'

/** What is known of objects from their changes alone. */
export interface SeenChanges {
  /** False where a deletion was not seen but concluded. */
  readonly isFinalStateKnown: (uid: string) => boolean
  /** An object as it was before its changes, where that was asked for and is known. */
  readonly previousOf: (uid: string) => HeldObject | undefined
}

/** Of whom nothing has changed. */
export const nothingSeen: SeenChanges = {
  isFinalStateKnown: () => true,
  previousOf: () => undefined,
}

/** What the frames of a page say besides its steps. */
export interface PageState {
  /** All objects of the list. */
  readonly totalCount: number
  /** Which rows it has, as a short text: the same ones in the same order have the same. */
  readonly rows: string
}

/** What the members of a group have been told of, by the form of their subscription: the objects of a list, or a page of it. */
export interface GroupContent {
  readonly dependencies: RowDependencies
  /** `undefined` for what is no page. */
  readonly page: PageState | undefined
  /** What it takes, at the most. */
  readonly bytes: number
  /** The keys of what is to be told first: {@link changes} says of each, when it is to be sent, what that is. */
  matching(part: KindView, run: PlanRun): readonly string[]
  /**
   * The keys that {@link changes} is to be asked of, as they may have come to match or match no more because of other objects: some
   * of `keys`, or of all that there are. Throws `QueryTooCostlyError` and whatever reading throws.
   */
  turned(part: KindView, run: PlanRun, keys?: readonly string[]): readonly string[]
  /**
   * What is to be told of keys that something happened to, or that are written from objects that something happened to. Nothing
   * where what is written is as it was. Throws `QueryTooCostlyError`, `NotCoveredError`, and whatever reading throws; then nothing
   * has been told.
   */
  changes(
    keys: Iterable<string>,
    part: KindView,
    options: GroupRun,
    seen: SeenChanges,
  ): readonly SentChange[]
  /** The keys of all rows that have been told. */
  keys(): readonly string[]
  /** What leads from nothing to what has been told. */
  all(): readonly SentChange[]
  /** The latest of what has been told as fewer changes that lead to the same. */
  merged(changes: readonly SentChange[]): readonly SentChange[]
}

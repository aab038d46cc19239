import type { GraphQLError } from 'graphql'
import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { LiveRead } from '../../query/live-set.ts'
import { clientResult, withoutTransportDetails } from '../errors/client-error.ts'
import { PlanRun } from '../plan/plan-run.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { ChangeParts, FramePlan, PageStepParts } from './frame-plan.ts'
import type { GroupRun } from './group-reading.ts'
import type { RowDependencies } from './row-dependencies.ts'

/** The text of a row. */
export interface RowText {
  /** The fields of the object, by the plan's `row`; `null` if none is selected. */
  readonly text: string
  /** The errors of these fields as JSON, with paths that begin with the key of `changes`; empty without errors. */
  readonly errors: string
}

/** A change of an object in a list, as members receive it. */
export type SentListChange = ChangeParts & Pick<RowText, 'errors'>

/** A step of a page, as members receive it. */
export type SentPageStep = PageStepParts & Pick<RowText, 'errors'>

export type SentChange = SentListChange | SentPageStep

/** What the changes of objects say that their current state does not. */
export interface SeenChanges {
  /** False if a deletion was concluded from a relist. */
  readonly isFinalStateKnown: (uid: string) => boolean
  /** The object before its changes, if frames show it and it is known. */
  readonly previousOf: (uid: string) => HeldObject | undefined
}

/** For objects that have not changed. */
export const nothingSeen: SeenChanges = {
  isFinalStateKnown: () => true,
  previousOf: () => undefined,
}

/** The fields of a page besides its steps. */
export interface PageState {
  /** The number of objects in the whole list. */
  readonly totalCount: number
}

/**
 * The rows that the members of a group hold: all objects of a list, or a page of it. Reading throws
 * `QueryTooCostlyError`.
 */
export interface GroupContent {
  readonly dependencies: RowDependencies
  /** `undefined` for a list. */
  readonly page: PageState | undefined
  /** The number of rows that were sent. */
  readonly size: number
  /** An upper bound of its memory. */
  readonly bytes: number
  /** The keys of all matching objects. */
  matching(part: KindView, run: GroupRun): readonly string[]
  /** Those of `keys`, or of all keys, whose match has changed because of other objects. */
  changedMatches(part: KindView, run: GroupRun, keys?: readonly string[]): readonly string[]
  /**
   * The changes to send for the keys of rows that may have changed. Omits rows with the same text as before. If it
   * throws, also by `run.check`, nothing counts as sent.
   */
  changes(
    keys: Iterable<string>,
    part: KindView,
    run: GroupRun,
    seen: SeenChanges,
  ): readonly SentChange[]
  /** The keys of all rows that were sent. */
  keys(): readonly string[]
  /** The changes that lead from nothing to the rows that were sent. */
  all(): readonly SentChange[]
  /** The changes that were sent last, as fewer changes that lead to the same rows. */
  merged(changes: readonly SentChange[]): readonly SentChange[]
}

/** What a live set reads in a run. */
export function liveRead({ view, scope, cluster }: KindView, run: PlanRun): LiveRead {
  return { view, scope, budget: run.budget, related: run.related(cluster) }
}

/** Writes rows within one tick. */
export interface RowTexts {
  readonly run: PlanRun
  /** The text of a row. `id` is the object's number in the store. */
  readonly write: (key: string, id: number) => RowText
}

/** Writes rows by a plan, and records the objects that each row is written from. */
export function rowTexts(
  { row }: FramePlan,
  dependencies: RowDependencies,
  part: KindView,
  options: GroupRun,
): RowTexts {
  let current = ''
  const run = new PlanRun({
    ...options,
    followed: (relation) => {
      options.followed?.(relation)
      dependencies.add(current, relation)
    },
  })
  const write = (key: string, id: number): RowText => {
    current = key
    dependencies.forget(key)
    run.budget.spend('rows', 1)
    const text = row?.(run, part, id) ?? 'null'
    return { text, errors: rowErrors(run, options.unexpected) }
  }
  return { run, write }
}

/** The errors of the row that was written last, as {@link RowText} holds them. `unexpected` receives masked errors. */
export function rowErrors(run: PlanRun, unexpected: (error: GraphQLError) => void): string {
  const errors = run.errors.takeRow()
  if (errors.length === 0) return ''
  const result = clientResult({ data: null, errors }, unexpected)
  return JSON.stringify(result.errors.map(withoutTransportDetails))
}

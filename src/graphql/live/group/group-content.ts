import type { GraphQLError } from 'graphql'
import type { TimeShare } from '../../../lib/event-loop.ts'
import type { LiveRead } from '../../../query/live-set.ts'
import { clientResult, withoutTransportDetails } from '../../errors/client-error.ts'
import { PlanRun } from '../../plan/plan-run.ts'
import type { KindView } from '../../prepare/kind-view.ts'
import type { PageState, RowText, SentChange } from '../frame-plan.ts'
import type { GroupList, ListRead, RowKeys } from './group-list.ts'

/** What the rows of all lists are written from, within one tick. */
export interface ListReads {
  of(list: GroupList): ListRead
  /** Call after the last read. Throws `MissingKindError` and `LackingError`. */
  check(): void
}

/**
 * The rows that the members of a group hold: all objects of its lists, or a page of them. Reading throws
 * `QueryTooCostlyError`.
 */
export interface GroupContent {
  /**
   * Set if it is read again as a whole when anything has changed: its share of time. Changes are not gathered by their
   * keys, and the lists have one row of their own each, of the key `''`.
   */
  readonly whole?: TimeShare
  /** `undefined` for a list. */
  readonly page: PageState | undefined
  /** An upper bound of its memory. */
  readonly bytes: number
  /** The least memory of each object that it begins with. */
  readonly bytesPerObject: number
  /** The keys of all matching objects of a list. */
  matching(list: GroupList, read: ListRead): readonly string[]
  /** Those of `keys`, or of all keys, whose match has changed because of other objects. */
  changedMatches(list: GroupList, read: ListRead, keys?: readonly string[]): readonly string[]
  /**
   * The changes to send for rows that may have changed. Omits rows with the same text as before. If it throws, also by
   * `reads.check`, nothing counts as sent.
   */
  changes(rows: readonly RowKeys[], reads: ListReads): readonly SentChange[]
  /** Takes note that all rows have to be written anew. */
  rewrite?(): void
  /** The lists of the group, in their order, after some have joined. */
  follow(lists: readonly GroupList[]): void
  /** Removes the rows of lists that are gone. Returns changes to send before the next ones. */
  drop(lists: readonly GroupList[]): readonly SentChange[]
  /** The keys of all rows of a list that were sent. */
  keys(list: GroupList): readonly string[]
  /** The keys of all matching objects of a list as of the last changes, sent or not. */
  matched(list: GroupList): Iterable<string>
  /** The changes that lead from nothing to the rows that were sent. */
  all(): readonly SentChange[]
  /** The changes that were sent last, as fewer changes that lead to the same rows. */
  merged(changes: readonly SentChange[]): readonly SentChange[]
}

/** What a live set reads in a run. */
export function liveRead({ view, scope, cluster }: KindView, run: PlanRun): LiveRead {
  return { view, scope, budget: run.budget, related: run.related(cluster) }
}

export interface RowTexts {
  readonly run: PlanRun
  /** The text of a row. `id` is the object's number in the store. */
  readonly write: (key: string, id: number) => RowText
}

/** Writes rows of a list, and records the objects that each row is written from. */
export function rowTexts(
  { plan: { row }, dependencies }: Pick<GroupList, 'plan' | 'dependencies'>,
  { part, run: options }: ListRead,
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

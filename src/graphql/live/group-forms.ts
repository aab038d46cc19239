import type { FollowedList } from '../operation/followed-list.ts'
import type { FramePlan } from './frame-plan.ts'
import { GroupPage } from './group-page.ts'
import { GroupRows } from './group-rows.ts'
import type { SentChange } from './live-change.ts'
import { missedOnPage, type MissedOnPageOptions } from './page-resumption.ts'
import { missedByOne } from './resumption.ts'

/** What the members of a group hold: all objects of a list, or its first ones. */
export type HeldContent = GroupRows | GroupPage

export function contentOf(plan: FramePlan, list: FollowedList): HeldContent {
  return list.page === undefined
    ? new GroupRows(plan, list.condition)
    : new GroupPage(plan, list, list.page)
}

/**
 * What a subscriber has to be told who stood at a position, so that it holds what the members of a group do now; `undefined`
 * where that is not known, or not worth it.
 */
export function missedBy({
  rows,
  ...options
}: Omit<MissedOnPageOptions, 'held' | 'page'> & { readonly rows: HeldContent }):
  | readonly SentChange[]
  | undefined {
  if (rows instanceof GroupRows) return missedByOne({ ...options, rows })
  const { page } = options.list
  return page && missedOnPage({ ...options, page, held: rows })
}

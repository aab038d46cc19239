import type { Change } from '../../informer/store/change.ts'
import { isInScope } from '../../query/condition/scope.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { listPage } from '../../query/page/page.ts'
import { markedRow, rowsOf } from '../../query/page/row-marks.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { FollowedPage } from '../operation/followed-list.ts'
import type { ResumePosition } from '../reads/resume-token.ts'
import type { PageStepParts } from './frame-plan.ts'
import type { FrameRing } from './frame-ring.ts'
import type { GroupPage } from './group-page.ts'
import type { SentChange } from './live-change.ts'
import { changesSince, type MissedOptions, relatedRows } from './resumption.ts'

export interface MissedOnPageOptions extends Omit<MissedOptions, 'rows'> {
  /** What the members of the group hold. */
  readonly held: GroupPage
  readonly page: FollowedPage
  readonly ring: FrameRing
  readonly budget: WorkBudget
}

type Ids = readonly string[]

/** A page is not worked out from more changes than these. */
const maxChanges = 1_000

/**
 * The steps that lead a subscriber from the page that it held at a position to the one that the members of a group hold;
 * `undefined` where it is not known for sure which rows that were: steps from other ones would make a wrong page of it.
 */
export function missedOnPage(options: MissedOnPageOptions): readonly PageStepParts[] | undefined {
  const { kinds, held, ring, from } = options
  if (from.rows === undefined || from.rows === '') return undefined
  const sent = sentSince(ring, from)
  if (sent !== undefined) return held.merged(sent)
  const since = changesSince(options)
  if (since === undefined) return undefined
  const { changes } = since
  const ids = from.rows === held.page.rows ? held.ids() : idsAt(options, changes)
  if (ids === undefined) return undefined
  const changed = new Set(changes.map(({ key }) => key))
  const written = relatedRows(kinds, since, held)
  return held.stepsFrom(ids, ({ key }) => changed.has(key) || written.has(key))
}

/** What a group has sent since it sent this position, if that is still in its ring: of several frames with the same, since the first. */
function sentSince(ring: FrameRing, from: ResumePosition): readonly SentChange[] | undefined {
  const sent: (readonly SentChange[])[] = []
  let known: number | undefined
  for (let number = ring.next - 1; number >= ring.first; number -= 1) {
    const frame = ring.get(number)
    if (frame === undefined) break
    const isThere = isSame(frame.positions, from.positions)
    if (!isThere && known !== undefined) break
    if (isThere && frame.rows === from.rows) known = sent.length
    sent.push(frame.changes)
  }
  return known === undefined ? undefined : sent.slice(0, known).toReversed().flat()
}

function isSame(a: ResumePosition['positions'], b: ResumePosition['positions']): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

/** The rows that the page had when these changes were to come, found by their marks; `undefined` where they cannot be. */
function idsAt(options: MissedOnPageOptions, changes: readonly Change[]): Ids | undefined {
  const { list, part, from } = options
  const changed = new Map(changes.map((change) => [change.uid, change]))
  if (changed.size > maxChanges) return undefined
  const candidates = new Set(firstIds(options, changed.size))
  for (const { key, uid } of changed.values()) {
    if (isInScope(part.scope, key)) candidates.add(objectIdOf(list.at, { key, uid }))
  }
  const rows = rowsOf(from.rows ?? '', Array.from(candidates, markedRow))
  return rows?.map(({ id }) => id)
}

/**
 * All that was on the page and has not changed: the rows that have not stand among each other as they did, so each is no further from
 * the beginning than as many have changed. Only those that are on the page now where some may match for other reasons.
 */
function firstIds({ list, page, part, budget, held }: MissedOnPageOptions, changed: number): Ids {
  if (list.concerned !== undefined) return held.ids()
  const { view, scope } = part
  const limit = page.size + changed
  const { ids } = listPage({
    view,
    scope,
    condition: list.condition,
    terms: page.terms,
    identity: { list: list.list },
    budget,
    first: limit,
    maxPageSize: limit,
  })
  return ids.map((row) => objectIdOf(list.at, { key: view.keyOf(row), uid: view.uidOf(row) }))
}

import type { Change } from '../../informer/store/change.ts'
import { objectTest } from '../../query/condition/object-test.ts'
import { isInScope } from '../../query/condition/scope.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { comparePositions, type OrderPosition, positionOf } from '../../query/page/list-order.ts'
import { objectPositions } from '../../query/page/object-position.ts'
import { listPage } from '../../query/page/page.ts'
import { rowsText } from '../../query/page/page-steps.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { FollowedPage } from '../operation/followed-list.ts'
import type { ResumePosition } from '../operation/resume-token.ts'
import type { PageStepParts } from './frame-plan.ts'
import type { FrameRing } from './frame-ring.ts'
import type { GroupPage } from './group-page.ts'
import type { ToldChange } from './live-change.ts'
import { changesSince, type MissedOptions, relatedRows } from './resumption.ts'

export interface MissedOnPageOptions extends Omit<MissedOptions, 'rows'> {
  /** What the members of the group hold. */
  readonly held: GroupPage
  readonly page: FollowedPage
  readonly ring: FrameRing
  readonly budget: WorkBudget
}

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
  if (ids === undefined || rowsText(ids.map((id) => ({ id }))) !== from.rows) return undefined
  const changed = new Set(changes.map(({ key }) => key))
  const written = relatedRows(kinds, since, held)
  return held.stepsFrom(ids, ({ key }) => changed.has(key) || written.has(key))
}

/** What a group has sent since it sent this position, if that is still in its ring: of several frames with the same, since the first. */
function sentSince(ring: FrameRing, from: ResumePosition): readonly ToldChange[] | undefined {
  const sent: (readonly ToldChange[])[] = []
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

/** The rows that the page had when these changes were to come: `undefined` where that cannot be told. */
function idsAt(
  { list, page, part, budget }: MissedOnPageOptions,
  changes: readonly Change[],
): readonly string[] | undefined {
  const { at, condition, concerned } = list
  // What matched then because of other objects is not known.
  if (concerned !== undefined) return undefined
  const { terms, size } = page
  const { view, scope } = part
  const first = new Map<string, Change>()
  for (const change of changes) if (!first.has(change.key)) first.set(change.key, change)
  if (first.size > maxChanges) return undefined
  const limit = size + first.size
  const identity = { list: list.list }
  const now = listPage({
    view,
    scope,
    condition,
    terms,
    identity,
    budget,
    first: limit,
    maxPageSize: limit,
  })
  const rows: { readonly id: string; readonly position: OrderPosition }[] = []
  for (const row of now.ids) {
    const key = view.keyOf(row)
    if (first.has(key)) continue
    const id = objectIdOf(at, { key, uid: view.uidOf(row) })
    rows.push({ id, position: positionOf(view, terms, row) })
  }
  const matches = objectTest(condition, at.kind.indexes)
  const positionBefore = objectPositions(terms, at.kind.indexes)
  for (const [key, change] of first) {
    if (change.type === 'ADDED' || !isInScope(scope, key)) continue
    const before = change.type === 'DELETED' ? change.object : change.previous
    const isMatch = before && matches(before)
    if (before === undefined || isMatch === undefined) return undefined
    if (!isMatch) continue
    const position = positionBefore(before)
    if (position === undefined) return undefined
    rows.push({ id: objectIdOf(at, change), position })
  }
  rows.sort((a, b) => comparePositions(a.position, b.position, { terms, backwards: false }))
  return rows.slice(0, size).map(({ id }) => id)
}

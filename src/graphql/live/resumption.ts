import type { Change } from '../../informer/store/change.ts'
import { compareResourceVersions, resourceVersion } from '../../kubernetes/resource-version.ts'
import { objectTest, type ObjectTest } from '../../query/condition/object-test.ts'
import { isInScope } from '../../query/condition/scope.ts'
import type { FollowedList } from '../operation/followed-list.ts'
import type { KindPart } from '../operation/kind-part.ts'
import type { SettledKinds } from '../operation/settled-kinds.ts'
import type { ResumePosition } from '../operation/resume-token.ts'
import type { FramePlan } from './frame-plan.ts'
import type { Positions } from './frame-writer.ts'
import type { GroupRows } from './group-rows.ts'
import { additionOf, type LiveChangeText } from './live-change.ts'

export interface MissedOptions {
  readonly plan: FramePlan
  readonly list: FollowedList
  readonly settled: SettledKinds
  /** What the members of the group hold, which is what the changes are to lead to. */
  readonly rows: GroupRows
  readonly from: ResumePosition
}

/** So long, besides the time for which changes are gathered, a position is waited for that another replica has been to. */
export const reachMs = 2_000

/** A snapshot has no more changes than there are objects; one of those is as good as so many more. */
const changesBeyondSnapshot = 100

/**
 * What a subscriber has to be told who held the list at a position, so that it holds what the members of a group do now;
 * `undefined` where that is not known, or more than a snapshot. What it held before is worked out of the changes since; where that
 * cannot be done, a change may be told again, and a removal of what it never held.
 */
export function missedByOne(options: MissedOptions): readonly LiveChangeText[] | undefined {
  const { plan, list, settled, rows, from } = options
  const { cluster } = list.at
  const [changes, ...related] = plan.kinds.map((kind) => {
    const position = from.positions[kind.typeName]
    if (position === undefined) return undefined
    return settled.history({ cluster, kind }).since(resourceVersion(position))
  })
  if (changes === undefined || related.includes(undefined)) return undefined
  const part = settled.part(list.at)
  const matched = objectTest(list.condition, list.at.kind.indexes)
  const told: LiveChangeText[] = []
  const first = new Map<string, Change>()
  for (const change of changes) if (!first.has(change.key)) first.set(change.key, change)
  for (const change of first.values()) {
    if (isInScope(part.scope, change.key)) told.push(...differences(change, part, rows, matched))
  }
  for (const key of relatedRows(plan, related, rows)) {
    const now = rows.toldOf(key)
    if (now === undefined || first.has(key)) continue
    told.push({ ...additionOf(now), type: 'MODIFIED' })
  }
  return told.length > rows.size + changesBeyondSnapshot ? undefined : told
}

/** What is to be told of an object of which this was the first change that was missed. */
function differences(
  first: Change,
  part: KindPart,
  rows: GroupRows,
  matched: ObjectTest,
): readonly LiveChangeText[] {
  const { key, uid } = first
  const before = first.type === 'DELETED' ? first.object : first.previous
  const wasHeld =
    first.type !== 'ADDED' && (before === undefined ? undefined : matched(before)) !== false
  const now = rows.toldOf(key)
  if (now?.uid === uid) return [{ ...additionOf(now), type: wasHeld ? 'MODIFIED' : 'ADDED' }]
  const changes: LiveChangeText[] = []
  if (wasHeld) {
    const id = part.view.idOf(key)
    const isThere = id !== undefined && part.view.uidOf(id) === uid
    changes.push({
      key,
      type: 'REMOVED',
      removal: isThere ? 'UNMATCHED' : 'DELETED',
      objectId: rows.objectIdOf(part, { key, uid }),
      object: 'null',
      finalStateKnown: true,
    })
  }
  return now === undefined ? changes : [...changes, additionOf(now)]
}

/** The rows that were written from objects which have changed. */
function relatedRows(
  { kinds }: FramePlan,
  related: readonly (readonly Change[] | undefined)[],
  rows: GroupRows,
): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const [number, changes = []] of related.entries()) {
    const type = kinds[number + 1]?.typeName ?? ''
    if (changes.length === 0) continue
    if (rows.dependencies.isWide(type)) return new Set(rows.told().map(({ key }) => key))
    for (const { key } of changes) {
      for (const row of rows.dependencies.rowsOf(type, key)) keys.add(row)
    }
  }
  return keys
}

/** Whether who is at these positions has been told of all that leads to the wanted ones, as far as they can be compared. */
export function isReached(wanted: Positions, positions: Positions): boolean {
  return Object.entries(positions).every(([type, position]) => {
    const version = wanted[type]
    if (version === undefined || version === position) return true
    const order = compareResourceVersions(resourceVersion(version), resourceVersion(position))
    // Where there is no order, whether it has been passed is known by what has happened since.
    return order === undefined || order <= 0
  })
}

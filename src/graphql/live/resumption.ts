import type { Change } from '../../informer/store/change.ts'
import { compareResourceVersions, resourceVersion } from '../../kubernetes/resource-version.ts'
import { objectTest, type ObjectTest } from '../../query/condition/object-test.ts'
import { isInScope } from '../../query/condition/scope.ts'
import type { Kind } from '../model/kind.ts'
import type { FollowedList } from '../operation/followed-list.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import type { ResumePosition } from '../reads/resume-token.ts'
import type { Positions } from './frame-writer.ts'
import type { GroupContent } from './group-content.ts'
import type { GroupRows } from './group-rows.ts'
import { additionOf, type LiveChangeText, removalNow } from './live-change.ts'
import { affectedSince } from './affected-since.ts'

export interface MissedOptions {
  /** The kinds that are read, the followed one first. */
  readonly kinds: readonly Kind[]
  readonly list: FollowedList
  /** What of the followed kind may be seen. */
  readonly part: KindView
  readonly settled: ReadSnapshot
  /** What the members of the group hold, which is what the changes are to lead to. */
  readonly rows: GroupRows
  readonly from: ResumePosition
  /** Whether rows may have been written from kinds that are not read any more. */
  readonly mayHaveShownMore: boolean
}

/** So long, besides the time for which changes are gathered, a position is waited for that another replica has been to. */
export const reachMs = 2_000

/** A snapshot has no more changes than there are objects; one of those is as good as so many more. */
const changesBeyondSnapshot = 100

/** Of more rows a snapshot is told, which all who begin anew share, where all of them may have been written otherwise. */
const maxRowsAnew = 500

/**
 * What a subscriber has to be told who held the list at a position, so that it holds what the members of a group do now;
 * `undefined` where that is not known, or more than a snapshot. What it held is worked out of the changes since; where it may have
 * been told of some of them, a change may be told again, and a removal of what it does not hold.
 */
export function missedByOne(options: MissedOptions): readonly LiveChangeText[] | undefined {
  const { kinds, list, part, rows, from } = options
  const since = changesSince(options)
  const decided = affectedSince(list, options.settled, from.positions)
  if (since === undefined || decided === undefined) return undefined
  if (isAnyRow(since) && rows.size > maxRowsAnew) return undefined
  const { changes } = since
  const matched = objectTest(list.condition, list.at.kind.indexes)
  const told: LiveChangeText[] = []
  const byKey = Map.groupBy(changes, ({ key }) => key)
  for (const [key, ofKey] of byKey) {
    if (!isInScope(part.scope, key)) continue
    const held = heldBefore(ofKey, matched)
    const maybeHeld = from.isAhead ? matchedSince(ofKey, matched) : [held]
    const now = rows.toldOf(key)
    for (const uid of maybeHeld) {
      if (uid !== undefined && uid !== now?.uid) told.push(removalNow(part, { key, uid }))
    }
    if (now === undefined) continue
    told.push({ ...additionOf(now), type: now.uid === held ? 'MODIFIED' : 'ADDED' })
  }
  for (const key of relatedRows(kinds, since, rows)) {
    const now = rows.toldOf(key)
    if (now === undefined || byKey.has(key) || decided.has(key)) continue
    told.push({ ...additionOf(now), type: 'MODIFIED' })
  }
  for (const key of decided) {
    if (!byKey.has(key) && isInScope(part.scope, key)) told.push(...whereItIsNow(key, part, rows))
  }
  return told.length > rows.size + changesBeyondSnapshot ? undefined : told
}

/** What is to be told of a row that may have come to match, or match no more, since nobody knows which. */
function whereItIsNow(key: string, part: KindView, rows: GroupRows): readonly LiveChangeText[] {
  const now = rows.toldOf(key)
  if (now !== undefined) return [additionOf(now)]
  const id = part.view.idOf(key)
  if (id === undefined) return []
  return [removalNow(part, { key, uid: part.view.uidOf(id) })]
}

/** What has happened to the kinds that are read since a position; `undefined` where that is not known of the followed one. */
export function changesSince({
  kinds,
  list,
  settled,
  from,
  mayHaveShownMore,
}: Omit<MissedOptions, 'rows'>): ChangesSince | undefined {
  const { cluster } = list.at
  const [changes, ...related] = kinds.map((kind) => {
    const position = from.positions[kind.typeName]
    if (position === undefined) return undefined
    return settled.history({ cluster, kind }).since(resourceVersion(position))
  })
  return changes && { changes, related, mayHaveShownMore }
}

/** What has happened to the kind that is followed, and to those that its rows are written from besides. */
interface ChangesSince {
  readonly changes: readonly Change[]
  /** `undefined` where that is not known: nobody read it then, or it is too long ago. */
  readonly related: readonly (readonly Change[] | undefined)[]
  readonly mayHaveShownMore: boolean
}

/** The UID of the object that was there before these changes of one key, if that may have matched. */
function heldBefore(changes: readonly Change[], matched: ObjectTest): string | undefined {
  const [first] = changes
  if (first === undefined || first.type === 'ADDED') return undefined
  return matchedBefore(first, matched) ? first.uid : undefined
}

/** The UIDs of all objects that may have matched before these changes or since: a subscriber that is ahead may hold any of them. */
function matchedSince(changes: readonly Change[], matched: ObjectTest): readonly string[] {
  const mayMatch = changes.filter((change) => mayHaveMatched(change, matched))
  return [...new Set(mayMatch.map(({ uid }) => uid))]
}

/** Whether one of the states that a change is about may have matched. */
function mayHaveMatched(change: Change, matched: ObjectTest): boolean {
  return (
    matched(change.object) !== false || (change.type !== 'ADDED' && matchedBefore(change, matched))
  )
}

/** Whether the state before a change may have matched; where it is not known, it may. */
function matchedBefore(change: Change, matched: ObjectTest): boolean {
  const before = change.type === 'DELETED' ? change.object : change.previous
  return before === undefined || matched(before) !== false
}

/** Whether it is not known which rows have been written otherwise since. */
function isAnyRow({ related, mayHaveShownMore }: ChangesSince): boolean {
  return mayHaveShownMore || related.includes(undefined)
}

/** The rows that were written from objects which have changed: all of them where that is not known. */
export function relatedRows(
  kinds: readonly Kind[],
  since: ChangesSince,
  rows: Pick<GroupContent, 'dependencies' | 'keys'>,
): ReadonlySet<string> {
  if (isAnyRow(since)) return new Set(rows.keys())
  const keys = new Set<string>()
  for (const [number, changes = []] of [since.changes, ...since.related].entries()) {
    const type = kinds[number]?.typeName ?? ''
    if (changes.length === 0) continue
    if (rows.dependencies.isWide(type)) return new Set(rows.keys())
    for (const change of changes) {
      for (const row of rows.dependencies.concernedBy(type, change)) keys.add(row)
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

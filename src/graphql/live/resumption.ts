import { sleep } from '../../lib/backoff.ts'
import type { Change } from '../../informer/store/change.ts'
import {
  compareResourceVersions,
  readJointPosition,
  resourceVersion,
} from '../../kubernetes/resource-version.ts'
import { objectTest, type ObjectTest } from '../../query/condition/affected-rows.ts'
import { isInScope } from '../../query/condition/scope.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import { affectedRows } from './group-filter.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { Positions, ResumePosition } from '../reads/resume-token.ts'
import type { SentChange, SentListChange } from './frame-plan.ts'
import { Backlog } from './group-frames.ts'
import { additionOf, GroupRows, removalNow } from './group-rows.ts'
import type { LiveGroup } from './live-group.ts'

/** The wait for a position that another replica has reached, on top of the coalescing time. */
const reachMs = 2_000
/** A resumption may have this many more changes than a snapshot. */
const changesBeyondSnapshot = 100
/** If all rows may have changed and there are more than these, the subscriber starts again with the shared snapshot. */
const maxRowsAnew = 500

/**
 * The frames that lead a subscriber from `from` to the positions of the group's members; `undefined` if they are
 * unknown, or longer than a snapshot. Rejects if the followed kind cannot be read.
 */
export async function resumed(
  group: LiveGroup,
  from: ResumePosition,
): Promise<Backlog | undefined> {
  const { reading, content, writer, token } = group
  const { cluster, incarnation, list, access } = from
  if (cluster !== token.cluster || incarnation !== token.incarnation) return undefined
  if (list !== token.list || access !== token.access || reading.isNowhere) return undefined
  const snapshot = await reading.snapshot()
  // The histories reach back to the positions, or as far as they can.
  const ofRows = reading.readable(snapshot).map((at) => ({ position: at.kind.typeName, at }))
  const followed = [...ofRows, ...(group.list.filter?.kinds ?? [])]
  await Promise.all(
    followed.map(async ({ position, at }) => {
      const version = from.positions[position]
      if (version !== undefined) await snapshot.history(at).reach(resourceVersion(version))
    }),
  )
  if (!(await hasReached(group, from.positions))) return undefined
  // The rest runs in one tick.
  const { positions, isAhead } = group.changes
  const isBehind = isOfAnotherStore(from.positions, positions)
  const asked = isBehind ? { ...from, isAhead: true } : from
  const missed =
    content instanceof GroupRows ? missedOf(group, content, asked) : missedOfPage(group, asked)
  if (missed === undefined) return undefined
  const { page } = content
  const at = { before: from.positions, positions, isAhead, page }
  const frames = writer.frames(missed, { reset: false, ...at })
  return new Backlog(frames, { rows: missed.length, next: group.frames.next, positions })
}

/**
 * Whether a position is of another store of several namespaces. It says what its client holds of all namespaces; of
 * some, the client may hold more.
 */
function isOfAnotherStore(asked: Positions, own: Positions): boolean {
  return Object.entries(asked).some(([type, position]) => {
    const { store } = readJointPosition(position) ?? {}
    return store !== undefined && store !== readJointPosition(own[type] ?? '')?.store
  })
}

/** Waits until the group has sent its members everything up to a position. Returns false at the deadline. */
async function hasReached(group: LiveGroup, wanted: Positions): Promise<boolean> {
  const { coalesceMs, leaving } = group
  const deadlineMs = performance.now() + 2 * coalesceMs + reachMs
  while (!isReached(wanted, group.changes.positions)) {
    if (leaving.aborted || performance.now() > deadlineMs) return false
    // oxlint-disable-next-line no-await-in-loop -- looks again and again
    await sleep(10, leaving)
  }
  return !leaving.aborted
}

/** Whether `positions` have reached the wanted positions, as far as the two compare. */
function isReached(wanted: Positions, positions: Positions): boolean {
  return Object.entries(positions).every(([type, position]) => {
    const version = wanted[type]
    if (version === undefined || version === position) return true
    const order = compareResourceVersions(resourceVersion(version), resourceVersion(position))
    // Without an order, the history decides later.
    return order === undefined || order <= 0
  })
}

/** No changes if the page is the same; `undefined` if the server must send the page again. */
function missedOfPage(group: LiveGroup, from: ResumePosition): readonly SentChange[] | undefined {
  const since = changesSince(group, from)
  if (from.isAhead || since === undefined || since.isAnyRow) return undefined
  const isSame = [since.changes, ...since.related].every((changes) => changes?.length === 0)
  if (!isSame || affectedSince(group, from)?.size !== 0) return undefined
  return []
}

/**
 * The changes for a subscriber that held a list at a position. The changes since then tell which objects it held. If it
 * has already received some of them, it may receive a change again, and the removal of an object that it does not hold.
 */
function missedOf(
  group: LiveGroup,
  rows: GroupRows,
  from: ResumePosition,
): readonly SentListChange[] | undefined {
  const { list, reading } = group
  const since = changesSince(group, from)
  const affected = affectedSince(group, from)
  if (since === undefined || affected === undefined) return undefined
  if (since.isAnyRow && rows.size > maxRowsAnew) return undefined
  const part = reading.followed()
  const matched = objectTest(list.condition, list.at.kind.indexes)
  const missed: SentListChange[] = []
  const byKey = Map.groupBy(since.changes, ({ key }) => key)
  for (const [key, ofKey] of byKey) {
    if (!isInScope(part.scope, key)) continue
    const held = heldBefore(ofKey, matched)
    const maybeHeld = from.isAhead ? matchedSince(ofKey, matched) : [held]
    const now = rows.sentOf(key)
    for (const uid of maybeHeld) {
      if (uid !== undefined && uid !== now?.uid) missed.push(removalNow(part, { key, uid }))
    }
    if (now === undefined) continue
    missed.push({ ...additionOf(now), type: now.uid === held ? 'MODIFIED' : 'ADDED' })
  }
  for (const key of rowsWrittenFrom(since, group)) {
    const now = rows.sentOf(key)
    if (now === undefined || byKey.has(key) || affected.has(key)) continue
    missed.push({ ...additionOf(now), type: 'MODIFIED' })
  }
  for (const key of affected) {
    if (!byKey.has(key) && isInScope(part.scope, key)) missed.push(...asItIsNow(key, part, rows))
  }
  return missed.length > rows.size + changesBeyondSnapshot ? undefined : missed
}

/** The change for a row that may or may not have matched before: its current state, or its removal. */
function asItIsNow(key: string, part: KindView, rows: GroupRows): readonly SentListChange[] {
  const now = rows.sentOf(key)
  if (now !== undefined) return [additionOf(now)]
  const id = part.view.idOf(key)
  if (id === undefined) return []
  return [removalNow(part, { key, uid: part.view.uidOf(id) })]
}

/** The changes of the followed kind and of the other kinds that its rows read, in the order of the needs. */
interface ChangesSince {
  readonly changes: readonly Change[]
  /** `undefined` if unknown: the kind was not read then, or the position is too old. */
  readonly related: readonly (readonly Change[] | undefined)[]
  /** Whether any row may have a different text since. */
  readonly isAnyRow: boolean
}

/** The changes of the kinds that the group reads since a position; `undefined` if unknown for the followed kind. */
function changesSince(
  { reading, list, options }: LiveGroup,
  { positions }: ResumePosition,
): ChangesSince | undefined {
  const snapshot = reading.now()
  const readable = new Set(reading.readable(snapshot))
  const [changes, ...related] = reading.needs.map((at) => {
    const position = positions[at.kind.typeName]
    if (position === undefined || !readable.has(at)) return undefined
    return snapshot.history(at).since(resourceVersion(position))
  })
  if (changes === undefined) return undefined
  // Rows may have shown objects of a kind that the group does not follow. The subscriber needs them without those.
  const names = new Set([
    ...reading.needs.map(({ kind }) => kind.typeName),
    ...(list.filter?.kinds ?? []).map(({ position }) => position),
  ])
  const mayHaveShownMore =
    reading.looksAround && Object.keys(positions).some((name) => !names.has(name))
  const isAnyRow =
    options.onlyViewer !== undefined || mayHaveShownMore || related.includes(undefined)
  return { changes, related, isAnyRow }
}

/** The rows that read changed objects; all rows if this is unknown. */
function rowsWrittenFrom(
  { changes, related, isAnyRow }: ChangesSince,
  { reading, content }: LiveGroup,
): Iterable<string> {
  if (isAnyRow) return content.keys()
  const keys = new Set<string>()
  for (const [number, ofKind = []] of [changes, ...related].entries()) {
    const type = reading.needs[number]?.kind.typeName ?? ''
    if (ofKind.length === 0) continue
    if (content.dependencies.isWide(type)) return content.keys()
    for (const change of ofKind) {
      for (const row of content.dependencies.affectedBy(type, change)) keys.add(row)
    }
  }
  return keys
}

/**
 * The rows that may have started or stopped matching since a position, because objects that the filter reads have
 * changed; `undefined` if the rows are unknown or too many.
 */
function affectedSince(
  { list, reading }: LiveGroup,
  { positions }: ResumePosition,
): ReadonlySet<string> | undefined {
  const rows = new Set<string>()
  const { filter, at, needs } = list
  if (filter === undefined) return rows
  const snapshot = reading.now()
  const views = new Map(
    [at, ...needs].map((need) => [need.kind.typeName, snapshot.part(need).view]),
  )
  const viewOf = (type: string): StoreView => {
    const found = views.get(type)
    if (found === undefined) throw new TypeError(`${type} is not followed`)
    return found
  }
  const budget = new WorkBudget()
  for (const { position: name, at: filtering } of filter.kinds) {
    const position = positions[name]
    const history = snapshot.history(filtering)
    const changes = position === undefined ? undefined : history.since(resourceVersion(position))
    if (changes === undefined) return undefined
    const keys = affectedRows(filter, filtering.kind.typeName, changes, viewOf, budget)
    if (keys === undefined) return undefined
    for (const key of keys) rows.add(key)
  }
  return rows
}

/** The UID of the object before these changes of one key, if it may have matched. */
function heldBefore(changes: readonly Change[], matched: ObjectTest): string | undefined {
  const [first] = changes
  if (first === undefined || first.type === 'ADDED') return undefined
  return matchedBefore(first, matched) ? first.uid : undefined
}

/**
 * The UIDs of all objects that may have matched before or after any of these changes. A subscriber that is ahead may
 * hold each.
 */
function matchedSince(changes: readonly Change[], matched: ObjectTest): readonly string[] {
  const mayMatch = changes.filter((change) => mayHaveMatched(change, matched))
  return [...new Set(mayMatch.map(({ uid }) => uid))]
}

/** Whether the state before or after a change may have matched. */
function mayHaveMatched(change: Change, matched: ObjectTest): boolean {
  return (
    matched(change.object) !== false || (change.type !== 'ADDED' && matchedBefore(change, matched))
  )
}

/** Whether the state before a change may have matched. An unknown state may. */
function matchedBefore(change: Change, matched: ObjectTest): boolean {
  const before = change.type === 'DELETED' ? change.object : change.previous
  return before === undefined || matched(before) !== false
}

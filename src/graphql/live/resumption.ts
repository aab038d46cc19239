/*
 * The changes that a subscriber missed, who comes back with a resume token (`resumed`). The token holds the position of
 * each kind that the rows were written from. The changes since then are read from the caches or from a watch. Then,
 * within one tick, the rows that the subscriber held, by these changes, are compared with the rows that the group's
 * members hold now. Where this is uncertain, a change may be sent twice, but none is left out. A page is unchanged, or is
 * sent again.
 */

import { sleep } from '../../lib/backoff.ts'
import type { Change } from '../../informer/store/change.ts'
import {
  compareResourceVersions,
  resourceVersion,
  type ResourceVersion,
} from '../../kubernetes/resource-version.ts'
import { objectTest, type ObjectTest } from '../../query/condition/affected-rows.ts'
import { isInScope } from '../../query/condition/scope.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import type { ReadSnapshot } from '../prepare/preparation.ts'
import type { Positions, ResumePosition } from '../reads/resume-token.ts'
import type { SentChange, SentListChange } from './frame-plan.ts'
import { CatchUpFrames, type GroupPositions, type GroupState } from './group/group-frames.ts'
import { affectedRows, viewIn } from './followed-list.ts'
import type { GroupList } from './group/group-list.ts'
import { additionOf, GroupRows, type ListRows, removalNow } from './group/group-rows.ts'
import type { LiveGroup } from './group/live-group.ts'

/** The wait for a position that another replica has reached, on top of the coalescing time. */
const reachMs = 2_000
/** A resumption may have this many more changes than a snapshot. */
const changesBeyondSnapshot = 100
/** If all rows may have changed and there are more than this, the subscriber starts again with the shared snapshot. */
const maxRowsAnew = 500

/**
 * The frames that lead a subscriber from `from` to the positions of the group's members; `undefined` if they are
 * unknown, or longer than a snapshot. Rejects if a followed kind cannot be read.
 */
export async function resumed(
  group: LiveGroup,
  from: ResumePosition,
): Promise<CatchUpFrames | undefined> {
  const { state, content } = group
  const { lists, token } = state
  const { incarnation, list, access } = from
  if (incarnation !== token.incarnation) return undefined
  if (list !== token.list || access !== token.access || lists.length === 0) return undefined
  const asked = state.positionsOf(from.positions)
  // Loads the changes since then. The histories reach back to the positions, or as far as they can.
  await Promise.all(
    lists.map(async (one) => {
      const positions = asked.get(one)
      if (!one.isFollowing || positions === undefined) return
      const histories = historiesOf(one, await one.reading.snapshot(), positions)
      await Promise.all(histories.map(({ history, from: at }) => history.reach(at)))
    }),
  )
  if (!(await hasReached(state, asked))) return undefined
  // The rest runs in one tick.
  if (list !== state.token.list || incarnation !== state.token.incarnation) return undefined
  const { failures } = state
  const positions = state.reachPresent()
  const isAhead = state.isAheadOf(positions)
  // A joint position of another store covers all namespaces together. The client may hold more of some namespaces.
  const isBehind = Array.from(asked).some(
    ([one, ofList]) =>
      one.isFollowing &&
      historiesOf(one, one.reading.now(), ofList).some(
        ({ history, from: at }) => !history.isExact(at),
      ),
  )
  // Rows that changed after the positions come with the next frame, unless they are written already.
  const until: GroupPositions = isAhead ? new Map() : positions
  const missed = missedBy(group, { positions: asked, isAhead: isBehind || from.isAhead, until })
  if (missed === undefined) return undefined
  const { page } = content
  const at = { before: asked, positions, isAhead, page, failures }
  const frames = group.members.frames.written(missed, { reset: false, ...at })
  return new CatchUpFrames(frames, {
    rows: missed.length,
    next: group.members.frames.next,
    positions,
  })
}

/** The histories of the kinds that a list reads, each with the position to go on from. */
function historiesOf(
  { reading, list }: GroupList,
  snapshot: ReadSnapshot,
  positions: Positions,
): readonly {
  readonly history: ReturnType<ReadSnapshot['history']>
  readonly from: ResourceVersion
}[] {
  const ofRows = reading.readable(snapshot).map((at) => ({ position: at.kind.typeName, at }))
  return [...ofRows, ...(list.filter?.kinds ?? [])].flatMap(({ position, at }) => {
    const version = positions[position]
    if (version === undefined) return []
    return [{ history: snapshot.history(at), from: resourceVersion(version) }]
  })
}

/** The changes of all lists for a subscriber that held them at a position; `undefined` if unknown or too many. */
function missedBy(
  { state: { lists, onlyViewer }, content }: LiveGroup,
  from: {
    readonly positions: GroupPositions
    readonly until: GroupPositions
    readonly isAhead: boolean
  },
): readonly SentChange[] | undefined {
  const isList = content instanceof GroupRows && content.isList
  let rows = 0
  const missed: SentChange[] = []
  for (const list of lists) {
    const positions = from.positions.get(list) ?? {}
    const seen = { positions, until: from.until.get(list) ?? {}, isAhead: from.isAhead }
    const hasSeen = positions[list.at.kind.typeName] !== undefined
    if (!list.isFollowing) {
      // The subscriber may hold rows of the list that the group does not have.
      if (hasSeen) return undefined
      continue
    }
    const ofRows = isList ? content.of(list) : undefined
    if (list.at.isOptional === true && !hasSeen && ofRows !== undefined) {
      const added = ofRows.all()
      rows += added.length
      for (const change of added) missed.push(change)
      continue
    }
    const isOfViewer = onlyViewer !== undefined
    let ofList: readonly SentChange[] | undefined
    if (ofRows !== undefined) {
      rows += ofRows.size
      ofList = missedOf(list, ofRows, seen, isOfViewer)
    } else {
      // If the page may have changed, the server must send it again.
      const since = changesSince(list, seen, isOfViewer)
      if (seen.isAhead || since === undefined || since.isAnyRow) return undefined
      const isSame = [since.changes, ...since.related].every((changes) => changes?.length === 0)
      ofList = isSame && affectedSince(list, seen)?.size === 0 ? [] : undefined
    }
    if (ofList === undefined) return undefined
    for (const change of ofList) missed.push(change)
  }
  const isLong = isList && missed.length > rows + changesBeyondSnapshot
  return isLong ? undefined : missed
}

interface SeenUpTo extends Pick<ResumePosition, 'positions' | 'isAhead'> {
  /** The positions to lead the subscriber to. All recent changes count for a kind without one. */
  readonly until: Positions
}

/** Waits until the group has sent its members everything up to a position. Returns false at the deadline. */
async function hasReached(state: GroupState, wanted: GroupPositions): Promise<boolean> {
  const { leaving } = state
  const deadlineMs = performance.now() + 2 * state.wanted.coalesceMs + reachMs
  const isReached = (): boolean => {
    const positions = state.reachPresent()
    // Another cluster may have reached the same versions at the same address.
    if (!state.lists.every(({ isVerified }) => isVerified)) return false
    return Array.from(wanted).every(([list, ofList]) =>
      Object.entries(positions.get(list) ?? {}).every(([type, position]) => {
        const version = ofList[type]
        if (version === undefined || version === position) return true
        const order = compareResourceVersions(resourceVersion(version), resourceVersion(position))
        // Without an order, the history decides later.
        return order === undefined || order <= 0
      }),
    )
  }
  while (!isReached()) {
    if (leaving.aborted || performance.now() > deadlineMs) return false
    await sleep(10, leaving)
  }
  return !leaving.aborted
}

/**
 * The changes for a subscriber that held a list at a position. The changes since then tell which objects it held. If it
 * has already received some of them, it may receive a change again, and the removal of an object that it does not hold.
 */
function missedOf(
  groupList: GroupList,
  rows: ListRows,
  from: SeenUpTo,
  isOfViewer: boolean,
): readonly SentListChange[] | undefined {
  const { list, reading, dependencies } = groupList
  const since = changesSince(groupList, from, isOfViewer)
  const affected = affectedSince(groupList, from)
  if (since === undefined || affected === undefined) return undefined
  if (since.isAnyRow && rows.size > maxRowsAnew) return undefined
  const part = reading.followed()
  const matched = objectTest(list.condition, list.at.kind.indexes)
  const missed: SentListChange[] = []
  const byKey = Map.groupBy(since.changes, ({ key }) => key)
  for (const [key, ofKey] of byKey) {
    if (!isInScope(part.scope, key)) continue
    const [first] = ofKey
    const wasHeld = first !== undefined && first.type !== 'ADDED' && matchedBefore(first, matched)
    const held = wasHeld ? first.uid : undefined
    let maybeHeld: Iterable<string | undefined> = [held]
    if (from.isAhead) {
      // The subscriber may hold any object that may have matched before or after any of these changes.
      const mayMatch = ofKey.filter(
        (change) =>
          matched(change.object) !== false ||
          (change.type !== 'ADDED' && matchedBefore(change, matched)),
      )
      maybeHeld = new Set(mayMatch.map(({ uid }) => uid))
    }
    const now = rows.sentOf(key)
    for (const uid of maybeHeld) {
      if (uid !== undefined && uid !== now?.uid) missed.push(removalNow(part, { key, uid }))
    }
    if (now === undefined) continue
    missed.push({ ...additionOf(now), type: now.uid === held ? 'MODIFIED' : 'ADDED' })
  }
  // The rows that read changed objects; all rows if they are unknown.
  let rewritten: Iterable<string> = rows.keys()
  const read = reading.needs.map(({ kind }) => kind.typeName)
  const changed = [since.changes, ...since.related].map((ofKind = [], at) => {
    return { type: read[at] ?? '', changes: ofKind }
  })
  const isWide = changed.some(
    ({ type, changes }) => changes.length > 0 && dependencies.isWide(type),
  )
  if (!since.isAnyRow && !isWide) {
    rewritten = new Set(
      changed.flatMap(({ type, changes }) =>
        changes.flatMap((change) => [...dependencies.affectedBy(type, change)]),
      ),
    )
  }
  for (const key of rewritten) {
    const now = rows.sentOf(key)
    if (now === undefined || byKey.has(key) || affected.has(key)) continue
    missed.push({ ...additionOf(now), type: 'MODIFIED' })
  }
  for (const key of affected) {
    if (byKey.has(key) || !isInScope(part.scope, key)) continue
    // The row may have matched before or not: sends its current state, or its removal.
    const now = rows.sentOf(key)
    const id = part.view.idOf(key)
    if (now !== undefined) missed.push(additionOf(now))
    else if (id !== undefined) missed.push(removalNow(part, { key, uid: part.view.uidOf(id) }))
  }
  return missed
}

/** The changes of the followed kind and of the other kinds that its rows read, in the order of the needs. */
interface ChangesSince {
  readonly changes: readonly Change[]
  /** `undefined` if unknown: the kind was not read then, or the position is too old. */
  readonly related: readonly (readonly Change[] | undefined)[]
  /** Whether any row may have a different text since. */
  readonly isAnyRow: boolean
}

/** The changes of the kinds that a list reads since a position; `undefined` if unknown for the followed kind. */
function changesSince(
  { reading, list }: GroupList,
  { positions, until }: SeenUpTo,
  isOfViewer: boolean,
): ChangesSince | undefined {
  const snapshot = reading.now()
  const readable = new Set(reading.readable(snapshot))
  const [changes, ...related] = reading.needs.map((at) => {
    const position = positions[at.kind.typeName]
    if (position === undefined || !readable.has(at)) return undefined
    return changesAfter(snapshot.history(at), at.kind.typeName, { positions, until })
  })
  if (changes === undefined) return undefined
  // Rows may have shown objects of a kind that the group does not follow. The subscriber needs them without those objects.
  const names = new Set([
    ...reading.needs.map(({ kind }) => kind.typeName),
    ...(list.filter?.kinds ?? []).map(({ position }) => position),
  ])
  const mayHaveShownMore =
    reading.looksAround && Object.keys(positions).some((name) => !names.has(name))
  const isAnyRow = isOfViewer || mayHaveShownMore || related.includes(undefined)
  return { changes, related, isAnyRow }
}

/** The changes of the kind of a position; `undefined` if there is no position, or it is too old. */
function changesAfter(
  history: ReturnType<ReadSnapshot['history']>,
  name: string,
  { positions, until }: Pick<SeenUpTo, 'positions' | 'until'>,
): readonly Change[] | undefined {
  const [from, to] = [positions[name], until[name]]
  if (from === undefined) return undefined
  return history.since(resourceVersion(from), to === undefined ? to : resourceVersion(to))
}

/**
 * The rows that may have started or stopped matching since a position, because objects that the filter reads have
 * changed; `undefined` if the rows are unknown or too many.
 */
function affectedSince(
  { list, reading }: GroupList,
  { positions, until }: SeenUpTo,
): ReadonlySet<string> | undefined {
  const rows = new Set<string>()
  const { filter, at, needs } = list
  if (filter === undefined) return rows
  const snapshot = reading.now()
  const views = new Map(
    [at, ...needs].map((need) => [need.kind.typeName, snapshot.part(need).view]),
  )
  const viewOf = (type: string): StoreView => viewIn(views, type)
  const budget = new WorkBudget()
  for (const { position: name, at: filtering } of filter.kinds) {
    const changes = changesAfter(snapshot.history(filtering), name, { positions, until })
    if (changes === undefined) return undefined
    const keys = affectedRows(filter, filtering.kind.typeName, changes, viewOf, budget)
    if (keys === undefined) return undefined
    for (const key of keys) rows.add(key)
  }
  return rows
}

/** Whether the state before a change may have matched. An unknown state may. */
function matchedBefore(change: Change, matched: ObjectTest): boolean {
  const before = change.type === 'DELETED' ? change.object : change.previous
  return before === undefined || matched(before) !== false
}

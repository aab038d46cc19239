/*
 * The frames of a group, and the members who take them. Changes become frames once for all members, in a ring of the last
 * frames (`GroupFrames.push`). A member (`GroupMember`) is a place in the ring. Before it reads the ring, it takes its
 * backlog: the snapshot, if the member is new or the ring has dropped its place; the changes since its resume token; or
 * the frames of the ring merged into fewer, if it is behind. The parts of a group know the group as `Group`.
 */

import { type GraphQLFormattedError, locatedError } from 'graphql'
import {
  boundedFormatted,
  type ClientError,
  clientResult,
  withoutTransportDetails,
} from '../../errors/client-error.ts'
import { FrameStream } from '../../../lib/frame-stream.ts'
import type { Kind } from '../../model/kind.ts'
import type { ByteHolder, NoRoomError } from '../../prepare/user-shares.ts'
import type { ViewerAccess } from '../../prepare/viewer-access.ts'
import type { PageState, SentChange } from '../frame-plan.ts'
import type { LiveCounts, LiveLimits } from '../live-limits.ts'
import type { GroupContent, GroupList } from './group-list.ts'
import type { GroupPositions, GroupState } from './group-state.ts'

/** The state of some frames: the last one leads to `positions`, those before it stay at `before`. */
export interface FramesAt {
  /** Whether the changes are a snapshot. Then only its last frame is synced. */
  readonly reset: boolean
  /** The positions of the tokens before the last frame; equal to `positions` if further frames lead there. */
  readonly before: GroupPositions
  readonly positions: GroupPositions
  /** Whether some rows were written in a state later than `positions`. */
  readonly isAhead: boolean
  readonly page: PageState | undefined
  /** The errors that the first of the frames reports. */
  readonly failures?: readonly ClientError[] | undefined
}

export interface WrittenFrame {
  readonly changes: readonly SentChange[]
  readonly payload: Buffer
  readonly positions: GroupPositions
  readonly isAhead: boolean
  /** Whether it reports other errors than the errors of rows. */
  readonly hasFailures: boolean
}

export interface BacklogEnd {
  readonly rows: number
  /** The number of the ring's frame that follows them. */
  readonly next: number
  readonly positions: GroupPositions
}

export interface FramePayload {
  /** UTF-8. */
  readonly payload: Buffer
  readonly rows: number
}

/** The approximate memory of one change besides its text, in a written or unwritten frame. */
const changeBytes = 100

/**
 * The frames that a member takes before it reads the ring: a snapshot, the changes since a resume token, or merged
 * frames. The frames of a snapshot are written when the first member takes them, and kept for the others.
 */
export class Backlog {
  readonly next: number
  readonly positions: GroupPositions
  /** Whether the members of the group share it. */
  readonly isSnapshot: boolean
  readonly #rows: number
  readonly #check: (() => NoRoomError | undefined) | undefined
  #unwritten: Iterator<WrittenFrame, void> | undefined
  #written: FramePayload[] = []
  #bytes = 0
  #problem: NoRoomError | undefined

  /** `check` returns the error if there is no room for a frame just written. Without it, all frames are written now. */
  constructor(
    frames: Iterator<WrittenFrame, void>,
    { rows, next, positions }: BacklogEnd,
    check?: () => NoRoomError | undefined,
  ) {
    this.#rows = rows
    this.next = next
    this.positions = positions
    this.isSnapshot = check !== undefined
    this.#unwritten = frames
    this.#check = check
    if (check === undefined) while (this.#unwritten !== undefined) this.#write(frames)
  }

  /** The memory of the written frames, and of the changes to write. */
  get bytes(): number {
    return this.#bytes + (this.#unwritten === undefined ? 0 : this.#rows * changeBytes)
  }

  /** The error if there was no room for the frames. It ends the members that have not taken all of them. */
  get problem(): NoRoomError | undefined {
    return this.#problem
  }

  frame(number: number): FramePayload | undefined {
    while (this.#written.length <= number && this.#unwritten !== undefined) {
      this.#write(this.#unwritten)
    }
    return this.#written[number]
  }

  /** Whether there is no frame with this number. False also if that is not known yet. */
  isRead(number: number): boolean {
    return this.#unwritten === undefined && this.#written.length <= number
  }

  #write(frames: Iterator<WrittenFrame, void>): void {
    const { value } = frames.next()
    if (value === undefined) {
      this.#unwritten = undefined
      return
    }
    const { payload, changes } = value
    this.#written.push({ payload, rows: changes.length })
    this.#bytes += payload.length
    this.#problem = this.#check?.()
    if (this.#problem !== undefined) this.empty()
  }

  empty(): void {
    this.#unwritten = undefined
    this.#written = []
    this.#bytes = 0
  }
}

/** Whether a member may receive frames now; the viewer's permissions decide. */
export interface MemberGate {
  readonly isOpen: boolean
}

/** Members that leave a group together: the members of one viewer, or the members without a viewer. */
export interface LeavingMembers {
  readonly access: ViewerAccess | undefined
  readonly members: ReadonlySet<GroupMember>
}

export interface Group extends ByteHolder {
  readonly state: GroupState
  readonly content: GroupContent
  readonly frames: GroupFrames
  readonly counts: LiveCounts
  /** Tells the members of new frames. */
  announce(): void
  /** The error if there is no room for so many more bytes. */
  roomProblem(bytes?: number): NoRoomError | undefined
  /** Called after writing some rows, which may change the memory that the group holds. */
  written(): void
  /** Called if the list must begin anew: its cluster was replaced, or it can read a further kind. */
  outdated(list: GroupList): void
  /** Called when an informer that the list reads has stopped. `undefined`: only its filter reads that informer. */
  stopped(list: GroupList, kind: Kind | undefined): void
  failed(error: unknown): void
  leave(member: GroupMember): void
  /**
   * Rewrites all rows after a change of the viewer's permissions. Resolves to whether it has: a failure ends the group
   * or moves its members. Never rejects.
   */
  rewrite(): Promise<boolean>
  /** Moves the members of a viewer to another group. Rejects if no group can take them. */
  regroup(leaving: LeavingMembers): Promise<void>
}

/** New members share a snapshot until this many frames have followed it, or until this much time has passed. */
const maxFramesSinceSnapshot = 16
const snapshotMs = 10_000
/** The number of places in the ring with merged frames. Each may cover the whole ring. */
const maxMergedPlaces = 4
/** How long merged frames are kept for other members. The next frame makes them useless, too. */
const mergedMs = 1_000

export class GroupFrames {
  readonly #group: Group
  readonly #limits: Pick<LiveLimits, 'maxFrames' | 'maxBytes'>
  readonly #ring: (WrittenFrame | undefined)[] = []
  #first = 0
  #next = 0
  #ringBytes = 0
  #ringChanges = 0
  #snapshot: Backlog | undefined
  /** All snapshots that members may still read. */
  #snapshots: WeakRef<Backlog>[] = []
  /** By place in the ring, with the positions of the members at that place. */
  readonly #merged = new Map<
    number,
    { readonly before: GroupPositions; readonly backlog: Backlog }
  >()
  #snapshotTimer: NodeJS.Timeout | undefined
  #mergedTimer: NodeJS.Timeout | undefined

  constructor(group: Group, limits: Pick<LiveLimits, 'maxFrames' | 'maxBytes'>) {
    this.#group = group
    this.#limits = limits
  }

  /** The number of the oldest frame in the ring, or of the next one if there is none. */
  get first(): number {
    return this.#first
  }

  get next(): number {
    return this.#next
  }

  /** The memory of the snapshots and of the ring, including the texts that its frames were made of. */
  get sharedBytes(): number {
    const snapshots = this.#snapshots.reduce((sum, ref) => sum + (ref.deref()?.bytes ?? 0), 0)
    return this.#ringBytes * 2 + this.#ringChanges * changeBytes + snapshots
  }

  /** The bytes of merged frames and of the members' own backlogs, each counted once. */
  bytesAhead(members: Iterable<{ readonly backlog: Backlog | undefined }>): number {
    const all = new Set(Array.from(this.#merged.values(), ({ backlog }) => backlog))
    return bytesAhead(members, all)
  }

  /**
   * Writes changes as frames within the limits, at least one, each when the caller takes it. Only the last frame has all
   * changes up to its positions, so the others keep the positions before.
   */
  *written(changes: readonly SentChange[], at: FramesAt): Generator<WrittenFrame, void> {
    const { wanted, limits } = this.#group.state
    const { plan } = wanted
    let { reset, failures } = at
    let fields = plan.changes.map((): string[] => [])
    let length = 0
    let start = 0
    for (const [number, change] of changes.entries()) {
      const texts = plan.changes.map((write) => write(change))
      const more = texts.reduce((sum, text) => sum + text.length + 1, 0)
      const isFull =
        number - start >= limits.maxFrameObjects || length + more > limits.maxFrameBytes
      if (number > start && isFull) {
        const within = { reset, synced: !at.reset, positions: at.before, isAhead: true }
        yield this.#frame(changes.slice(start, number), fields, { ...at, ...within, failures })
        reset = false
        failures = undefined
        fields = plan.changes.map(() => [])
        ;[length, start] = [0, number]
      }
      for (const [field, text] of texts.entries()) fields[field]?.push(text)
      length += more
    }
    // Within a change, a page has several states at one position.
    const isAhead = at.isAhead || at.positions === at.before
    const last = { ...at, reset, failures, synced: true, isAhead }
    yield this.#frame(changes.slice(start), fields, last)
  }

  #frame(
    changes: readonly SentChange[],
    fields: readonly (readonly string[])[],
    {
      reset,
      synced,
      positions,
      isAhead,
      page,
      failures = [],
    }: FramesAt & { readonly synced: boolean },
  ): WrittenFrame {
    const { state } = this.#group
    const { plan } = state.wanted
    const { key } = plan
    const located = failures.map((error) => locatedError(error, undefined, [key]))
    const ofFrame = clientResult({ data: null, errors: located }).errors
    const ofRows = changes.flatMap((change, at) => {
      if (change.errors === '') return none
      return (JSON.parse(change.errors) as readonly GraphQLFormattedError[]).map((error) => {
        const [field = '', ...rest] = error.path ?? []
        return { ...error, path: [key, field, at, ...rest] }
      })
    })
    const errors = [...ofFrame.map((error) => withoutTransportDetails(error).toJSON()), ...ofRows]
    const payload = plan.payload({
      reset,
      synced,
      totalCount: page?.totalCount,
      counts: page?.counts ?? [],
      // Getters, because most subscribers do not select these fields.
      get lookedAt() {
        return state.lookedAt().lookedAt
      },
      get notLookedAt() {
        return state.lookedAt().notLookedAt
      },
      get complete() {
        return state.lookedAt().notLookedAt.length === 0
      },
      get resumeToken() {
        return state.tokenAt(positions, isAhead)
      },
      facets: page?.facets,
      changes: fields.map((texts) => `[${texts.join(',')}]`),
      resourceVersion: state.versionAt(positions),
      staleSince: state.staleSince,
      incomplete: state.gaps,
      errors: errors.length === 0 ? undefined : JSON.stringify(boundedFormatted(errors)),
      explained: state.explanation(),
    })
    // A buffer with its own memory: a slice of the shared pool would keep the whole pool in memory.
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(payload))
    bytes.write(payload)
    return { changes, payload: bytes, positions, isAhead, hasFailures: failures.length > 0 }
  }

  push(frame: WrittenFrame): void {
    const { maxFrames, maxBytes } = this.#limits
    if (this.#next - this.#first === maxFrames) this.#drop()
    this.#ring[this.#next % maxFrames] = frame
    this.#next += 1
    this.#ringBytes += frame.payload.length
    this.#ringChanges += frame.changes.length
    const { counts } = this.#group
    counts.written += 1
    counts.writtenBytes += frame.payload.length
    // The newest frame stays, however large: frames are bounded.
    while (this.#ringBytes > maxBytes && this.#next - this.#first > 1) this.#drop()
    this.#merged.clear()
  }

  /** A frame of the ring; `undefined` if it was dropped or does not exist yet. */
  get(number: number): WrittenFrame | undefined {
    if (number < this.#first || number >= this.#next) return undefined
    return this.#ring[number % this.#limits.maxFrames]
  }

  /** All rows as frames. The snapshot may be some frames old. */
  snapshot(): Backlog {
    this.dropSnapshots()
    if (this.#snapshot !== undefined) return this.#snapshot
    const { content, state } = this.#group
    const { failures } = state
    const positions = state.reachPresent()
    const isAhead = state.isAheadOf(positions)
    const changes = content.all()
    const at = { reset: true, before: new Map(), positions, isAhead, page: content.page, failures }
    const end = { rows: changes.length, next: this.#next, positions }
    const frames = this.written(changes, at)
    const snapshot = new Backlog(frames, end, () => this.#group.roomProblem())
    this.#snapshot = snapshot
    const reference = new WeakRef(snapshot)
    this.#snapshots.push(reference)
    clearTimeout(this.#snapshotTimer)
    this.#snapshotTimer = setTimeout(() => {
      if (this.#snapshot === reference.deref()) this.renewSnapshot()
      this.dropSnapshots()
    }, snapshotMs).unref()
    return snapshot
  }

  renewSnapshot(): void {
    this.#snapshot = undefined
  }

  /**
   * Drops the snapshot for new members if many frames have followed it. Empties the snapshots that no frame of the ring
   * follows, even if a member has stopped in the middle of one.
   */
  dropSnapshots(): void {
    const first = this.#first
    const snapshot = this.#snapshot
    if (snapshot !== undefined) {
      const isFarBehind = this.#next - snapshot.next > maxFramesSinceSnapshot
      const isUseless = snapshot.next < first || snapshot.problem !== undefined
      if (isFarBehind || isUseless) this.renewSnapshot()
    }
    if (this.#snapshots.length === 0) return
    this.#snapshots = this.#snapshots.filter((reference) => {
      const read = reference.deref()
      if (read === undefined || read.next >= first) return read !== undefined
      read.empty()
      return false
    })
  }

  /** Drops the frames that neither a member nor a new member needs. */
  dropRead(members: Iterable<{ readonly place: number }>): void {
    let needed = this.#snapshot?.next ?? this.#next
    for (const { place } of members) {
      needed = Math.min(needed, place)
      if (needed <= this.#first) return
    }
    while (this.#first < needed) this.#drop()
  }

  close(): void {
    clearTimeout(this.#snapshotTimer)
    clearTimeout(this.#mergedTimer)
  }

  dropAll(): void {
    while (this.#first < this.#next) this.#drop()
    this.dropSnapshots()
  }

  /**
   * The frames from a place in the ring to its end as fewer frames, for a member at the positions `before`. All members
   * at the place share them, because load that delays one reader delays all. `undefined` if there is no room.
   */
  merged(place: number, before: GroupPositions): Backlog | undefined {
    const known = this.#merged.get(place)
    if (known?.before === before) return known.backlog
    const backlog = this.#merge(place, before)
    if (backlog.bytes > 0 && this.#group.roomProblem(backlog.bytes) !== undefined) return undefined
    if (known !== undefined || this.#merged.size < maxMergedPlaces) {
      this.#merged.set(place, { before, backlog })
      clearTimeout(this.#mergedTimer)
      this.#mergedTimer = setTimeout(() => this.#merged.clear(), mergedMs).unref()
    }
    return backlog
  }

  #merge(place: number, before: GroupPositions): Backlog {
    const { content, state } = this.#group
    const changes = []
    let hasFailures = false
    let positions = before
    let isAhead = true
    let isStalenessTold = false
    for (let number = place; number < this.#next; number += 1) {
      const frame = this.get(number)
      if (frame === undefined) continue
      ;({ positions, isAhead } = frame)
      hasFailures ||= frame.hasFailures
      isStalenessTold ||= frame.changes.length === 0
      for (const change of frame.changes) changes.push(change)
    }
    const { page } = content
    const merged = content.merged(changes)
    // A frame of a list without changes says that its caches have become stale, or are in step again.
    const isNothing = merged.length === 0 && page === undefined && !isStalenessTold
    const failures = hasFailures ? state.failures : undefined
    const at = { reset: false, before, positions, isAhead, page, failures }
    const frames = isNothing ? [].values() : this.written(merged, at)
    return new Backlog(frames, { rows: merged.length, next: this.#next, positions })
  }

  #drop(): void {
    const at = this.#first % this.#limits.maxFrames
    this.#ringBytes -= this.#ring[at]?.payload.length ?? 0
    this.#ringChanges -= this.#ring[at]?.changes.length ?? 0
    this.#ring[at] = undefined
    this.#first += 1
  }
}

/** The bytes of the members' own backlogs, each counted once. */
export function bytesAhead(
  members: Iterable<{ readonly backlog: Backlog | undefined }>,
  all: Set<Backlog> = new Set(),
): number {
  for (const { backlog } of members) {
    if (backlog !== undefined && !backlog.isSnapshot) all.add(backlog)
  }
  let sum = 0
  for (const { bytes } of all) sum += bytes
  return sum
}

const none: readonly GraphQLFormattedError[] = []

/**
 * A member that is more frames behind receives one merged frame, written once for all members at its place. Separate
 * frames would cost each member more messages, and add to the load that made it fall behind.
 */
const maxFramesBehind = 2

/**
 * One subscriber of a group: only a place in the group's ring while it keeps up. The transport takes a frame when it has
 * room.
 */
export class GroupMember extends FrameStream {
  #group: Group
  #gate: MemberGate | undefined
  /** The frames to take before the ring is read. */
  #backlog: Backlog | undefined
  #taken = 0
  #next = 0
  #positions: GroupPositions = new Map()
  #rows = 0

  /** Starts with a snapshot, or with frames that lead from a resume token to a place in the ring. */
  constructor(group: Group, backlog: Backlog, gate: MemberGate | undefined) {
    super()
    this.#group = group
    this.#gate = gate
    this.#begin(backlog)
  }

  get backlog(): Backlog | undefined {
    return this.#backlog
  }

  get gate(): MemberGate | undefined {
    return this.#gate
  }

  override get rows(): number {
    return this.#rows
  }

  /** The number of the first ring frame that the member may still take. */
  get place(): number {
    return this.#next
  }

  get isBehind(): boolean {
    return this.#backlog !== undefined || this.#next < this.#group.frames.next
  }

  /** The payload of the next frame, UTF-8; `undefined` if there is none yet or the subscription has ended. */
  take(): Buffer | undefined {
    if (this.isClosed || this.#gate?.isOpen === false) return undefined
    if (this.#next < this.#group.frames.first) this.beginAnew()
    const frame = this.#nextOfBacklog() ?? this.#nextOfRing()
    if (frame !== undefined) this.#group.counts.frames += 1
    return frame
  }

  #nextOfBacklog(): Buffer | undefined {
    const backlog = this.#backlog
    const frame = backlog?.frame(this.#taken)
    this.#rows += frame?.rows ?? 0
    this.#taken += 1
    if (backlog?.isRead(this.#taken) === true) this.#backlog = undefined
    if (frame === undefined && backlog?.problem !== undefined) {
      this.finish({ form: 'failed', errors: [backlog.problem] })
    }
    return frame?.payload
  }

  #nextOfRing(): Buffer | undefined {
    if (this.isClosed) return undefined
    const { frames, counts } = this.#group
    if (frames.next - this.#next > maxFramesBehind) {
      const merged = frames.merged(this.#next, this.#positions)
      if (merged === undefined) this.beginAnew()
      else {
        counts.merged += 1
        this.#begin(merged)
      }
      return this.#nextOfBacklog()
    }
    const frame = frames.get(this.#next)
    if (frame === undefined) return undefined
    this.#next += 1
    this.#positions = frame.positions
    this.#rows += frame.changes.length
    return frame.payload
  }

  /** Starts again with a snapshot and skips the unread frames. */
  beginAnew(): void {
    this.#group.counts.resets += 1
    this.#begin(this.#group.frames.snapshot())
  }

  #begin(backlog: Backlog): void {
    this.#backlog = backlog
    this.#taken = 0
    this.#next = backlog.next
    this.#positions = backlog.positions
  }

  move(group: Group, gate: MemberGate | undefined): void {
    this.#group.leave(this)
    this.#group = group
    this.#gate = gate
    this.#begin(group.frames.snapshot())
  }

  protected leave(): void {
    this.#backlog = undefined
    this.#group.leave(this)
  }
}

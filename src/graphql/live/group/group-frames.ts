import type { ClientError } from '../../errors/client-error.ts'
import type { Positions } from '../../reads/resume-token.ts'
import type { FrameWriter, WrittenFrame } from '../frame-writer.ts'
import type { GroupContent } from './group-list.ts'
import type { NoRoomError } from '../../prepare/held-bytes.ts'
import type { LiveCounts, LiveLimits } from '../live-limits.ts'

/** Where the frames of a backlog lead. */
export interface BacklogEnd {
  /** The number of their changes. */
  readonly rows: number
  /** The number of the ring's frame that follows them. */
  readonly next: number
  readonly positions: Positions
}

/** A frame as members take it. */
export interface FramePayload {
  /** UTF-8. */
  readonly payload: Buffer
  /** The number of its changes. */
  readonly rows: number
}

/** The memory of a change of a frame, or of a frame that is still to be written, about, besides its text. */
const changeBytes = 100

/**
 * The frames that a member takes before those of the ring: a snapshot, the changes since a resume token, or merged
 * frames. The frames of a snapshot are written when the first member takes them, and kept for the others.
 */
export class Backlog {
  readonly next: number
  readonly positions: Positions
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

  /** The error, if there was no room for its frames. It ends the members that have not taken them all. */
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

/** The parts of a group that its frames are made from. */
export interface FramedGroup {
  readonly content: Pick<GroupContent, 'all' | 'merged' | 'page'>
  readonly writer: FrameWriter
  readonly changes: {
    readonly positions: Positions
    readonly isAhead: boolean
    /** The errors that a new member gets. */
    readonly failures: readonly ClientError[]
  }
  readonly counts: Pick<LiveCounts, 'written' | 'writtenBytes'>
  /** The error if the group has no room for `bytes` more. */
  roomProblem(bytes?: number): NoRoomError | undefined
}

/** New members share a snapshot until this many frames have followed it, or until this much time has passed. */
const maxFramesSinceSnapshot = 16
const snapshotMs = 10_000
/** The number of places in the ring with merged frames. Each may cover the whole ring. */
const maxMergedPlaces = 4
/** How long merged frames are kept for other members. The next frame makes them useless, too. */
const mergedMs = 1_000

/**
 * The frames of a group: a ring of the last frames by number, the snapshot for new members, and merged frames for
 * members that are behind. The ring is bounded in frames and bytes. It drops the oldest frames, and a member that has
 * not read them starts again.
 */
export class GroupFrames {
  readonly #group: FramedGroup
  readonly #limits: Pick<LiveLimits, 'maxFrames' | 'maxBytes'>
  readonly #ring: (WrittenFrame | undefined)[] = []
  #first = 0
  #next = 0
  #ringBytes = 0
  #ringChanges = 0
  /** The snapshot for new members. */
  #snapshot: Backlog | undefined
  /** All snapshots that members may still read. */
  #snapshots: WeakRef<Backlog>[] = []
  /** By the place of the members, with the positions of the members that they are for. */
  readonly #merged = new Map<number, { readonly before: Positions; readonly backlog: Backlog }>()
  #snapshotTimer: NodeJS.Timeout | undefined
  #mergedTimer: NodeJS.Timeout | undefined

  constructor(group: FramedGroup, limits: Pick<LiveLimits, 'maxFrames' | 'maxBytes'>) {
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

  /** The memory of the ring, with the texts that its frames were made of, and of the snapshots. */
  get sharedBytes(): number {
    const snapshots = this.#snapshots.reduce((sum, ref) => sum + (ref.deref()?.bytes ?? 0), 0)
    return this.#ringBytes * 2 + this.#ringChanges * changeBytes + snapshots
  }

  /** The bytes of merged frames, and of the frames that members have for themselves, each counted once. */
  bytesAhead(members: Iterable<{ readonly backlog: Backlog | undefined }>): number {
    const all = new Set(Array.from(this.#merged.values(), ({ backlog }) => backlog))
    return bytesAhead(members, all)
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

  /** All rows as frames, which may be some frames old. */
  snapshot(): Backlog {
    this.dropSnapshots()
    if (this.#snapshot !== undefined) return this.#snapshot
    const { content, writer, changes: written } = this.#group
    const { positions, isAhead, failures } = written
    const changes = content.all()
    const at = { reset: true, before: {}, positions, isAhead, page: content.page, failures }
    const end = { rows: changes.length, next: this.#next, positions }
    const frames = writer.frames(changes, at)
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

  /** New members get a new snapshot. */
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

  /** Drops the frames that no member and no new member needs. */
  dropRead(members: Iterable<{ readonly place: number }>): void {
    let needed = this.#snapshot?.next ?? this.#next
    for (const { place } of members) {
      needed = Math.min(needed, place)
      if (needed <= this.#first) return
    }
    while (this.#first < needed) this.#drop()
  }

  /** The group has ended: no timer keeps it in memory. */
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
  merged(place: number, before: Positions): Backlog | undefined {
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

  #merge(place: number, before: Positions): Backlog {
    const { writer, content, changes: written } = this.#group
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
    const failures = hasFailures ? written.failures : undefined
    const at = { reset: false, before, positions, isAhead, page, failures }
    const frames = isNothing ? [].values() : writer.frames(merged, at)
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

/** The bytes of the frames that members have for themselves, each backlog counted once. */
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

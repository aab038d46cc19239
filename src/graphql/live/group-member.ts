import type { FrameRing } from './frame-ring.ts'
import type { Positions } from '../reads/resume-token.ts'
import type { WrittenFrame } from './frame-writer.ts'
import type { GroupSnapshot } from './group-snapshot.ts'

/** How a subscription has ended: the errors are its last message. */
export type StreamEnd =
  | { readonly form: 'complete' }
  | { readonly form: 'failed'; readonly errors: readonly unknown[] }

/** Merges the unread frames of a ring into fewer frames. */
export interface MergedReading {
  /**
   * The frames from a place in the ring, for a reader at these positions, to the end; `undefined` if there is no room.
   */
  from(place: number, positions: Positions): Resumption | undefined
}

/** The parts of a group that a member reads. */
export interface MemberGroup {
  readonly ring: FrameRing
  readonly merged: MergedReading
  readonly counts: MemberCounts
  snapshot(): GroupSnapshot
  leave(member: GroupMember): void
}

/** Whether a member may receive frames now; the viewer's permissions decide. */
export interface MemberGate {
  readonly isOpen: boolean
}

const alwaysOpen: MemberGate = { isOpen: true }

/** Counts of frames taken, and of readers that fell behind. */
export interface MemberCounts {
  /** Merges of several frames into one. */
  merged: number
  /** Readers that started again with a snapshot. */
  resets: number
  /** Frames that readers have taken. */
  frames: number
}

/**
 * A member that is more frames behind receives them merged. The merged frame is written once for all members at the
 * same place. Each separate frame costs each member one more message, which adds to the load that made them fall
 * behind.
 */
const maxFramesBehind = 2

/**
 * One subscriber of a group: only a place in the group's ring while it keeps up. The transport takes a frame when it
 * has room. A member that is some frames behind receives them merged. If the ring has dropped its place, it starts
 * again with a snapshot.
 */
export class GroupMember {
  #group: MemberGroup
  #gate: MemberGate
  #snapshot: GroupSnapshot | undefined
  /** The number of snapshot frames taken. */
  #taken = 0
  /** The number of the next frame. */
  #next: number
  #positions: Positions
  /** The frames to take before those of the ring. */
  #ahead: Resumption | undefined
  /** The number of frames taken from {@link #ahead}. */
  #takenAhead = 0
  #end: StreamEnd | undefined
  #isClosed = false
  #ready: () => void = () => {}
  #left: () => void = () => {}
  #rows = 0

  /** Starts with a snapshot, or with frames that lead to a place in the ring. */
  constructor(group: MemberGroup, from: GroupSnapshot | Resumption, gate: MemberGate = alwaysOpen) {
    this.#group = group
    this.#gate = gate
    this.#next = from.next
    this.#positions = from.positions
    this.#rows = from.rows
    if ('frame' in from) this.#snapshot = from
    else this.#ahead = from
  }

  /** How the subscription has ended. After `complete`, frames may remain to take. */
  get end(): StreamEnd | undefined {
    return this.#end
  }

  /** Whether the member takes no more frames because it has left or failed. */
  get isClosed(): boolean {
    return this.#isClosed || (this.#end !== undefined && this.#end.form !== 'complete')
  }

  /** The frames still to take besides those of the snapshot and the ring. */
  get ahead(): Resumption | undefined {
    return this.#ahead
  }

  /** The number of object changes sent. */
  get rows(): number {
    return this.#rows
  }

  /** Sets a callback for when the member closes. */
  onLeft(left: () => void): void {
    this.#left = left
  }

  /** Sets a callback for when there may be a frame to take, and for the end. */
  onReady(ready: () => void): void {
    this.#ready = ready
  }

  /** Called by the group when there may be a frame to take. */
  announce(): void {
    this.#ready()
  }

  /** Called by the group to end the subscription. */
  finish(end: StreamEnd): void {
    this.#end ??= end
    if (this.isClosed) this.#drop()
    this.#ready()
  }

  /** The payload of the next frame, UTF-8; `undefined` if there is none yet or the subscription has ended. */
  take(): Buffer | undefined {
    if (this.isClosed || !this.#gate.isOpen) return undefined
    const frame = this.#nextAhead() ?? this.#nextOfSnapshot() ?? this.#nextOfRing()
    if (frame !== undefined) this.#group.counts.frames += 1
    return frame
  }

  #nextAhead(): Buffer | undefined {
    const { frames = [] } = this.#ahead ?? {}
    const frame = frames[this.#takenAhead]
    this.#takenAhead += 1
    if (this.#takenAhead >= frames.length) this.#goOn(undefined)
    return frame
  }

  #nextOfSnapshot(): Buffer | undefined {
    if (this.#next < this.#group.ring.first) this.beginAnew()
    const snapshot = this.#snapshot
    const frame = snapshot?.frame(this.#taken)
    this.#taken += 1
    if (frame !== undefined) return frame
    this.#snapshot = undefined
    if (snapshot?.problem !== undefined) this.finish({ form: 'failed', errors: [snapshot.problem] })
    return undefined
  }

  #nextOfRing(): Buffer | undefined {
    if (this.isClosed) return undefined
    const { ring } = this.#group
    if (ring.next - this.#next > maxFramesBehind) return this.#merged()
    const frame = ring.get(this.#next)
    if (frame === undefined) return undefined
    this.#next += 1
    this.#positions = frame.positions
    this.#rows += frame.changes.length
    return frame.payload
  }

  /** The number of the first ring frame that the member may still take. */
  get place(): number {
    return this.#next
  }

  /** Whether the group has frames that the member has not taken. */
  get isBehind(): boolean {
    if (this.#snapshot !== undefined || this.#ahead !== undefined) return true
    return this.#next < this.#group.ring.next
  }

  /** Leaves the group and starts again in another group. */
  move(group: MemberGroup, gate: MemberGate = alwaysOpen): void {
    this.#group.leave(this)
    this.#group = group
    this.#gate = gate
    this.#begin(group.snapshot())
  }

  /** Leaves the group. The member takes no more frames. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#end ??= { form: 'complete' }
    this.#drop()
    this.#group.leave(this)
    this.#ready()
    this.#left()
  }

  #drop(): void {
    this.#snapshot = undefined
    this.#goOn(undefined)
  }

  #goOn(ahead: Resumption | undefined): void {
    this.#ahead = ahead
    this.#takenAhead = 0
  }

  /** Starts again with a snapshot and skips the unread frames. */
  beginAnew(): void {
    this.#group.counts.resets += 1
    this.#begin(this.#group.snapshot())
  }

  #begin(snapshot: GroupSnapshot): void {
    this.#goOn(undefined)
    this.#snapshot = snapshot
    this.#taken = 0
    this.#next = snapshot.next
    this.#positions = snapshot.positions
    this.#rows += snapshot.rows
  }

  #lead(from: Resumption): void {
    this.#snapshot = undefined
    this.#goOn(from)
    this.#next = from.next
    this.#positions = from.positions
    this.#rows += from.rows
  }

  #merged(): Buffer | undefined {
    const { counts, merged } = this.#group
    const from = merged.from(this.#next, this.#positions)
    if (from === undefined) {
      this.beginAnew()
      return this.#nextOfSnapshot()
    }
    counts.merged += 1
    this.#lead(from)
    return this.#nextAhead()
  }
}

/** The part of a subscriber that the transport uses. */
export type MemberStream = Pick<
  GroupMember,
  'take' | 'end' | 'isClosed' | 'rows' | 'onReady' | 'onLeft' | 'close'
>

/** A subscription that failed before its first frame. */
export function failedStream(errors: readonly unknown[]): MemberStream {
  return {
    end: { form: 'failed', errors },
    isClosed: true,
    rows: 0,
    take: () => undefined,
    onReady() {},
    onLeft: (left) => left(),
    close() {},
  }
}

/** Frames that lead from a subscriber's positions to a place in the ring. */
export interface Resumption {
  readonly frames: readonly Buffer[]
  /** The bytes of the frames. */
  readonly bytes: number
  /** The number of changes in the frames. */
  readonly rows: number
  readonly next: number
  readonly positions: Positions
}

export function resumptionBy(
  written: Iterable<WrittenFrame>,
  to: Pick<Resumption, 'rows' | 'next' | 'positions'>,
): Resumption {
  const frames = Array.from(written, ({ payload }) => payload)
  return { ...to, frames, bytes: frames.reduce((sum, { length }) => sum + length, 0) }
}

import type { FrameRing } from './frame-ring.ts'
import type { Positions } from '../reads/resume-token.ts'
import type { WrittenFrame } from './frame-writer.ts'
import type { GroupSnapshot } from './group-snapshot.ts'

/** How a subscription has ended: the errors are its last message. */
export type StreamEnd =
  | { readonly form: 'complete' }
  | { readonly form: 'failed'; readonly errors: readonly unknown[] }

/** What is still to be read of a ring, as fewer frames. */
export interface MergedReading {
  /** From a place in the ring, where a reader is at these positions, to its end; `undefined` where there is no room for them. */
  from(place: number, positions: Positions): Resumption | undefined
}

/** What a member reads from. */
export interface MemberGroup {
  readonly ring: FrameRing
  readonly merged: MergedReading
  readonly counts: MemberCounts
  snapshot(): GroupSnapshot
  leave(member: GroupMember): void
}

/** Whether anything may be sent to a member now; its viewer's permissions decide. */
export interface MemberGate {
  readonly isOpen: boolean
}

const alwaysOpen: MemberGate = { isOpen: true }

/** What has become of readers that did not keep up. */
export interface MemberCounts {
  /** Several frames that became one. */
  merged: number
  /** Readers that began anew, as the frames that they had not read were gone. */
  resets: number
  /** Frames that have been given to readers. */
  frames: number
}

/**
 * A member that is more frames behind is sent them as one. The one is written once for all members at the same place, and each frame is
 * one more message to each of them: under load, sending them all would add to the load.
 */
const maxFramesBehind = 2

/**
 * One subscriber of a group: a place in its ring, and nothing else as long as it keeps up. Its transport takes a frame when it has
 * room. A member that is some frames behind is sent them as one; one whose place has gone begins anew with a snapshot.
 */
export class GroupMember {
  #group: MemberGroup
  #gate: MemberGate
  #snapshot: GroupSnapshot | undefined
  /** How many frames of the snapshot have been taken. */
  #taken = 0
  /** The number of the next frame. */
  #next: number
  #positions: Positions
  /** What is to be taken before the ring is. */
  #ahead: Resumption | undefined
  /** How many of these frames have been taken. */
  #takenAhead = 0
  #end: StreamEnd | undefined
  #isClosed = false
  #ready: () => void = () => {}
  #left: () => void = () => {}
  #rows = 0

  /** Begins with a snapshot, or with these frames, which lead to what the ring goes on from. */
  constructor(group: MemberGroup, from: GroupSnapshot | Resumption, gate: MemberGate = alwaysOpen) {
    this.#group = group
    this.#gate = gate
    this.#next = from.next
    this.#positions = from.positions
    this.#rows = from.rows
    if ('frame' in from) this.#snapshot = from
    else this.#ahead = from
  }

  /** How it has ended, once there is nothing more to take. */
  get end(): StreamEnd | undefined {
    return this.#end
  }

  /** Whether nothing is to be taken any more, as it has left, or has failed. */
  get isClosed(): boolean {
    return this.#isClosed || (this.#end !== undefined && this.#end.form !== 'complete')
  }

  /** Frames that it is still to be given, besides those of snapshots and of the ring. */
  get ahead(): Resumption | undefined {
    return this.#ahead
  }

  /** How many changes of objects it has been given. */
  get rows(): number {
    return this.#rows
  }

  /** Calls this once, when it is closed. */
  onLeft(left: () => void): void {
    this.#left = left
  }

  /** Calls this whenever there may be something to take, or it has ended. */
  onReady(ready: () => void): void {
    this.#ready = ready
  }

  /** The group's: there may be something to take. */
  announce(): void {
    this.#ready()
  }

  /** The group's. */
  finish(end: StreamEnd): void {
    this.#end ??= end
    if (this.isClosed) this.#drop()
    this.#ready()
  }

  /** The payload of the next frame, UTF-8; `undefined` where there is none yet, or where it has ended. */
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

  /** The number of the first frame of the ring that it may still take. */
  get place(): number {
    return this.#next
  }

  /** Whether it has not read all that its group has sent. */
  get isBehind(): boolean {
    if (this.#snapshot !== undefined || this.#ahead !== undefined) return true
    return this.#next < this.#group.ring.next
  }

  /** Leaves its group and begins anew in another one. */
  move(group: MemberGroup, gate: MemberGate = alwaysOpen): void {
    this.#group.leave(this)
    this.#group = group
    this.#gate = gate
    this.#begin(group.snapshot())
  }

  /** Leaves the group: nothing is to be taken any more. */
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

  /** Begins anew with a snapshot: what it has not read is not to be sent. */
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

/** A subscriber, as its transport knows it. */
export type MemberStream = Pick<
  GroupMember,
  'take' | 'end' | 'isClosed' | 'rows' | 'onReady' | 'onLeft' | 'close'
>

/** A subscription that has failed before it began. */
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

/** Frames that lead from where a subscriber stood to a place in the ring. */
export interface Resumption {
  readonly frames: readonly Buffer[]
  /** What the frames take. */
  readonly bytes: number
  /** How many changes they tell of. */
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

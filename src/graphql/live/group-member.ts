import type { FrameRing } from './frame-ring.ts'
import type { Positions } from './frame-writer.ts'
import type { GroupSnapshot } from './group-snapshot.ts'

/** How a subscription has ended: with the errors that are its last message, or so that graphql-js is to go on with it. */
export type StreamEnd =
  | { readonly form: 'complete' }
  | { readonly form: 'failed'; readonly error: Error }
  | { readonly form: 'refused' }

/** What is still to be read of a ring, as fewer frames. */
export interface MergedReading {
  /** From a place in the ring, where a reader is at these positions, to its end. */
  from(place: number, positions: Positions): Resumption
}

/** What a member reads from, and tells. */
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
  /** Begun anew, as what was to be read had gone. */
  resets: number
}

/**
 * Who is more frames behind is sent them as one. Few, since that is written once for all who stand there, while each frame is
 * one more message to each of them: where there is too much to do, sending them all would be what makes it more.
 */
const maxFramesBehind = 2

/**
 * One subscriber of a group: a place in its ring, and nothing else as long as it keeps up. It is read from when its transport has
 * room. One that is some frames behind is sent them as one; one whose place has gone begins anew with a snapshot.
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
  #ahead: Buffer[] = []
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
    else this.#ahead = [...from.frames]
  }

  /** How it has ended, once there is nothing more to take. */
  get end(): StreamEnd | undefined {
    return this.#end
  }

  /** Whether it has left, so that nothing is to be taken any more. */
  get isClosed(): boolean {
    return this.#isClosed
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
    this.#ready()
  }

  /** The payload of the next frame, UTF-8; `undefined` where there is none yet, or where it has ended. */
  take(): Buffer | undefined {
    if (this.#isRefused || this.#isClosed || !this.#gate.isOpen) return undefined
    const ahead = this.#ahead.shift()
    if (ahead !== undefined) return ahead
    const { ring, counts } = this.#group
    if (this.#next < ring.first) {
      counts.resets += 1
      this.#begin(this.#group.snapshot())
    }
    const part = this.#snapshot?.frame(this.#taken)
    // There may be no room for it, and then the group is over.
    if (this.#isRefused) return undefined
    if (part !== undefined) {
      this.#taken += 1
      return part
    }
    this.#snapshot = undefined
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

  /**
   * The number of the first frame of the group that it has not been given; `undefined` where what it holds is not known by that: a
   * part of something longer has been given, or frames have gone.
   */
  get standsAt(): number | undefined {
    const isWithin = this.#snapshot?.frame(this.#taken) !== undefined || this.#ahead.length > 0
    return isWithin || this.#next < this.#group.ring.first ? undefined : this.#next
  }

  /** Its viewer sees something else now, or its group does not follow all: goes on as a member of another group, by these frames or from the beginning. */
  move(group: MemberGroup, from: GroupSnapshot | Resumption, gate: MemberGate = alwaysOpen): void {
    this.#group.leave(this)
    this.#group = group
    this.#gate = gate
    this.#ahead = []
    if ('frame' in from) {
      this.#begin(from)
      return
    }
    this.#snapshot = undefined
    this.#ahead = [...from.frames]
    this.#next = from.next
    this.#positions = from.positions
    this.#rows += from.rows
  }

  /** Leaves the group: nothing is to be taken any more. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#end ??= { form: 'complete' }
    this.#snapshot = undefined
    this.#ahead = []
    this.#group.leave(this)
    this.#ready()
    this.#left()
  }

  #begin(snapshot: GroupSnapshot): void {
    this.#snapshot = snapshot
    this.#taken = 0
    this.#next = snapshot.next
    this.#positions = snapshot.positions
    this.#rows += snapshot.rows
  }

  #merged(): Buffer | undefined {
    const { counts, merged } = this.#group
    counts.merged += 1
    const { frames, rows, next, positions } = merged.from(this.#next, this.#positions)
    this.#next = next
    this.#positions = positions
    this.#rows += rows
    this.#ahead = [...frames]
    return this.#isRefused ? undefined : this.#ahead.shift()
  }

  get #isRefused(): boolean {
    return this.#end?.form === 'refused'
  }
}

/** Frames that lead from where a subscriber stood to a place in the ring. */
export interface Resumption {
  readonly frames: readonly Buffer[]
  /** How many changes they tell of. */
  readonly rows: number
  readonly next: number
  readonly positions: Positions
}

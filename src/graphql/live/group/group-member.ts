import { inSlices } from '../../../lib/event-loop.ts'
import { FrameStream } from '../../../lib/frame-stream.ts'
import type { Backlog, GroupFrames } from './group-frames.ts'
import type { GroupPositions } from './group-state.ts'
import type { LiveCounts } from '../live-limits.ts'

export interface MemberGroup {
  readonly frames: GroupFrames
  readonly counts: LiveCounts
  leave(member: GroupMember): void
}

/** Whether a member may receive frames now; the viewer's permissions decide. */
export interface MemberGate {
  readonly isOpen: boolean
}

const alwaysOpen: MemberGate = { isOpen: true }

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
export class GroupMember extends FrameStream {
  #group: MemberGroup
  #gate: MemberGate
  /** The frames to take before those of the ring. */
  #backlog: Backlog | undefined
  #taken = 0
  #next = 0
  #positions: GroupPositions = new Map()
  #rows = 0

  /** Starts with a snapshot, or with frames that lead from a resume token to a place in the ring. */
  constructor(group: MemberGroup, backlog: Backlog, gate: MemberGate = alwaysOpen) {
    super()
    this.#group = group
    this.#gate = gate
    this.#begin(backlog)
  }

  get backlog(): Backlog | undefined {
    return this.#backlog
  }

  get gate(): MemberGate {
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
    if (this.isClosed || !this.#gate.isOpen) return undefined
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

  move(group: MemberGroup, gate: MemberGate = alwaysOpen): void {
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

export class FailedStream extends FrameStream {
  constructor(errors: readonly unknown[]) {
    super()
    this.finish({ form: 'failed', errors })
  }

  take(): undefined {
    return undefined
  }

  protected leave(): void {}
}

/**
 * Notifies all members of a group of new frames, in slices between which the event loop runs. Frames that come meanwhile
 * lead to one more round, however many there are.
 */
export class MemberNotifier {
  readonly #members: ReadonlySet<GroupMember>
  #announced = 0
  #isRunning = false

  /** Notifies the members that are in the set when their turn comes. */
  constructor(members: ReadonlySet<GroupMember>) {
    this.#members = members
  }

  announce(): void {
    this.#announced += 1
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    let done = 0
    try {
      while (done !== this.#announced) {
        done = this.#announced
        // oxlint-disable-next-line no-await-in-loop -- one round after the other
        await inSlices(this.#round(), () => false)
      }
    } finally {
      this.#isRunning = false
    }
  }

  *#round(): Generator<void, void> {
    for (const member of this.#members) {
      member.announce()
      yield
    }
  }
}

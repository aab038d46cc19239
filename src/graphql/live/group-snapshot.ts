import type { FrameRing } from './frame-ring.ts'
import type { FrameWriter, WrittenFrame } from './frame-writer.ts'
import type { Positions } from '../reads/resume-token.ts'
import type { GroupContent } from './group-content.ts'
import type { NoRoomError } from './held-bytes.ts'

export interface GroupSnapshotOptions {
  readonly writer: FrameWriter
  /** The number of the frame that goes on from it. */
  readonly next: number
  readonly positions: Positions
  readonly isAhead: boolean
  /** Called when one more of its frames is held. Returns why there is no room for it, if there is none. */
  readonly written: () => NoRoomError | undefined
}

/** The memory of a change that is still to be written, about, besides its text. */
const changeBytes = 100

/**
 * All rows of a group at one place in its ring, as frames for newcomers. The frames are written when the first member takes them, and
 * kept for the others.
 */
export class GroupSnapshot {
  /** The number of the frame that goes on from here. */
  readonly next: number
  readonly positions: Positions
  /** The number of its objects. */
  readonly rows: number
  readonly #onWritten: () => NoRoomError | undefined
  #frames: Iterator<WrittenFrame, void>
  #written: Buffer[] = []
  #bytes = 0
  #changeBytes: number
  #problem: NoRoomError | undefined

  constructor(
    content: Pick<GroupContent, 'all' | 'page'>,
    { writer, next, positions, isAhead, written }: GroupSnapshotOptions,
  ) {
    this.next = next
    this.#onWritten = written
    const told = content.all()
    this.rows = told.length
    this.#changeBytes = told.length * changeBytes
    this.positions = positions
    this.#frames = writer.frames(told, {
      reset: true,
      wasSynced: false,
      before: {},
      positions,
      isAhead,
      page: content.page,
    })
  }

  /** The memory of its written frames, and of what they are written from. */
  get bytes(): number {
    return this.#bytes + this.#changeBytes
  }

  /** Why it has no more frames, if there was no room for them. It ends members that have not read them all. */
  get problem(): NoRoomError | undefined {
    return this.#problem
  }

  /** A frame by number; `undefined` behind the last one. */
  frame(number: number): Buffer | undefined {
    while (this.#written.length <= number) {
      const { value } = this.#frames.next()
      if (value === undefined) {
        this.#changeBytes = 0
        return undefined
      }
      this.#written.push(value.payload)
      this.#bytes += value.payload.length
      this.#problem = this.#onWritten()
      if (this.#problem !== undefined) this.empty()
    }
    return this.#written[number]
  }

  /** Drops its frames and texts: it leads nowhere any more. */
  empty(): void {
    this.#frames = [].values()
    this.#written = []
    this.#bytes = 0
    this.#changeBytes = 0
  }
}

/** A snapshot is given to newcomers until so many frames have followed it, and for so long. */
const maxFramesBehind = 16
const givenMs = 10_000

/**
 * The snapshots of a group: the one that newcomers are given, and those that members are still reading. One that the ring has gone
 * past leads nowhere any more, so it is emptied, also under a member that has stopped reading in the midst of it.
 */
export class GroupSnapshots {
  readonly #ring: Pick<FrameRing, 'first' | 'next'>
  #given: GroupSnapshot | undefined
  #givenUntilMs = 0
  /** Those that were given before, as long as a member has them. */
  #read: WeakRef<GroupSnapshot>[] = []

  constructor(ring: Pick<FrameRing, 'first' | 'next'>) {
    this.#ring = ring
  }

  /** What the frames take of those that a member may still read. */
  get bytes(): number {
    return this.#read.reduce((sum, reference) => sum + (reference.deref()?.bytes ?? 0), 0)
  }

  /** The place in the ring from which newcomers go on; `undefined` where the next one is given a new snapshot. */
  get place(): number | undefined {
    return this.#given?.next
  }

  /** The one that newcomers are given, made where there is none. */
  current(make: () => GroupSnapshot): GroupSnapshot {
    this.moved()
    if (this.#given !== undefined) return this.#given
    const made = make()
    this.#given = made
    this.#givenUntilMs = performance.now() + givenMs
    this.#read.push(new WeakRef(made))
    setTimeout(() => this.moved(), givenMs).unref()
    return made
  }

  /** Newcomers are given another one from now on. */
  forget(): void {
    this.#given = undefined
    this.moved()
  }

  /** The ring may have moved on. */
  moved(): void {
    const { first, next } = this.#ring
    const given = this.#given
    if (given !== undefined) {
      const isOld = next - given.next > maxFramesBehind || performance.now() >= this.#givenUntilMs
      if (isOld || given.next < first || given.problem !== undefined) this.#given = undefined
    }
    if (this.#read.length === 0) return
    this.#read = this.#read.filter((reference) => {
      const snapshot = reference.deref()
      if (snapshot === undefined || snapshot.next >= first) return snapshot !== undefined
      snapshot.empty()
      return false
    })
  }
}

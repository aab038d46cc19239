import type { FrameWriter, Positions, WrittenFrame } from './frame-writer.ts'
import type { GroupContent } from './group-content.ts'
import type { NoRoomError } from './held-bytes.ts'

export interface GroupSnapshotOptions {
  readonly writer: FrameWriter
  /** The number of the frame that goes on from it. */
  readonly next: number
  readonly positions: Positions
  readonly isAhead: boolean
  /** One more of its frames is held: why there is no room for it, where there is none. */
  readonly written: () => NoRoomError | undefined
}

/** What a change takes that is still to be written, about, besides its text. */
const changeBytes = 100

/**
 * All that the members of a group hold at one place in its ring, in frames for those who come anew. The frames are written when
 * the first one wants them, and kept for the others.
 */
export class GroupSnapshot {
  /** The number of the frame that goes on from here. */
  readonly next: number
  readonly positions: Positions
  /** How many objects it tells of. */
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

  /** What its frames take that have been written, and what they are written from. */
  get bytes(): number {
    return this.#bytes + this.#changeBytes
  }

  /** Why it has no more frames, where there was no room for them: whoever has not read them all is to be told so. */
  get problem(): NoRoomError | undefined {
    return this.#problem
  }

  /** One of its frames; `undefined` behind the last. */
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

  /** It leads nowhere any more: it has no frames from now on, and holds no texts. */
  empty(): void {
    this.#frames = [].values()
    this.#written = []
    this.#bytes = 0
    this.#changeBytes = 0
  }
}

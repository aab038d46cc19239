import type { FrameWriter, Positions, WrittenFrame } from './frame-writer.ts'
import type { GroupContent } from './group-content.ts'

export interface GroupSnapshotOptions {
  readonly writer: FrameWriter
  /** The number of the frame that goes on from it. */
  readonly next: number
  readonly positions: Positions
  /** One more of its frames is held. */
  readonly written: () => void
}

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
  readonly #onWritten: () => void
  #frames: Iterator<WrittenFrame, void>
  #written: Buffer[] = []
  #bytes = 0

  constructor(
    content: Pick<GroupContent, 'all' | 'page'>,
    { writer, next, positions, written }: GroupSnapshotOptions,
  ) {
    this.next = next
    this.#onWritten = written
    const told = content.all()
    this.rows = told.length
    this.positions = positions
    this.#frames = writer.frames(told, {
      reset: true,
      wasSynced: false,
      before: {},
      positions,
      page: content.page,
    })
  }

  /** What its frames take that have been written. */
  get bytes(): number {
    return this.#bytes
  }

  /** One of its frames; `undefined` behind the last. */
  frame(number: number): Buffer | undefined {
    while (this.#written.length <= number) {
      const { value } = this.#frames.next()
      if (value === undefined) return undefined
      this.#written.push(value.payload)
      this.#bytes += value.payload.length
      this.#onWritten()
    }
    return this.#written[number]
  }

  /** It leads nowhere any more: it has no frames from now on, and holds no texts. */
  empty(): void {
    this.#frames = [].values()
    this.#written = []
    this.#bytes = 0
  }
}

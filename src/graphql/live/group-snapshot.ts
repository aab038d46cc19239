import type { FrameWriter, Positions, WrittenFrame } from './frame-writer.ts'
import type { GroupContent } from './group-content.ts'

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
  #frames: Iterator<WrittenFrame, void>
  #written: Buffer[] = []

  constructor(
    content: Pick<GroupContent, 'all' | 'page'>,
    { writer, next, positions }: { writer: FrameWriter; next: number; positions: Positions },
  ) {
    this.next = next
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

  /** One of its frames; `undefined` behind the last. */
  frame(number: number): Buffer | undefined {
    while (this.#written.length <= number) {
      const { value } = this.#frames.next()
      if (value === undefined) return undefined
      this.#written.push(value.payload)
    }
    return this.#written[number]
  }

  /** It leads nowhere any more: it has no frames from now on, and holds no texts. */
  empty(): void {
    this.#frames = [].values()
    this.#written = []
  }
}

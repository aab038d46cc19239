import { CarriedBytes, defaultMaxFrameBytes, TruncatedFrameError } from './frame.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d
const noFrames: readonly Uint8Array[] = []

/**
 * Splits the body of a WATCH into the texts of its events, only at line feeds, since a JSON string may contain U+2028. A
 * frame within one chunk is a range of the chunk; other frames are copied once, into a reused buffer. Skips empty lines.
 */
export class WatchFrames {
  readonly #carried: CarriedBytes

  constructor({ maxFrameBytes = defaultMaxFrameBytes }: { readonly maxFrameBytes?: number } = {}) {
    this.#carried = new CarriedBytes('an event of a watch', maxFrameBytes)
  }

  /**
   * The frames that end in this chunk, in order. They are valid until the next call; until then the chunk must not
   * change. Throws `OversizedFrameError`.
   */
  push(chunk: Uint8Array): readonly Uint8Array[] {
    this.#carried.settle()
    const frames: Uint8Array[] = []
    let start = 0
    while (start < chunk.length) {
      const end = chunk.indexOf(lineFeed, start)
      if (end < 0) {
        this.#carried.hold(chunk.subarray(start))
        break
      }
      const line = this.#carried.finish(chunk.subarray(start, end))
      const frame = line.at(-1) === carriageReturn ? line.subarray(0, -1) : line
      if (frame.length > 0) frames.push(frame)
      start = end + 1
    }
    return frames.length === 0 ? noFrames : frames
  }

  /** Call at the end of the body. Throws {@link TruncatedFrameError} if an event is incomplete. */
  end(): void {
    if (!this.#carried.isEmpty)
      throw new TruncatedFrameError('a watch', 'in the middle of an event')
  }
}

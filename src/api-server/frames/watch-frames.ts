import { CarriedBytes } from './carried-bytes.ts'
import { defaultMaxFrameBytes, TruncatedFrameError } from './frame-errors.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d
const noFrames: readonly Uint8Array[] = []

/**
 * Splits the body of a WATCH into the texts of its events: at line feeds and nothing else, for U+2028 may stand in a
 * JSON string. Frames that lie within one chunk are ranges of it; one that does not is copied once, into a buffer that
 * is used again. Empty lines are left out.
 */
export class WatchFrames {
  readonly #carried: CarriedBytes

  /** `maxFrameBytes` bounds each frame. */
  constructor({ maxFrameBytes = defaultMaxFrameBytes }: { readonly maxFrameBytes?: number } = {}) {
    this.#carried = new CarriedBytes('an event of a watch', maxFrameBytes)
  }

  /**
   * The frames that end in this chunk, in order, valid until the next call; the chunk must not change until then either.
   * Throws `OversizedFrameError`.
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

  /** To be called at the end of the body. Throws {@link TruncatedFrameError} when an event was cut. */
  end(): void {
    if (!this.#carried.isEmpty)
      throw new TruncatedFrameError('a watch', 'in the middle of an event')
  }
}

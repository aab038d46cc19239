import { FrameStream } from '../../lib/frame-stream.ts'
import type { Drain, DrainProgress } from '../writes/drain.ts'

/** How long changes are gathered. */
const coalesceMs = 100

/**
 * The progress of a drain, whole in each frame; a slow subscriber gets the last state only. The drain begins with the
 * subscription and stops when the subscriber leaves: the node stays cordoned, and evicted pods stay evicted.
 */
export class DrainStream extends FrameStream {
  readonly #drain: Drain
  readonly #write: (progress: DrainProgress) => Buffer
  readonly #leaving = new AbortController()
  #isDue = true
  #timer: NodeJS.Timeout | undefined

  constructor(drain: Drain, write: (progress: DrainProgress) => Buffer) {
    super()
    this.#drain = drain
    this.#write = write
    void drain
      .run(() => this.#changed(), this.#leaving.signal)
      .then(() => {
        clearTimeout(this.#timer)
        this.#isDue = true
        this.finish({ form: 'complete' })
        this.announce()
      })
  }

  take(): Buffer | undefined {
    if (!this.#isDue || this.isClosed) return undefined
    this.#isDue = false
    return this.#write(this.#drain.progress)
  }

  protected leave(): void {
    clearTimeout(this.#timer)
    this.#leaving.abort()
  }

  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#isDue = true
      this.announce()
    }, coalesceMs)
  }
}

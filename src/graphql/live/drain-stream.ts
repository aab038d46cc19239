import type { Drain, DrainProgress } from '../writes/drain.ts'
import type { MemberStream, StreamEnd } from './group/group-member.ts'

/** How long changes are gathered. */
const coalesceMs = 100

/**
 * The progress of a drain, whole in each frame; a slow subscriber gets the last state only. The drain begins with the
 * subscription and stops when the subscriber leaves: the node stays cordoned, and evicted pods stay evicted.
 */
export class DrainStream implements MemberStream {
  readonly #drain: Drain
  readonly #write: (progress: DrainProgress) => Buffer
  readonly #leaving = new AbortController()
  #isDue = true
  #timer: NodeJS.Timeout | undefined
  #end: StreamEnd | undefined
  #isClosed = false
  #ready: () => void = () => {}
  #left: () => void = () => {}

  constructor(drain: Drain, write: (progress: DrainProgress) => Buffer) {
    this.#drain = drain
    this.#write = write
    void drain
      .run(() => this.#changed(), this.#leaving.signal)
      .then(() => {
        clearTimeout(this.#timer)
        this.#isDue = true
        this.#end = { form: 'complete' }
        this.#ready()
      })
  }

  get end(): StreamEnd | undefined {
    return this.#end
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** It has no rows. */
  readonly rows = 0

  take(): Buffer | undefined {
    if (!this.#isDue || this.#isClosed) return undefined
    this.#isDue = false
    return this.#write(this.#drain.progress)
  }

  onReady(ready: () => void): void {
    this.#ready = ready
  }

  onLeft(left: () => void): void {
    this.#left = left
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#leaving.abort()
    this.#left()
  }

  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#isDue = true
      this.#ready()
    }, coalesceMs)
  }
}

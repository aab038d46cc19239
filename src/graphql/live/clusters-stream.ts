import { FrameStream } from '../../lib/frame-stream.ts'
import type { FleetChanges } from '../served/served-schema.ts'

export interface ClustersStreamOptions {
  readonly fleet: FleetChanges
  readonly coalesceMs: number
  /** The answer for the present clusters. */
  readonly read: () => Promise<string>
}

/**
 * A subscription to `gatewayClusters`: the answer for the present clusters, and after changes of the clusters the answer again,
 * if it is another one. A slow subscriber gets the last answer only.
 */
export class ClustersStream extends FrameStream {
  readonly #options: ClustersStreamOptions
  readonly #forget: () => void
  /** The answer that was sent last, or waits to be. */
  #last: string | undefined
  #frame: Buffer | undefined
  #timer: NodeJS.Timeout | undefined
  #isReading = false
  /** Whether there was a change since the running read began. */
  #isDue = false

  /** Rejects with the error that prevents the first answer. */
  static async open(options: ClustersStreamOptions): Promise<ClustersStream> {
    // Listens before it reads, so that no change is missed.
    const stream = new ClustersStream(options)
    await stream.#read()
    if (stream.end?.form === 'failed') throw stream.end.errors[0]
    return stream
  }

  private constructor(options: ClustersStreamOptions) {
    super()
    this.#options = options
    this.#forget = options.fleet.onChanged(() => this.#changed())
  }

  take(): Buffer | undefined {
    const frame = this.#frame
    this.#frame = undefined
    return frame
  }

  protected leave(): void {
    this.#forget()
    clearTimeout(this.#timer)
    this.#frame = undefined
  }

  #changed(): void {
    this.#isDue = true
    if (this.#isReading) return
    this.#timer ??= setTimeout(() => void this.#read(), this.#options.coalesceMs)
  }

  async #read(): Promise<void> {
    this.#timer = undefined
    this.#isDue = false
    this.#isReading = true
    let text: string
    try {
      text = await this.#options.read()
    } catch (error) {
      if (this.isClosed) return
      this.finish({ form: 'failed', errors: [error] })
      this.announce()
      this.close()
      return
    }
    this.#isReading = false
    if (this.isClosed) return
    if (text !== this.#last) {
      this.#last = text
      this.#frame = Buffer.from(text)
      this.announce()
    }
    if (this.#isDue) this.#changed()
  }
}

import { FrameStream, type StreamEnd } from '../../lib/frame-stream.ts'
import { OperationExtensionContext, shownError } from '../extensions/extension-calls.ts'
import type { ExtensionContext } from '../extensions/extension.ts'
import type { KindCachesOptions } from '../extensions/kind-caches.ts'

export interface ExtensionStreamOptions {
  readonly caller: KindCachesOptions
  /** The resolver's signal aborts if it gives no events by then, `performance.now()`. */
  readonly endsAtMs: number
  /** Begins the events. */
  readonly subscribe: (
    context: ExtensionContext,
  ) => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>
  /** The answer to one event. */
  readonly write: (event: unknown) => Promise<string>
}

/**
 * A subscription of an extension. Takes an event, answers it, and takes the next one when the subscriber has taken the
 * frame: a slow subscriber slows its events, and one frame is held.
 */
export class ExtensionStream extends FrameStream {
  readonly #leaving: AbortController
  readonly #context: OperationExtensionContext
  readonly #events: AsyncIterator<unknown>
  readonly #write: ExtensionStreamOptions['write']
  #frame: Buffer | undefined
  #taken: () => void = () => {}
  #rows = 0

  /** Rejects with the error of the resolver. */
  static async open({
    caller,
    endsAtMs,
    subscribe,
    write,
  }: ExtensionStreamOptions): Promise<ExtensionStream> {
    const leaving = new AbortController()
    const late = setTimeout(() => leaving.abort(), Math.max(0, endsAtMs - performance.now()))
    const context = new OperationExtensionContext(caller, leaving.signal)
    try {
      return new ExtensionStream(await subscribe(context), context, write, leaving)
    } catch (error) {
      leaving.abort()
      throw shownError(error)
    } finally {
      clearTimeout(late)
    }
  }

  private constructor(
    events: AsyncIterable<unknown>,
    context: OperationExtensionContext,
    write: ExtensionStreamOptions['write'],
    leaving: AbortController,
  ) {
    super()
    this.#events = events[Symbol.asyncIterator]()
    this.#context = context
    this.#write = write
    this.#leaving = leaving
    void this.#follow()
  }

  /** The events that were taken. */
  override get rows(): number {
    return this.#rows
  }

  take(): Buffer | undefined {
    const frame = this.#frame
    if (frame === undefined) return undefined
    this.#frame = undefined
    this.#rows += 1
    this.#taken()
    return frame
  }

  protected leave(): void {
    this.#frame = undefined
    this.#leaving.abort()
    this.#taken()
    // Not awaited: an iterator that waits for an event may end only after it.
    void this.#endEvents().catch(() => {})
  }

  /** Rejects with what the iterator throws. */
  async #endEvents(): Promise<void> {
    await this.#events.return?.()
  }

  async #follow(): Promise<void> {
    let end: StreamEnd = { form: 'complete' }
    try {
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- one event after the other
        const next = await this.#events.next()
        if (this.isClosed) return
        if (next.done === true) break
        // oxlint-disable-next-line no-await-in-loop -- one event after the other
        const text = await this.#write(next.value)
        if (this.isClosed) return
        const taken = new Promise<void>((resolve) => (this.#taken = resolve))
        this.#frame = Buffer.from(text)
        this.announce()
        // oxlint-disable-next-line no-await-in-loop -- the subscriber sets the pace
        await taken
        this.#context.renew()
      }
    } catch (error) {
      end = { form: 'failed', errors: [shownError(error)] }
      this.#leaving.abort()
    }
    if (this.isClosed) return
    this.finish(end)
    this.announce()
  }
}

/*
 * The chunks of a stream in their original sizes, for one reader. Node's own iterator joins them first, which costs a third
 * of the throughput. While a quarter of a MiB waits for the reader, the stream is paused. Leaving the iteration early
 * destroys the stream.
 */

import type { Readable } from 'node:stream'
import { maxTimerMs } from '../../lib/deadline.ts'

/** The number of waiting bytes at which the stream is paused. */
const highWaterMarkBytes = 256 * 1024

export interface ResponseBodyOptions {
  /** The longest silence while the reader waits, in milliseconds; `undefined`: unlimited. */
  readonly idleDeadlineMs: number | undefined
  readonly idleError: () => Error
  /** Called with each chunk. */
  readonly received: () => void
  /** Creates the reader's error from the stream's. */
  readonly failure: (error: unknown) => Error
}

export class ResponseBody implements AsyncIterableIterator<Buffer> {
  readonly #stream: Readable
  readonly #options: ResponseBodyOptions
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #ended = false
  #error: Error | undefined
  #wake: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(stream: Readable, options: ResponseBodyOptions) {
    this.#stream = stream
    this.#options = options
    stream.on('data', (chunk: Buffer) => {
      options.received()
      this.#chunks.push(chunk)
      this.#bytes += chunk.length
      if (this.#bytes >= highWaterMarkBytes) stream.pause()
      this.#notify()
    })
    stream.once('end', () => this.#finish())
    stream.on('error', (error) => this.#finish(options.failure(error)))
    stream.once('close', () => {
      if (!this.#ended) this.#finish(options.failure(new Error('the connection was closed')))
    })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Ends the body, and its reader, with this error, even if chunks are waiting. */
  destroy(error: Error): void {
    this.#chunks.length = 0
    this.#error ??= error
    if (this.#ended) return
    this.#finish(error)
    this.#stream.destroy(error)
  }

  /** Calls back at the end of the body. */
  onEnd(callback: () => void): void {
    if (this.#stream.closed) callback()
    else this.#stream.once('close', callback)
  }

  async next(): Promise<IteratorResult<Buffer>> {
    while (true) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        this.#bytes -= chunk.length
        if (this.#bytes === 0 && this.#stream.isPaused()) this.#stream.resume()
        return { done: false, value: chunk }
      }
      if (this.#error !== undefined) throw this.#error
      if (this.#ended) return { done: true, value: undefined }
      await this.#wait()
    }
  }

  async return(): Promise<IteratorResult<Buffer>> {
    if (!this.#ended) {
      this.#finish()
      this.#stream.destroy()
    }
    this.#chunks.length = 0
    return { done: true, value: undefined }
  }

  #wait(): Promise<void> {
    const { idleDeadlineMs, idleError } = this.#options
    return new Promise((resolve) => {
      this.#wake = resolve
      if (idleDeadlineMs === undefined || idleDeadlineMs > maxTimerMs) return
      // One timer for the whole body, restarted for each wait.
      this.#timer ??= setTimeout(() => {
        const waits = this.#wake
        // Lets Node read arrived bytes first: after a blocked event loop, timers run before sockets are read.
        setImmediate(() => {
          if (waits !== undefined && this.#wake === waits) this.destroy(idleError())
        })
      }, idleDeadlineMs)
      this.#timer.refresh()
    })
  }

  #finish(error?: Error): void {
    if (this.#ended) return
    this.#ended = true
    this.#error = error
    clearTimeout(this.#timer)
    this.#notify()
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

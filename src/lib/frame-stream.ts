/** How a stream of frames has ended: the errors are its last message. */
export type StreamEnd =
  | { readonly form: 'complete' }
  | { readonly form: 'failed'; readonly errors: readonly unknown[] }

/**
 * Frames for one subscriber, who takes one when there is room for it. A subclass makes the frames, calls
 * {@link FrameStream.announce} when there is one to take, and after {@link FrameStream.finish}.
 */
export abstract class FrameStream {
  #end: StreamEnd | undefined
  #isClosed = false
  #ready: () => void = () => {}
  #left: () => void = () => {}

  /** How it has ended. After `complete`, frames may remain to take. */
  get end(): StreamEnd | undefined {
    return this.#end
  }

  /** Whether no more frames are taken, because the subscriber has left or it has failed. */
  get isClosed(): boolean {
    return this.#isClosed || this.#end?.form === 'failed'
  }

  /** The rows in the frames that were taken. */
  get rows(): number {
    return 0
  }

  /** The payload of the next frame, UTF-8; `undefined` if there is none now. */
  abstract take(): Buffer | undefined

  /** Stops what the frames are made of. Called once. */
  protected abstract leave(): void

  onReady(ready: () => void): void {
    this.#ready = ready
  }

  onLeft(left: () => void): void {
    this.#left = left
  }

  /** The subscriber leaves, or the stream is given up. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#end ??= { form: 'complete' }
    this.leave()
    this.#left()
  }

  /** The first end counts. */
  protected finish(end: StreamEnd): void {
    this.#end ??= end
  }

  protected announce(): void {
    this.#ready()
  }
}

/**
 * Frames for one subscriber, who takes one when there is room for it. A subclass makes the frames, and calls
 * {@link FrameStream.announce} when there is one to take, and {@link FrameStream.finish} at the end.
 */
/** How a stream of frames has ended: the errors are its last message. */
export type StreamEnd =
  | { readonly form: 'complete' }
  | { readonly form: 'failed'; readonly errors: readonly unknown[] }

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

  get rows(): number {
    return 0
  }

  /** Whether the next frame is in memory for this reader alone, so that waiting for room would save nothing. */
  get isHeld(): boolean {
    return false
  }

  /** The payload of the next frame, UTF-8; `undefined` if there is none now. */
  abstract take(): Buffer | undefined

  /** Stops what the frames are made of. Called once. */
  protected abstract leave(): void

  /** Sets a callback for when there may be a frame to take, and for the end. */
  onReady(ready: () => void): void {
    this.#ready = ready
  }

  /** Adds a callback for when the subscriber has left. */
  onLeft(left: () => void): void {
    const before = this.#left
    this.#left = () => {
      before()
      left()
    }
  }

  /** The subscriber leaves, or the stream is given up. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#end ??= { form: 'complete' }
    this.leave()
    this.announce()
    this.#left()
  }

  /** Ends it. The first end counts. */
  finish(end: StreamEnd): void {
    this.#end ??= end
    this.announce()
  }

  /** Call when there may be a frame to take. A callback that throws ends this stream alone. */
  announce(): void {
    try {
      this.#ready()
    } catch (error) {
      this.#end ??= { form: 'failed', errors: [error] }
      // Calls it once more, for the end.
      this.close()
    }
  }
}

import { CodedError } from '../../lib/coded-error.ts'
import { DeadlineError, withDeadline } from '../../lib/deadline.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { LinkedController } from '../../lib/linked-controller.ts'
import type { ListerWatcher, WatchOptions } from './lister-watcher.ts'

/** The process was suspended, so its connections may be half-open. */
class SuspendedError extends CodedError {
  constructor(gapMs: number) {
    const problem = `the process was suspended for ${Math.round(gapMs)} ms; the watch is reopened`
    super('SUSPENDED', problem)
  }
}

export class WatchStream {
  frames = 0
  readonly #iterator: AsyncIterator<readonly Uint8Array[]>
  readonly #controller: LinkedController
  readonly #startedMs: number
  readonly #timeoutMs: number
  #unread: readonly Uint8Array[] = []
  #pending: Promise<IteratorResult<readonly Uint8Array[]>> | undefined

  /** `controller`: ends the watch, in any state. */
  static async open(
    source: ListerWatcher,
    options: WatchOptions,
    controller: LinkedController,
  ): Promise<WatchStream> {
    // Counted from the request: some proxies withhold even the headers until the first event.
    const startedMs = performance.now()
    try {
      const frames = await source.watch(options, controller.signal)
      const timeoutMs = (options.timeoutSeconds ?? 0) * 1000
      return new WatchStream(frames[Symbol.asyncIterator](), controller, startedMs, timeoutMs)
    } catch (error) {
      controller.unlink()
      throw error
    }
  }

  private constructor(
    iterator: AsyncIterator<readonly Uint8Array[]>,
    controller: LinkedController,
    startedMs: number,
    timeoutMs: number,
  ) {
    this.#iterator = iterator
    this.#controller = controller
    this.#startedMs = startedMs
    this.#timeoutMs = timeoutMs
  }

  get ageMs(): number {
    return performance.now() - this.#startedMs
  }

  isShort(shortWatchMs: number): boolean {
    return this.frames === 0 && this.ageMs < shortWatchMs
  }

  /** Whether an end now is due to `timeoutSeconds`, within a second. */
  get hasRunItsTime(): boolean {
    return this.ageMs >= this.#timeoutMs - 1000
  }

  /**
   * The next batch of frames, valid until the next call; `undefined` at the end. If it takes longer than `limit`, the
   * stream is broken with the error of `late`.
   */
  async next(limit?: {
    readonly ms: number
    readonly late: () => Error
  }): Promise<readonly Uint8Array[] | undefined> {
    if (this.#unread.length > 0) {
      const frames = this.#unread
      this.#unread = []
      this.frames += frames.length
      return frames
    }
    const next = this.#pending ?? this.#iterator.next()
    this.#pending = undefined
    const { done, value } =
      limit === undefined
        ? await next
        : await withDeadline('the next events', next, limit.ms).catch((error: unknown) => {
            if (!(error instanceof DeadlineError)) throw error
            const late = limit.late()
            this.abort(late)
            next.catch(() => {})
            throw late
          })
    if (done === true) return undefined
    this.frames += value.length
    return value
  }

  /** Whether {@link next} has something to return within some time: frames, or the end. */
  async hasWithin(ms: number): Promise<boolean> {
    if (this.#unread.length > 0) return true
    this.#pending ??= this.#iterator.next()
    const arrived = this.#pending.then(
      () => true,
      () => true,
    )
    return await withDeadline('the next events', arrived, ms).catch(() => false)
  }

  /** Returns the last frames of the last batch: {@link next} starts with them. */
  unread(frames: readonly Uint8Array[]): void {
    this.#unread = frames
    this.frames -= frames.length
  }

  /** Breaks the connection. A pending {@link next} rejects. */
  abort(reason: Error): void {
    this.#controller.abort(reason)
  }

  /** Ends the watch in any state. */
  async close(): Promise<void> {
    this.#controller.abort()
    await this.#iterator.return?.().catch(() => {})
  }
}

/**
 * Aborts the stream if the event loop stood still for longer than `gapMs`: the machine slept, and the connection may be
 * half-open. Returns a function that stops the observation.
 */
export function abortOnSuspend(stream: WatchStream, gapMs: number): () => void {
  const { streams } = getOrInsert(suspensions, gapMs, () => new Suspensions(gapMs))
  streams.add(stream)
  return () => void streams.delete(stream)
}

/** By `gapMs`: one timer for the thousands of watches of a process. */
const suspensions = new Map<number, Suspensions>()

class Suspensions {
  readonly streams = new Set<WatchStream>()
  readonly #gapMs: number
  readonly #everyMs: number
  #last = performance.now()
  #lastDateMs = Date.now()

  constructor(gapMs: number) {
    this.#gapMs = gapMs
    this.#everyMs = Math.max(1, gapMs / 4)
    setInterval(() => this.#look(), this.#everyMs).unref()
  }

  #look(): void {
    const now = performance.now()
    const dateMs = Date.now()
    // The monotonic clock of some systems stops while the machine sleeps. If the clock was merely set, that costs one
    // watch.
    const stoodStillMs = Math.max(now - this.#last, dateMs - this.#lastDateMs)
    if (stoodStillMs > this.#gapMs + this.#everyMs) {
      for (const stream of this.streams) stream.abort(new SuspendedError(stoodStillMs))
    }
    this.#last = now
    this.#lastDateMs = dateMs
  }
}

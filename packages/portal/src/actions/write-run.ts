import type { AnswerError } from '../gateway/gateway.ts'
import { refusalOf, type Written } from './write.ts'

/** How often progress is told: a thousand objects would draw the page a thousand times. */
const toldMs = 100
/** The pause after a refusal that does not say how long to wait. */
const pauseMs = 1_000
/** The page leaves the user some writes of each minute for other work. */
const share = 0.9

/**
 * Many writes, each with an outcome under its key: made some at the same time, until all are through or `stop`. When the
 * gateway takes no more writes of the user for now, the others wait, and go on at the gateway's pace.
 */
export abstract class WriteRun<Outcome, Progress> {
  protected readonly outcomes: Map<string, Outcome> = new Map()
  /** The writes that the gateway takes from the user in a minute, once it has refused more. */
  protected perMinute: number | undefined
  readonly #listeners = new Set<() => void>()
  /** When the next write may begin, by `performance.now()`. */
  #nextMs = 0
  #stopping = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #progress: Progress | undefined

  /** The outcome of a write that is not begun. */
  protected abstract readonly waiting: Outcome
  protected abstract now(): Progress

  /** The same object until something changes. Works without `this`. */
  readonly getSnapshot = (): Progress => (this.#progress ??= this.now())

  /** Works without `this`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Begins no further write. Those under way end. */
  readonly stop = (): void => {
    this.#stopping.abort()
    this.tell()
  }

  protected get isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Takes the jobs of each queue one after the other, and of all queues at the same time. Two queues may be one iterator. */
  protected async run<Job>(
    queues: readonly Iterable<Job>[],
    work: (job: Job) => Promise<void>,
  ): Promise<void> {
    this.#stopping = new AbortController()
    this.tell()
    const { signal } = this.#stopping
    await Promise.all(
      queues.map(async (queue) => {
        for (const job of queue) {
          if (signal.aborted) return
          await work(job)
        }
      }),
    )
  }

  /**
   * Makes a write when the gateway takes one, and again where it took no more. `undefined`: the run was stopped before.
   * Rejects if the write is refused.
   */
  protected async send(
    key: string,
    begun: Outcome,
    write: () => Promise<Written>,
  ): Promise<Written | undefined> {
    for (;;) {
      await this.#turn()
      if (this.isStopped) return undefined
      this.set(key, begun)
      try {
        return await write()
      } catch (error) {
        if (!this.#isTooMany(refusalOf(error as Error))) throw error
        this.set(key, this.waiting)
      }
    }
  }

  #isTooMany([error]: readonly AnswerError[]): boolean {
    const { code, value, retryAfterMs } = error?.extensions ?? {}
    if (code !== 'TOO_MANY_WRITES' && code !== 'TOO_MANY_OPERATIONS') return false
    if (code === 'TOO_MANY_WRITES' && typeof value === 'number') this.perMinute = value
    const pause = typeof retryAfterMs === 'number' ? retryAfterMs : pauseMs
    this.#nextMs = Math.max(this.#nextMs, performance.now() + pause)
    return true
  }

  /** Waits until the gateway takes another write. */
  async #turn(): Promise<void> {
    const { signal } = this.#stopping
    for (;;) {
      const waitMs = this.#nextMs - performance.now()
      if (waitMs <= 0 || signal.aborted) break
      await slept(waitMs, signal)
    }
    if (this.perMinute === undefined) return
    this.#nextMs = performance.now() + 60_000 / (this.perMinute * share)
  }

  protected set(key: string, outcome: Outcome): void {
    this.outcomes.set(key, outcome)
    this.#timer ??= setTimeout(() => this.tell(), toldMs)
  }

  protected tell(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#progress = this.now()
    for (const listener of this.#listeners) listener()
  }
}

function slept(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

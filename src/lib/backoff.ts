/*
 * Pauses. `Backoff` says how long to wait after each failure: longer each time, with jitter, so that clients of a server that
 * comes back do not all return at once. `sleep` waits, and ends early with its signal.
 */

import { maxTimerMs } from './deadline.ts'
import { withDefaults } from './options.ts'

/** Delays after failures, in milliseconds. */
export interface BackoffOptions {
  readonly initialMs: number
  readonly factor: number
  readonly maxMs: number
  /** After this long without a failure, the delays start again at `initialMs`. */
  readonly resetAfterMs: number
}

/** client-go's reflector back-off: 0.8 s, doubling to 30 s, reset after two minutes without a failure. */
export const reflectorBackoff: BackoffOptions = {
  initialMs: 800,
  factor: 2,
  maxMs: 30_000,
  resetAfterMs: 120_000,
}

/** Growing delays with jitter. One instance counts all failures of its owner. */
export class Backoff {
  readonly #options: BackoffOptions
  #delayMs: number
  #lastFailureMs = Number.NEGATIVE_INFINITY

  /** Missing options default to {@link reflectorBackoff}. */
  constructor(options: Partial<BackoffOptions>) {
    this.#options = withDefaults(reflectorBackoff, options)
    this.#delayMs = this.#options.initialMs
  }

  restart(): void {
    this.#delayMs = this.#options.initialMs
  }

  /** Records a failure and returns the delay before the next attempt: uniform in [d, 2d), milliseconds. */
  nextMs(): number {
    const { initialMs, factor, maxMs, resetAfterMs } = this.#options
    const now = performance.now()
    if (now - this.#lastFailureMs > resetAfterMs) this.#delayMs = initialMs
    this.#lastFailureMs = now
    const delayMs = this.#delayMs
    this.#delayMs = Math.min(maxMs, delayMs * factor)
    return delayMs * (1 + Math.random())
  }
}

/**
 * Waits `delayMs` milliseconds, or until the signal aborts. Never rejects. With `isBackground` the wait does not keep the
 * process alive.
 */
export function sleep(delayMs: number, signal: AbortSignal, isBackground = false): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.min(delayMs, maxTimerMs))
    if (isBackground) timer.unref()
    signal.addEventListener('abort', end, { once: true })
  })
}

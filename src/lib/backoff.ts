import { maxTimerMs } from './deadline.ts'
import { aDuration, aLimit, type OptionChecks, withDefaults } from './options.ts'

/** The delays after failures, milliseconds. */
export interface BackoffOptions {
  readonly initialMs: number
  readonly factor: number
  readonly maxMs: number
  /** A time without a failure after which the delays begin again at `initialMs`. */
  readonly resetAfterMs: number
}

/** client-go's reflector back-off: 0.8 s doubling to 30 s, forgotten after two quiet minutes. */
export const reflectorBackoff: BackoffOptions = {
  initialMs: 800,
  factor: 2,
  maxMs: 30_000,
  resetAfterMs: 120_000,
}

export const backoffChecks: OptionChecks<BackoffOptions> = {
  initialMs: aDuration,
  factor: aLimit(),
  maxMs: aDuration,
  resetAfterMs: aDuration,
}

/** Growing delays with jitter; one state for all failures of one owner. */
export class Backoff {
  readonly #options: BackoffOptions
  #delayMs: number
  #lastFailureMs = Number.NEGATIVE_INFINITY

  /** What is absent is as in {@link reflectorBackoff}. */
  constructor(options: Partial<BackoffOptions>) {
    this.#options = withDefaults(reflectorBackoff, options)
    this.#delayMs = this.#options.initialMs
  }

  /** What failed so far is over: the delays begin again. */
  restart(): void {
    this.#delayMs = this.#options.initialMs
  }

  /** How long to wait after a failure now: uniform in [d, 2d), milliseconds. */
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

/** Waits `delayMs` milliseconds, or until the signal is aborted; never rejects. */
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
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
    signal.addEventListener('abort', end, { once: true })
  })
}

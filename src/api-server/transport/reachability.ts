import { sleep } from '../../lib/backoff.ts'
import type { ConnectionFailure } from './connection-error.ts'

/** How often an unreachable server is asked while a caller waits, plus or minus half. */
const askEveryMs = 500
/** After this time without an answer, the next request opens a new connection. */
const answerDeadlineMs = 1_500
/** Waiting callers continue spread over this time. */
const spreadMs = 300

/** Failures that show that there is no server, whatever the request. */
const absences: readonly ConnectionFailure[] = ['refused', 'name', 'unreachable']

/**
 * Whether a server can be reached, for all callers that wait for it. Each caller has its own back-off, half a minute
 * and more after a long outage; the first answer to any of them wakes the others.
 *
 * Only the first answer after an outage wakes them, not every answer: one resource, such as that of an aggregated API,
 * may fail for ever while all others are served. To get an answer soon, the server's version is requested while a
 * caller waits and the server is unreachable.
 */
export class Reachability {
  readonly #ask: (signal: AbortSignal) => Promise<unknown>
  readonly #waiting = new Set<() => void>()
  #isAway = false
  #answers = 0
  #asking: AbortController | undefined

  constructor(ask: (signal: AbortSignal) => Promise<unknown>) {
    this.#ask = ask
  }

  /** Whether the last request had no answer because there is no server. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** Records an answer. Server faults (5xx) and 429 do not count. */
  answered(httpStatus: number): void {
    if (httpStatus >= 500 || httpStatus === 429) return
    this.#answers += 1
    if (!this.#isAway) return
    this.#isAway = false
    for (const wake of this.#waiting) setTimeout(wake, Math.random() * spreadMs).unref()
  }

  /** Records a request without an answer. */
  failed(failure: ConnectionFailure): void {
    if (absences.includes(failure)) this.#isAway = true
  }

  /** Resolves with `true` when the server answers again after an outage, with `false` when the signal aborts. */
  returned(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (isBack: boolean): void => {
        signal.removeEventListener('abort', abandon)
        this.#waiting.delete(wake)
        if (this.#waiting.size === 0) this.#stopAsking()
        resolve(isBack)
      }
      const wake = (): void => leave(true)
      const abandon = (): void => leave(false)
      if (signal.aborted) return resolve(false)
      signal.addEventListener('abort', abandon, { once: true })
      this.#waiting.add(wake)
      void this.#askUntilAnswered()
    })
  }

  async #askUntilAnswered(): Promise<void> {
    if (this.#asking !== undefined) return
    const { signal } = (this.#asking = new AbortController())
    const answersBefore = this.#answers
    while (!signal.aborted) {
      await sleep(askEveryMs * (0.5 + Math.random()), signal)
      const deadline = AbortSignal.timeout(answerDeadlineMs)
      await this.#ask(AbortSignal.any([signal, deadline])).catch(() => {})
      // An answer to another request counts too.
      if (signal.aborted) return
      if (this.#answers > answersBefore) this.#stopAsking()
      else this.#isAway = true
    }
  }

  #stopAsking(): void {
    this.#asking?.abort()
    this.#asking = undefined
  }
}

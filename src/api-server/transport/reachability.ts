import { sleep } from '../../lib/backoff.ts'
import type { ConnectionFailure } from './connection-error.ts'

/** While somebody waits for a server that is away, it is asked this often, give or take half. */
const askEveryMs = 500
/** An answer that takes longer is not waited for: the next question opens a new connection. */
const answerDeadlineMs = 1_500
/** Those who wait go on within this time, not all at the same moment. */
const spreadMs = 300

/** Failures that say that there is no server, whatever was asked of it. */
const absences: readonly ConnectionFailure[] = ['refused', 'name', 'unreachable']

/**
 * Whether a server can be reached, for all who wait for it. Each of them backs off by itself, for half a minute and more after a
 * long outage; the first answer to any of them shows that the others need not wait any longer.
 *
 * They are woken when the server has been away and answers again, not by every answer: one resource can fail for ever, such as
 * that of an aggregated API, while all others are answered. And so that an answer comes soon, the server is asked
 * for its version as long as somebody waits and it is away.
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

  /** A request was answered with this status. One that asks for a pause, or tells of a fault, does not count. */
  answered(httpStatus: number): void {
    if (httpStatus >= 500 || httpStatus === 429) return
    this.#answers += 1
    if (!this.#isAway) return
    this.#isAway = false
    for (const wake of this.#waiting) setTimeout(wake, Math.random() * spreadMs).unref()
  }

  /** A request failed before there was an answer. */
  failed(failure: ConnectionFailure): void {
    if (absences.includes(failure)) this.#isAway = true
  }

  /** Resolves with `true` when the server answers again after it was away, with `false` when the signal is aborted. */
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
      // Another answer than the one to this question does as well.
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

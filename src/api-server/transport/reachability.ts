import { sleep } from '../../lib/backoff.ts'
import { startDeadline } from '../../lib/deadline.ts'
import type { ConnectionFailure } from './connection-error.ts'

/** How often an unreachable server is asked while a caller waits, plus or minus half. */
const askEveryMs = 500
/** How long nothing may be received before {@link Reachability.follow} asks the server, and how long it then waits. */
const silenceMs = 3_000
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
  readonly #changed: (isReachable: boolean) => void
  readonly #waiting = new Set<() => void>()
  #isAway = false
  #answers = 0
  #hasReceived = false
  #asking: AbortController | undefined

  /** Calls `changed` when the server can no longer be reached, and when it answers again. */
  constructor(
    ask: (signal: AbortSignal) => Promise<unknown>,
    changed: (isReachable: boolean) => void = () => {},
  ) {
    this.#ask = ask
    this.#changed = changed
  }

  /** Whether there is no server, as far as the last request shows. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** Records an answer. Server faults (5xx) and 429 do not count. */
  answered(httpStatus: number): void {
    if (httpStatus >= 500 || httpStatus === 429) return
    this.#answers += 1
    this.#hasReceived = true
    if (!this.#isAway) return
    this.#isAway = false
    this.#changed(true)
    for (const wake of this.#waiting) setTimeout(wake, Math.random() * spreadMs).unref()
  }

  /** Records a part of a response. */
  received(): void {
    this.#hasReceived = true
  }

  /** Records a request without an answer. */
  failed(failure: ConnectionFailure): void {
    if (absences.includes(failure)) this.#lost()
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

  /**
   * Asks the server whenever nothing has been received for some time: open connections may hang without an error. Costs
   * nothing while responses or events arrive. Ends with the signal.
   */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#hasReceived = false
      await sleep(silenceMs, signal)
      const isHeard = this.#hasReceived && !this.#isAway
      // The server is already asked for the callers that wait.
      if (isHeard || this.#asking !== undefined || signal.aborted) continue
      await this.#askOnce(signal, silenceMs)
      if (!signal.aborted && !this.#hasReceived) this.#lost()
    }
  }

  #lost(): void {
    if (this.#isAway) return
    this.#isAway = true
    this.#changed(false)
  }

  async #askUntilAnswered(): Promise<void> {
    if (this.#asking !== undefined) return
    const { signal } = (this.#asking = new AbortController())
    const answersBefore = this.#answers
    while (!signal.aborted) {
      await sleep(askEveryMs * (0.5 + Math.random()), signal)
      await this.#askOnce(signal, answerDeadlineMs)
      // An answer to another request counts too.
      if (signal.aborted) return
      if (this.#answers > answersBefore) this.#stopAsking()
      else this.#lost()
    }
  }

  async #askOnce(signal: AbortSignal, deadlineMs: number): Promise<void> {
    const end = new AbortController()
    const cancel = startDeadline(deadlineMs, () => end.abort())
    await this.#ask(AbortSignal.any([signal, end.signal])).catch(() => {})
    cancel()
  }

  #stopAsking(): void {
    this.#asking?.abort()
    this.#asking = undefined
  }
}

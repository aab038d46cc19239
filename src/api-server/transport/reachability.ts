/*
 * Tracks whether a server is reachable, for all callers that wait for it. Each caller has its own back-off, half a minute
 * and more after a long outage. The first answer to any of them wakes the others.
 *
 * Only the first answer after an outage wakes them, not every answer: one resource, such as one of an aggregated API, may
 * fail for ever while the server serves all others. To get an answer soon, this class requests the server's version while
 * a caller waits and the server is unreachable.
 *
 * The same request tells refused credentials from a single path that refuses them, such as a path of an aggregated API:
 * after a 401, {@link follow} sends it at once, and again until the server accepts the credentials.
 */

import { sleep } from '../../lib/backoff.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { ClusterConfigError } from '../kubeconfig/cluster-config.ts'
import { CredentialsError } from '../kubeconfig/credentials.ts'
import type { ConnectionFailure } from './connection-error.ts'

/** The interval of requests to an unreachable server while a caller waits, plus or minus half. */
const askEveryMs = 500
/** The silence after which {@link Reachability.follow} asks the server, and how long it then waits. */
const silenceMs = 3_000
/** How long to wait for an answer. After that, the next request opens a new connection. */
const answerDeadlineMs = 1_500
/** Waiting callers continue spread over this time. */
const spreadMs = 300

/** Failures that show, for any request, that there is no server. */
const absences: readonly ConnectionFailure[] = ['refused', 'name', 'unreachable']

/** Whether an error means that the server refuses the credentials (401), or that there are none to send. */
export function isUnauthorized(error: unknown): boolean {
  if (error instanceof ApiStatusError) return error.httpStatus === 401
  return (
    error instanceof CredentialsError ||
    (error instanceof ClusterConfigError && ofCredentials.has(error.code))
  )
}

/** The codes of configurations with unusable credentials. With other codes, no server is known. */
const ofCredentials: ReadonlySet<string> = new Set([
  'CREDENTIAL_FILE_UNREADABLE',
  'CERTIFICATE_INVALID',
  'CLIENT_CERTIFICATE_EXPIRED',
  'CLIENT_CERTIFICATE_NOT_YET_VALID',
])

export class Reachability {
  readonly #ask: (signal: AbortSignal) => Promise<unknown>
  readonly #changed: () => void
  readonly #waiting = new Set<() => void>()
  #isAway = false
  #refusal: Error | undefined
  /** Aborted after a 401, to ask the server at once. */
  #doubt: AbortController | undefined
  #answers = 0
  #hasReceived = false
  #asking: AbortController | undefined

  /** `changed` is called when `isAway` has changed, and each time that `refusal` is set or unset. */
  constructor(ask: (signal: AbortSignal) => Promise<unknown>, changed: () => void) {
    this.#ask = ask
    this.#changed = changed
  }

  /** Whether there is no server, as far as the last request shows. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** The error if the last request shows that the server does not accept the credentials. */
  get refusal(): Error | undefined {
    return this.#refusal
  }

  /** Records a 401 that renewed credentials could not avoid. */
  unauthorized(): void {
    this.#doubt?.abort()
  }

  /** Records an answer. Server faults (5xx) and 429 do not count. */
  answered(httpStatus: number): void {
    if (httpStatus >= 500 || httpStatus === 429) return
    this.#answers += 1
    this.#hasReceived = true
    if (httpStatus !== 401 && this.#refusal !== undefined) {
      this.#refusal = undefined
      this.#changed()
    }
    if (!this.#isAway) return
    this.#isAway = false
    this.#changed()
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
   * Asks the server after each silence, since open connections may hang without an error, and while the credentials are
   * refused. Costs nothing while responses or events arrive. Ends with the signal.
   */
  async follow(signal: AbortSignal): Promise<void> {
    let isDoubted = false
    while (!signal.aborted) {
      this.#hasReceived = false
      // Ignores the next doubt, so that one path that refuses the credentials for ever causes few questions.
      const doubt: AbortController | undefined = isDoubted ? undefined : new AbortController()
      this.#doubt = doubt
      await sleep(silenceMs, doubt === undefined ? signal : AbortSignal.any([signal, doubt.signal]))
      isDoubted = doubt?.signal.aborted === true || this.#refusal !== undefined
      const isHeard = this.#hasReceived && !this.#isAway && !isDoubted
      // The waiting callers already have the server asked.
      if (isHeard || this.#asking !== undefined || signal.aborted) continue
      const failure = await this.#askOnce(signal, silenceMs)
      if (signal.aborted) return
      if (isUnauthorized(failure)) {
        this.#refusal = failure as Error
        this.#changed()
      } else if (!this.#hasReceived) this.#lost()
    }
  }

  #lost(): void {
    if (this.#isAway) return
    this.#isAway = true
    this.#changed()
  }

  async #askUntilAnswered(): Promise<void> {
    if (this.#asking !== undefined) return
    const { signal } = (this.#asking = new AbortController())
    const answersBefore = this.#answers
    while (!signal.aborted) {
      await sleep(askEveryMs * (0.5 + Math.random()), signal)
      await this.#askOnce(signal, answerDeadlineMs)
      // An answer to another request also counts.
      if (signal.aborted) return
      if (this.#answers > answersBefore) this.#stopAsking()
      else this.#lost()
    }
  }

  /** Asks once. Resolves with the failure if the server does not answer. */
  async #askOnce(signal: AbortSignal, deadlineMs: number): Promise<unknown> {
    const end = new AbortController()
    const cancel = startDeadline(deadlineMs, () => end.abort())
    const asking = this.#ask(AbortSignal.any([signal, end.signal]))
    const failure = await asking.then(
      () => undefined,
      (error: unknown) => error,
    )
    cancel()
    return failure
  }

  #stopAsking(): void {
    this.#asking?.abort()
    this.#asking = undefined
  }
}

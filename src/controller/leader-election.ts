/*
 * Leader election by a lease, as in client-go. A candidate takes the lease and leads, renews it while its work runs, and ends
 * its work before a rival may take the lease. `lease-lock.ts` reads and writes the lease.
 */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { ApiServer } from '../api-server/api-server.ts'
import { resources } from '../kubernetes/resources.ts'
import { sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import { DeadlineError, maxTimerMs, withDeadline } from '../lib/deadline.ts'
import {
  aFunction,
  anObject,
  aString,
  checkedOptions,
  checksLike,
  InvalidOptionError,
  type OptionChecks,
  withDefaults,
} from '../lib/options.ts'
import { type Hold, LeaseLock, type LeaseLoss } from './lease-lock.ts'

/** The defaults of {@link LeaderElectionOptions}. The first three are client-go's. */
export const leaderElectionDefaults = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
  stopDeadlineMs: 30_000,
  releaseOnStop: true,
} as const

/** Who competes for which lease, and how. Times are milliseconds. */
export interface LeaderElectionOptions {
  /** Needs `get`, `create` and `update` of the lease. */
  readonly apiServer: Pick<ApiServer, 'client'>
  readonly namespace: string
  /** The lease's name. */
  readonly name: string
  /**
   * Identifies this process in the lease. No other process may have it. Default: the host's name and a random UUID.
   */
  readonly identity?: string
  /** How long a rival waits after the last renewal that it saw. Whole seconds. */
  readonly leaseDurationMs?: number
  /**
   * The leadership is lost when this time has passed since the last successful renewal was sent. The rest of the lease
   * is the work's time to end.
   */
  readonly renewDeadlineMs?: number
  /** The pause between attempts. Candidates that wait for the lease make it up to 2.2 times as long, at random. */
  readonly retryPeriodMs?: number
  /** How long the work may take to end after a stop. The lease is renewed meanwhile. */
  readonly stopDeadlineMs?: number
  /**
   * Whether a process that stops gives the lease up as soon as its work has ended (client-go's `ReleaseOnCancel`), so
   * that a rival need not wait until the lease runs out.
   */
  readonly releaseOnStop?: boolean
  readonly observer?: LeaderElectionObserver
}

/** What the process does as the leader. */
export interface LeaderElectionCallbacks {
  /**
   * This process leads. `signal` aborts when the election stops or the leadership is lost; the promise has to settle
   * then, and may reject with the signal's reason or an `AbortError`. If it rejects otherwise, the leadership ends, and
   * the election rejects with its error. If it resolves earlier, this process stays the leader.
   */
  readonly onStartedLeading: (signal: AbortSignal, term: LeaderTerm) => void | Promise<void>
  /** This process has led and does not any more. Its work has ended, or `runLeaderElection` rejects. */
  readonly onStoppedLeading?: () => void
  /** Another leader than before was seen, possibly this process. `transitions` counts the changes of the leader. */
  readonly onNewLeader?: (identity: string, transitions: number) => void
}

/** The time from taking the lease until it is given up or lost. */
export interface LeaderTerm {
  readonly identity: string
  /** The lease's `leaseTransitions`: every later term has a greater number, unless the lease is deleted. */
  readonly transitions: number
  /**
   * Aborts when the leadership is lost, also while the work drains after a stop: the work must not write any more. The
   * reason is a {@link LeadershipLostError}.
   */
  readonly lost: AbortSignal
  /**
   * How long no rival can lead, by the clock of this process. 0 or less: a rival may lead already. Ask before an act
   * that cannot be guarded by a resource version: a process may have been suspended just before.
   */
  readonly remainingMs: () => number
}

/** Reports for metrics and logs. Every method is optional and must not throw. */
export interface LeaderElectionObserver {
  /** Whether this process leads; not yet at the beginning (client-go's `leader_election_master_status`). */
  leading?(isLeading: boolean): void
  /** The leader has renewed its lease. */
  renewed?(latencyMs: number): void
  /**
   * A renewal has to read the lease first, because another client has changed it (client-go's
   * `leader_election_slowpath_total`).
   */
  slowPath?(): void
  /** An attempt failed; the next one follows. Without this method, the first one in a row is a warning of the process. */
  failed?(step: 'acquire' | 'release' | 'renew', error: unknown): void
}

/**
 * This process is not the leader any more, and did not stop by itself. `reason` says why: the lease could not be renewed
 * in time (`expired`), another process holds it (`taken`), it is gone (`deleted`), or the work took longer than
 * `stopDeadlineMs` to end (`stuck`).
 */
export class LeadershipLostError extends CodedError {
  readonly reason: LossReason
  /** Whether the work has ended in time. If false, it still runs: end the process. */
  readonly workEnded: boolean

  constructor(lease: string, reason: LossReason, details: { workEnded: boolean; cause?: unknown }) {
    const { workEnded, cause } = details
    const running = workEnded ? '' : '; the work still runs'
    super('LEADERSHIP_LOST', `the lease ${lease} is lost: ${lossTexts[reason]}${running}`, {
      value: lease,
      cause,
      hint: workEnded
        ? 'end the process, or run the election again'
        : 'end the process: another one may lead now. Let the work end when its signal aborts',
    })
    this.reason = reason
    this.workEnded = workEnded
  }
}

type LossReason = LeaseLoss | 'expired' | 'stuck'

const lossTexts: Readonly<Record<LossReason, string>> = {
  expired: 'it could not be renewed in time',
  taken: 'another process holds it',
  deleted: 'it was deleted',
  stuck: 'the work did not end in time after the stop',
}

/** Candidates that wait make their pause longer by up to this factor, so that they do not all ask at once. */
const jitterFactor = 1.2

const electionChecks: OptionChecks<LeaderElectionOptions> = {
  apiServer: anObject,
  namespace: aString,
  name: aString,
  identity: aString,
  ...checksLike({ ...leaderElectionDefaults }),
  observer: anObject,
}

const callbackChecks: OptionChecks<LeaderElectionCallbacks> = {
  onStartedLeading: aFunction,
  onStoppedLeading: aFunction,
  onNewLeader: aFunction,
}

/**
 * Competes for a lease and leads while this process holds it (client-go's `tools/leaderelection`). Resolves after the
 * signal has aborted, once the work has ended and the lease is given up.
 *
 * A leader that cannot renew its lease ends its work before a rival may lead: both signals abort `renewDeadlineMs` after
 * the last successful renewal was sent, and rivals wait for `leaseDurationMs` after they saw it. Then it rejects with
 * {@link LeadershipLostError}: once the work has ended, but at the latest when the lease runs out. A write that is on
 * its way then may still arrive: guard writes by preconditions.
 *
 * Tolerates clocks that differ, not clocks of very different speed. Rejects with `InvalidOptionError`, and with the
 * error of `onStartedLeading`.
 */
export async function runLeaderElection(
  options: LeaderElectionOptions,
  callbacks: LeaderElectionCallbacks,
  signal: AbortSignal,
): Promise<void> {
  await new Election(options, callbacks).run(signal)
}

/** Returns the options. Throws `InvalidOptionError`. */
export function checkedElection(given: LeaderElectionOptions): LeaderElectionOptions {
  const options = checkedOptions('a leader election', given, electionChecks)
  const { apiServer, namespace, name, identity = newIdentity() } = options
  anObject('apiServer', apiServer)
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = filled(options)
  const jittered = retryPeriodMs * jitterFactor
  requireThat(isText(namespace), 'namespace', namespace, 'the namespace of the lease')
  requireThat(isText(name), 'name', name, 'the name of the lease')
  requireThat(isText(identity), 'identity', identity, 'a text that no other process gives')
  const isWhole = leaseDurationMs > 0 && leaseDurationMs % 1000 === 0
  requireThat(isWhole, 'leaseDurationMs', leaseDurationMs, 'whole seconds, such as 15000')
  const isShort = leaseDurationMs <= maxTimerMs
  requireThat(isShort, 'leaseDurationMs', leaseDurationMs, `at most ${maxTimerMs}`)
  requireThat(retryPeriodMs >= 1, 'retryPeriodMs', retryPeriodMs, 'at least 1')
  const most = `less than leaseDurationMs, which is ${leaseDurationMs}`
  requireThat(renewDeadlineMs < leaseDurationMs, 'renewDeadlineMs', renewDeadlineMs, most)
  const least = `more than ${jitterFactor} times retryPeriodMs, which is ${retryPeriodMs}`
  requireThat(renewDeadlineMs > jittered, 'renewDeadlineMs', renewDeadlineMs, least)
  return options
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

function requireThat(isValid: boolean, option: string, value: unknown, expected: string): void {
  if (!isValid) throw new InvalidOptionError(option, value, expected)
}

function filled(options: LeaderElectionOptions): Timing & { readonly releaseOnStop: boolean } {
  return withDefaults<Timing & { readonly releaseOnStop: boolean }>(leaderElectionDefaults, options)
}

/** An own identity for each process and election, as controller-runtime makes it. */
function newIdentity(): string {
  return `${hostname()}_${randomUUID()}`
}

interface Timing {
  readonly leaseDurationMs: number
  readonly renewDeadlineMs: number
  readonly retryPeriodMs: number
  readonly stopDeadlineMs: number
}

class Election {
  readonly #identity: string
  readonly #lease: string
  readonly #timing: Timing
  readonly #releaseOnStop: boolean
  /** Half of the time to renew, so that a request that hangs leaves time for another one. */
  readonly #requestDeadlineMs: number
  readonly #callbacks: LeaderElectionCallbacks
  readonly #observer: LeaderElectionObserver
  readonly #lock: LeaseLock
  #reportedLeader = ''
  #lastFailure: unknown

  constructor(given: LeaderElectionOptions, callbacks: LeaderElectionCallbacks) {
    const options = checkedElection(given)
    const { apiServer, namespace, name, identity = newIdentity(), observer = {} } = options
    // A name that the API server refuses would be tried for ever.
    const form = 'lower case letters, digits and "-"; in a name "." too'
    if (!labelPattern.test(namespace)) throw new InvalidOptionError('namespace', namespace, form)
    if (!subdomainPattern.test(name)) throw new InvalidOptionError('name', name, form)
    this.#callbacks = checkedOptions('a leader election', callbacks, callbackChecks)
    aFunction('onStartedLeading', callbacks.onStartedLeading)
    const { releaseOnStop, ...timing } = filled(options)
    this.#identity = identity
    this.#lease = `${namespace}/${name}`
    this.#timing = timing
    this.#releaseOnStop = releaseOnStop
    this.#requestDeadlineMs = timing.renewDeadlineMs / 2
    this.#observer = observer
    this.#lock = new LeaseLock({
      client: apiServer.client(resources.leases),
      namespace,
      name,
      identity,
      leaseDurationMs: timing.leaseDurationMs,
      requestDeadlineMs: this.#requestDeadlineMs,
      slowPath: () => observer.slowPath?.(),
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#observer.leading?.(false)
    const hold = await this.#acquire(signal)
    if (hold === undefined) return
    if (signal.aborted) return await this.#release(this.#requestDeadlineMs)
    const term = new Term(this.#identity, hold, this.#lease, this.#timing)
    const stop = (): void => term.stop(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    try {
      await this.#lead(term)
    } finally {
      signal.removeEventListener('abort', stop)
      // Nothing may continue after an observer or a callback has thrown.
      term.stop(new DOMException('the election has ended', 'AbortError'))
      term.end()
    }
  }

  /** Tries until this process holds the lease, or until the signal aborts. */
  async #acquire(signal: AbortSignal): Promise<Hold | undefined> {
    while (!signal.aborted) {
      try {
        const hold = await this.#lock.tryToTake(signal)
        this.#succeeded()
        if (hold !== undefined) return hold
      } catch (error) {
        if (!signal.aborted) this.#failed('acquire', error)
      }
      await sleep(this.#timing.retryPeriodMs * (1 + Math.random() * jitterFactor), signal)
    }
    return undefined
  }

  /** Works and renews until the term is over. */
  async #lead(term: Term): Promise<void> {
    const { onStartedLeading, onStoppedLeading } = this.#callbacks
    let failure: { readonly error: unknown } | undefined
    this.#observer.leading?.(true)
    const renewing = this.#renewAll(term)
    const work = (async () => onStartedLeading(term.signal, term))().catch((error: unknown) => {
      // `timers/promises` and `fetch` reject in this way when they are aborted.
      const isAbort = error instanceof Error && error.name === 'AbortError'
      if (term.signal.aborted && (isAbort || error === term.signal.reason)) return
      failure = { error }
      term.stop(error)
    })
    await aborted(term.signal)
    const lost = aborted(term.lost).then(() => false)
    // After a loss, the work gets what is left of the lease.
    const workEnded =
      (await Promise.race([work.then(() => true), lost])) ||
      (await withDeadline('the work of the leader', work, term.graceMs).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof DeadlineError)) throw error
          return false
        },
      ))
    term.end()
    await renewing
    if (workEnded && this.#releaseOnStop) {
      await this.#release(term.lost.aborted ? term.remainingMs() : this.#requestDeadlineMs)
    }
    this.#observer.leading?.(false)
    onStoppedLeading?.()
    if (term.lost.aborted) throw term.lossError(workEnded)
    if (failure !== undefined) throw failure.error
  }

  async #renewAll(term: Term): Promise<void> {
    for (;;) {
      await sleep(this.#timing.retryPeriodMs, term.over)
      if (term.over.aborted) return
      const beganAtMs = performance.now()
      try {
        const renewed = await this.#lock.renew(term.lost)
        this.#succeeded()
        if (typeof renewed === 'string') return term.lose(renewed)
        term.renewed(renewed)
        this.#observer.renewed?.(performance.now() - beganAtMs)
      } catch (error) {
        if (term.over.aborted) return
        term.lastFailure = error
        this.#failed('renew', error)
      }
    }
  }

  async #release(deadlineMs: number): Promise<void> {
    if (deadlineMs <= 0) return
    try {
      await this.#lock.release(deadlineMs)
    } catch (error) {
      this.#failed('release', error)
    }
  }

  /** The server has answered: ends the row of failures, and reports a new leader. */
  #succeeded(): void {
    this.#lastFailure = undefined
    const { holder, transitions } = this.#lock
    if (holder === '' || holder === this.#reportedLeader) return
    this.#reportedLeader = holder
    this.#callbacks.onNewLeader?.(holder, transitions)
  }

  #failed(step: 'acquire' | 'release' | 'renew', error: unknown): void {
    if (this.#observer.failed !== undefined) this.#observer.failed(step, error)
    else if (this.#lastFailure === undefined) {
      process.emitWarning(`the lease ${this.#lease}: ${step} failed: ${String(error)}`)
    }
    this.#lastFailure = error
  }
}

const labelPattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
const subdomainPattern =
  /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

class Term implements LeaderTerm {
  readonly identity: string
  readonly transitions: number
  lastFailure: unknown
  readonly #lease: string
  readonly #timing: Timing
  readonly #working = new AbortController()
  readonly #lost = new AbortController()
  readonly #over = new AbortController()
  #heldSinceMs: number
  #reason: LossReason = 'expired'
  #lossTimer: NodeJS.Timeout | undefined
  #stopTimer: NodeJS.Timeout | undefined

  constructor(identity: string, hold: Hold, lease: string, timing: Timing) {
    this.identity = identity
    this.transitions = hold.transitions
    this.#lease = lease
    this.#timing = timing
    this.#heldSinceMs = hold.sentAtMs
    this.renewed(hold)
  }

  /** Aborts at a stop and at a loss. */
  get signal(): AbortSignal {
    return this.#working.signal
  }

  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Aborts when nothing is to be renewed any more. */
  get over(): AbortSignal {
    return this.#over.signal
  }

  // A field, so that the user of a term may take it apart.
  readonly remainingMs = (): number => {
    const isForeign = this.#reason === 'taken' || this.#reason === 'deleted'
    return isForeign ? 0 : this.#leaseEndMs - performance.now()
  }

  /** How long the work may take to end after a loss: what is left of a lease that could not be renewed in time. */
  get graceMs(): number {
    const { leaseDurationMs, renewDeadlineMs } = this.#timing
    const leftMs = this.#leaseEndMs - performance.now()
    return Math.max(0, Math.min(leftMs, leaseDurationMs - renewDeadlineMs))
  }

  get #leaseEndMs(): number {
    return this.#heldSinceMs + this.#timing.leaseDurationMs
  }

  /** Postpones the loss. */
  renewed({ sentAtMs }: Hold): void {
    if (this.#over.signal.aborted) return
    this.#heldSinceMs = sentAtMs
    clearTimeout(this.#lossTimer)
    const endsAtMs = sentAtMs + this.#timing.renewDeadlineMs
    this.#lossTimer = setTimeout(() => this.lose('expired'), endsAtMs - performance.now())
  }

  /** Asks the work to end, and goes on holding the lease. */
  stop(reason: unknown): void {
    if (this.#working.signal.aborted) return
    this.#working.abort(reason)
    const { stopDeadlineMs } = this.#timing
    if (stopDeadlineMs > maxTimerMs || this.#over.signal.aborted) return
    this.#stopTimer = setTimeout(() => this.lose('stuck'), stopDeadlineMs)
  }

  lose(reason: LossReason): void {
    if (this.#over.signal.aborted) return
    this.#reason = reason
    this.end()
    const error = this.lossError(true)
    this.#lost.abort(error)
    this.#working.abort(error)
  }

  lossError(workEnded: boolean): LeadershipLostError {
    return new LeadershipLostError(this.#lease, this.#reason, {
      workEnded,
      cause: this.#reason === 'expired' ? this.lastFailure : undefined,
    })
  }

  end(): void {
    clearTimeout(this.#lossTimer)
    clearTimeout(this.#stopTimer)
    this.#over.abort()
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

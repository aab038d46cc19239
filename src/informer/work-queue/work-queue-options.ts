import { CodedError } from '../../lib/coded-error.ts'
import { aDuration, aFunction, aLimit, anObject, type OptionChecks } from '../../lib/options.ts'
import { shownKey } from './key-identity.ts'
import type { PendingKeys } from './pending-keys.ts'
import type { RateLimiter } from './rate-limiter.ts'

/**
 * Every default of the work queue, its rate limiter and its workers. The limiter's are client-go's
 * (`util/workqueue/default_rate_limiters.go`); the two deadlines of the stop fit the 30 s that Kubernetes leaves a
 * pod after SIGTERM.
 */
export const workQueueDefaults = {
  /** The first retry of a key; doubled by each further failure. */
  baseDelayMs: 5,
  maxDelayMs: 1_000_000,
  /** Retries of all keys together, per second and at once. */
  qps: 10,
  burst: 100,
  reconcileDeadlineMs: 600_000,
  drainDeadlineMs: 20_000,
  stopDeadlineMs: 5_000,
} as const

/**
 * What a work queue reports to whoever measures it (client-go's `MetricsProvider`, `util/workqueue/metrics.go`). Every
 * method is optional and must not throw. The gauges are read from the queue: `depth`, `longestRunningMs`,
 * `unfinishedWorkMs`.
 */
export interface WorkQueueObserver<K = string> {
  /** A key has to be processed that did not have to before. */
  added?(key: K): void
  /** A worker has taken a key, `latencyMs` after it was added. */
  started?(key: K, latencyMs: number): void
  /** The worker is done with it. */
  finished?(key: K, workMs: number): void
  /** A key was added with a delay, or by the rate limiter. */
  retried?(key: K, delayMs: number): void
}

/** What a work queue is made from. */
export interface WorkQueueOptions<K = string> {
  /** How long a retry waits; client-go's default limiter unless given. Not to be shared between queues. */
  readonly rateLimiter?: RateLimiter
  /** The order of the keys; first in, first out unless given. */
  readonly pending?: PendingKeys<K>
  readonly observer?: WorkQueueObserver<K>
  /**
   * The text that tells keys apart, where they are not strings: two keys of one text are one key. JSON with sorted members
   * unless given.
   */
  readonly identify?: (key: K) => string
}

export const workQueueChecks: OptionChecks<WorkQueueOptions> = {
  rateLimiter: anObject,
  pending: anObject,
  observer: anObject,
  identify: aFunction,
}

/** How workers retry and end. Times are milliseconds; `Infinity` is no deadline. */
export interface WorkersOptions<K = string> {
  /**
   * A key that has failed once and then this many times more is given up, which is a warning of the process whatever
   * `onFailure` does with it. Never, unless given.
   */
  readonly maxRetries?: number
  /** After this time the signal of a reconcile is aborted. */
  readonly reconcileDeadlineMs?: number
  /** How long the keys in the queue may take after the abort of the workers; then every reconcile is aborted. */
  readonly drainDeadlineMs?: number
  /** How long an aborted reconcile may take to end while the workers stop. */
  readonly stopDeadlineMs?: number
  /** Told of every reconcile that threw; must not throw. Without it, failures are warnings of the process. */
  readonly onFailure?: (error: ReconcileError<K>) => void
}

export const workersChecks: OptionChecks<WorkersOptions> = {
  maxRetries: aLimit(),
  reconcileDeadlineMs: aDuration,
  drainDeadlineMs: aDuration,
  stopDeadlineMs: aDuration,
  onFailure: aFunction,
}

/** A reconcile that threw, or rejected; `cause` is what it threw. */
export class ReconcileError<K = unknown> extends CodedError {
  readonly key: K
  /** How many times in a row it has failed for this key, this one included. */
  readonly failures: number
  /** Whether the key is tried again. Not after `maxRetries`, nor once the queue is shutting down. */
  readonly retried: boolean

  constructor(
    key: K,
    cause: unknown,
    outcome: { readonly failures: number; readonly retried: boolean },
  ) {
    const { failures, retried } = outcome
    const next = retried ? 'will be tried again' : 'given up'
    super(
      'RECONCILE',
      `reconcile of ${shownKey(key)} failed (${failures} in a row, ${next}): ${String(cause)}`,
      { value: key, cause },
    )
    this.key = key
    this.failures = failures
    this.retried = retried
  }
}

/** Reconciles that went on although their signal had been aborted. Their keys are its `value`. */
export class ReconcileStuckError<K = unknown> extends CodedError {
  readonly keys: readonly K[]

  constructor(keys: readonly K[], deadlineMs: number) {
    const names = keys.map(shownKey).join(', ')
    super('RECONCILE_STUCK', `still running ${deadlineMs} ms after their abort: ${names}`, {
      value: keys,
      hint: 'let reconcile end when its signal is aborted, or allow it a longer stopDeadlineMs',
    })
    this.keys = keys
  }
}

/** Thrown by a reconcile where another try would be of no use: the key is given up. Its `cause` is why. */
export class TerminalError extends CodedError {
  constructor(message: string, cause?: unknown) {
    super('TERMINAL', message, { cause })
  }
}

import { CodedError } from '../../lib/coded-error.ts'
import { aDuration, aFunction, aLimit, anObject, type OptionChecks } from '../../lib/options.ts'
import { type PendingKeys, shownKey } from './pending-keys.ts'

/**
 * The defaults of the work queue, its rate limiter and its workers. The limiter's are client-go's
 * (`util/workqueue/default_rate_limiters.go`). The deadlines for stopping fit into the 30 s that Kubernetes gives a pod
 * after SIGTERM.
 */
export const workQueueDefaults = {
  /** The delay of a key's first retry; doubled by each further failure. */
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
 * How long a key waits for its next attempt (client-go's `RateLimiter`, `util/workqueue/default_rate_limiters.go`). A
 * limiter that counts remembers each failed key until `forget`: it is bounded by the number of keys. Keys that are not
 * strings are passed as the text of the queue's `identify`.
 */
export interface RateLimiter {
  /** The delay in milliseconds. Counts one more failure of the key. */
  when(key: string): number
  /** The key has succeeded, or was given up. */
  forget(key: string): void
  /** How many times `when` was called for the key since `forget`; 0 if the limiter does not count. */
  numRequeues(key: string): number
}

/**
 * Reports for metrics (client-go's `MetricsProvider`, `util/workqueue/metrics.go`). Every method is optional and must
 * not throw. Read gauges from the queue: `depth`, `longestRunningMs`, `unfinishedWorkMs`.
 */
export interface WorkQueueObserver<K = string> {
  /** A key needs processing that did not before. */
  added?(key: K): void
  /** A worker has taken a key, `latencyMs` after it was added. */
  started?(key: K, latencyMs: number): void
  /** The worker is done with the key. */
  finished?(key: K, workMs: number): void
  /** A key was added with a delay, or by the rate limiter. */
  retried?(key: K, delayMs: number): void
}

export interface WorkQueueOptions<K = string> {
  /** The delay of retries; default: client-go's limiter. Do not share it between queues. */
  readonly rateLimiter?: RateLimiter
  /** The order of the keys; default: first in, first out. */
  readonly pending?: PendingKeys<K>
  readonly observer?: WorkQueueObserver<K>
  /**
   * The text that identifies keys that are not strings: keys with equal texts are one key. Default: JSON with sorted
   * members.
   */
  readonly identify?: (key: K) => string
}

export const workQueueChecks: OptionChecks<WorkQueueOptions> = {
  rateLimiter: anObject,
  pending: anObject,
  observer: anObject,
  identify: aFunction,
}

/** How workers retry and stop. Times are milliseconds; `Infinity` means no deadline. */
export interface WorkersOptions<K = string> {
  /**
   * After one failure and so many retries a key is given up. That is a warning of the process, whatever `onFailure`
   * does. Default: never.
   */
  readonly maxRetries?: number
  /** After this time the signal of a reconcile aborts. */
  readonly reconcileDeadlineMs?: number
  /**
   * How long the keys in the queue may take after the workers' signal has aborted. Then every reconcile is aborted.
   */
  readonly drainDeadlineMs?: number
  /** How long an aborted reconcile may take to end while the workers stop. */
  readonly stopDeadlineMs?: number
  /** Called for every reconcile that throws; must not throw. Without it, failures are warnings of the process. */
  readonly onFailure?: (error: ReconcileError<K>) => void
}

export const workersChecks: OptionChecks<WorkersOptions> = {
  maxRetries: aLimit(),
  reconcileDeadlineMs: aDuration,
  drainDeadlineMs: aDuration,
  stopDeadlineMs: aDuration,
  onFailure: aFunction,
}

/** A reconcile threw or rejected; `cause` is its error. */
export class ReconcileError<K = unknown> extends CodedError {
  readonly key: K
  /** How many times in a row the key has failed, including this one. */
  readonly failures: number
  /** Whether the key is retried. False after `maxRetries`, and while the queue shuts down. */
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

/** Reconciles kept running although their signal had aborted. `value` has their keys. */
export class ReconcileStuckError<K = unknown> extends CodedError {
  readonly keys: readonly K[]

  constructor(keys: readonly K[], deadlineMs: number) {
    const names = keys.map(shownKey).join(', ')
    super('RECONCILE_STUCK', `still running ${deadlineMs} ms after the abort: ${names}`, {
      value: keys,
      hint: 'let reconcile end when its signal is aborted, or allow it a longer stopDeadlineMs',
    })
    this.keys = keys
  }
}

/** A reconcile throws this if retrying is useless: the key is given up. `cause` says why. */
export class TerminalError extends CodedError {
  constructor(message: string, cause?: unknown) {
    super('TERMINAL', message, { cause })
  }
}

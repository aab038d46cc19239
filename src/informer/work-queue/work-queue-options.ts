import type { PendingKeys } from './pending-keys.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { WorkQueueObserver } from './work-queue-observer.ts'
import type { ReconcileError } from './work-queue-errors.ts'

/** What a work queue is made from. */
export interface WorkQueueOptions {
  /** How long a retry waits; client-go's default limiter unless given. Not to be shared between queues. */
  readonly rateLimiter?: RateLimiter
  /** The order of the keys; first in, first out unless given. */
  readonly pending?: PendingKeys
  readonly observer?: WorkQueueObserver
}

/** How workers retry and end. Times are milliseconds. */
export interface WorkersOptions {
  /** A key that has failed once and then this many times more is given up; never, unless given. */
  readonly maxRetries?: number
  /** After this time the signal of a reconcile is aborted. */
  readonly reconcileDeadlineMs?: number
  /** How long the keys in the queue may take after the abort of the workers; then every reconcile is aborted. */
  readonly drainDeadlineMs?: number
  /** How long an aborted reconcile may take to end while the workers stop. */
  readonly stopDeadlineMs?: number
  /** Told of every reconcile that threw; must not throw. Without it, failures are warnings of the process. */
  readonly onFailure?: (error: ReconcileError) => void
}

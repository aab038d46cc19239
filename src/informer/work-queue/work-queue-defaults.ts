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

/**
 * What a work queue reports to whoever measures it (client-go's `MetricsProvider`, `util/workqueue/metrics.go`). Every
 * method is optional and must not throw. The gauges are read from the queue: `depth`, `longestRunningMs`,
 * `unfinishedWorkMs`.
 */
export interface WorkQueueObserver {
  /** A key has to be processed that did not have to before. */
  added?(key: string): void
  /** A worker has taken a key, `latencyMs` after it was added. */
  started?(key: string, latencyMs: number): void
  /** The worker is done with it. */
  finished?(key: string, workMs: number): void
  /** A key was added with a delay, or by the rate limiter. */
  retried?(key: string, delayMs: number): void
}

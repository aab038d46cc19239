import { aLimit, aNumber, checkedOptions, InvalidOptionError } from '../../lib/options.ts'

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

/** Per key: `baseDelayMs`, doubled by each failure, at most `maxDelayMs`. Throws `InvalidOptionError`. */
export function itemExponentialFailureRateLimiter(
  options: { readonly baseDelayMs?: number; readonly maxDelayMs?: number } = {},
): RateLimiter {
  const { baseDelayMs, maxDelayMs } = {
    ...workQueueDefaults,
    ...checkedOptions('a rate limiter', options, { baseDelayMs: aNumber(), maxDelayMs: aNumber() }),
  }
  return countingLimiter((failures) =>
    // Beyond that exponent, 0 ms would become NaN.
    Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(1023, failures - 1)),
  )
}

/**
 * Per key: `fastDelayMs` for the first `maxFastAttempts` attempts, then `slowDelayMs`. Throws `InvalidOptionError`.
 */
export function itemFastSlowRateLimiter(options: {
  readonly fastDelayMs: number
  readonly slowDelayMs: number
  readonly maxFastAttempts: number
}): RateLimiter {
  const { fastDelayMs, slowDelayMs, maxFastAttempts } = checkedOptions('a rate limiter', options, {
    fastDelayMs: aNumber(),
    slowDelayMs: aNumber(),
    maxFastAttempts: aLimit(),
  })
  aNumber()('fastDelayMs', fastDelayMs)
  aNumber()('slowDelayMs', slowDelayMs)
  aLimit()('maxFastAttempts', maxFastAttempts)
  return countingLimiter((failures) => (failures <= maxFastAttempts ? fastDelayMs : slowDelayMs))
}

/**
 * For all keys together: a bucket of `burst` tokens, filled at `qps` per second. Each call takes a token, in advance if
 * there is none, and waits for it. Counts no failures. Throws `InvalidOptionError`.
 */
export function bucketRateLimiter(
  options: { readonly qps?: number; readonly burst?: number } = {},
): RateLimiter {
  const { qps, burst } = {
    ...workQueueDefaults,
    ...checkedOptions('a rate limiter', options, { qps: aLimit(), burst: aLimit(1) }),
  }
  if (qps === 0) throw new InvalidOptionError('qps', qps, 'a number greater than 0')
  let tokens = burst
  let filledAtMs = performance.now()
  return {
    when() {
      const nowMs = performance.now()
      tokens = Math.min(burst, tokens + ((nowMs - filledAtMs) / 1000) * qps) - 1
      filledAtMs = nowMs
      return tokens >= 0 ? 0 : (-tokens / qps) * 1000
    },
    forget() {},
    numRequeues: () => 0,
  }
}

/** The longest of the limiters' delays. Every limiter counts the failure. */
export function maxOfRateLimiter(...limiters: readonly RateLimiter[]): RateLimiter {
  return {
    when: (key) => limiters.reduce((delayMs, one) => Math.max(delayMs, one.when(key)), 0),
    forget(key) {
      for (const one of limiters) one.forget(key)
    },
    numRequeues: (key) => limiters.reduce((count, one) => Math.max(count, one.numRequeues(key)), 0),
  }
}

/**
 * Limits the delays of another limiter to `maxDelayMs` (client-go's `WithMaxWaitRateLimiter`). Throws
 * `InvalidOptionError`.
 */
export function maxWaitRateLimiter(limiter: RateLimiter, maxDelayMs: number): RateLimiter {
  aNumber()('maxDelayMs', maxDelayMs)
  return {
    when: (key) => Math.min(maxDelayMs, limiter.when(key)),
    forget: (key) => limiter.forget(key),
    numRequeues: (key) => limiter.numRequeues(key),
  }
}

/** client-go's `DefaultTypedControllerRateLimiter`: exponential per key, and a bucket for all keys. */
export function defaultControllerRateLimiter(): RateLimiter {
  return maxOfRateLimiter(itemExponentialFailureRateLimiter(), bucketRateLimiter())
}

function countingLimiter(delayMsAfter: (failures: number) => number): RateLimiter {
  const failuresByKey = new Map<string, number>()
  return {
    when(key) {
      const failures = (failuresByKey.get(key) ?? 0) + 1
      failuresByKey.set(key, failures)
      return delayMsAfter(failures)
    },
    forget(key) {
      failuresByKey.delete(key)
    },
    numRequeues: (key) => failuresByKey.get(key) ?? 0,
  }
}

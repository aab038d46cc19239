import {
  aLimit,
  aNumber,
  checkedOptions,
  InvalidOptionError,
  withDefaults,
} from '../../lib/options.ts'
import { type RateLimiter, workQueueDefaults } from './work-queue-options.ts'

const { baseDelayMs: baseMs, maxDelayMs: maxMs, qps: perSecond, burst: atOnce } = workQueueDefaults
const delayDefaults: Record<'baseDelayMs' | 'maxDelayMs', number> = {
  baseDelayMs: baseMs,
  maxDelayMs: maxMs,
}
const bucketDefaults: Record<'qps' | 'burst', number> = { qps: perSecond, burst: atOnce }

/** Per key: `baseDelayMs`, doubled by each failure, at most `maxDelayMs`. Throws `InvalidOptionError`. */
export function itemExponentialFailureRateLimiter(
  options: { readonly baseDelayMs?: number; readonly maxDelayMs?: number } = {},
): RateLimiter {
  const { baseDelayMs, maxDelayMs } = withDefaults<typeof delayDefaults>(
    delayDefaults,
    checkedOptions('a rate limiter', options, { baseDelayMs: aNumber(), maxDelayMs: aNumber() }),
  )
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
  const { qps, burst } = withDefaults<typeof bucketDefaults>(
    bucketDefaults,
    checkedOptions('a rate limiter', options, { qps: aLimit(), burst: aLimit(1) }),
  )
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

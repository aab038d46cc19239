import {
  bucketRateLimiter,
  defaultControllerRateLimiter,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  maxWaitRateLimiter,
  type RateLimiter,
  InvalidOptionError,
} from 'informerql/informer'
import { describe, expect, it, vi } from 'vitest'

const delays = (limiter: RateLimiter, key: string, times: number): number[] =>
  Array.from({ length: times }, () => limiter.when(key))

describe('[32] rate limiters', () => {
  it('[32] exponential: doubled per failure of the key, capped, begun anew when forgotten', () => {
    const limiter = itemExponentialFailureRateLimiter({ baseDelayMs: 1, maxDelayMs: 10 })
    expect(delays(limiter, 'a', 6)).toEqual([1, 2, 4, 8, 10, 10])
    expect(limiter.when('b')).toBe(1)
    expect([limiter.numRequeues('a'), limiter.numRequeues('b')]).toEqual([6, 1])
    limiter.forget('a')
    expect(limiter.numRequeues('a')).toBe(0)
    expect(limiter.when('a')).toBe(1)
    expect(limiter.numRequeues('b')).toBe(1)
  })

  it('[32] exponential: never overflows', () => {
    expect(delays(itemExponentialFailureRateLimiter(), 'a', 5000).at(-1)).toBe(1_000_000)
    const none = itemExponentialFailureRateLimiter({ baseDelayMs: 0 })
    expect(delays(none, 'a', 5000).at(-1)).toBe(0)
  })

  it('[32] fast and slow: fast for the first attempts only', () => {
    const limiter = itemFastSlowRateLimiter({
      fastDelayMs: 5,
      slowDelayMs: 900,
      maxFastAttempts: 2,
    })
    expect(delays(limiter, 'a', 4)).toEqual([5, 5, 900, 900])
    limiter.forget('a')
    expect(limiter.when('a')).toBe(5)
  })

  it('[32] bucket: a burst for all keys together, then one after the other', () => {
    // Slow enough that nothing comes back while the test runs.
    const limiter = bucketRateLimiter({ qps: 0.001, burst: 3 })
    expect([limiter.when('a'), limiter.when('b'), limiter.when('c')]).toEqual([0, 0, 0])
    const [first = 0, second = 0] = delays(limiter, 'd', 2)
    expect(first).toBeGreaterThan(900_000)
    expect(first).toBeLessThanOrEqual(1_000_000)
    expect(second).toBeGreaterThan(first + 900_000)
    expect(limiter.numRequeues('d')).toBe(0)
  })

  it('[32] bucket: fills up again, up to the burst', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const limiter = bucketRateLimiter({ qps: 1, burst: 2 })
      expect(delays(limiter, 'a', 3)).toEqual([0, 0, 1000])
      vi.advanceTimersByTime(600_000)
      expect(delays(limiter, 'a', 3)).toEqual([0, 0, 1000])
    } finally {
      vi.useRealTimers()
    }
  })

  it('[32] the longest of several; every one of them counts', () => {
    const limiter = maxOfRateLimiter(
      itemFastSlowRateLimiter({ fastDelayMs: 5, slowDelayMs: 3000, maxFastAttempts: 3 }),
      itemExponentialFailureRateLimiter({ baseDelayMs: 4, maxDelayMs: 100 }),
    )
    expect(delays(limiter, 'a', 4)).toEqual([5, 8, 16, 3000])
    expect(limiter.numRequeues('a')).toBe(4)
    limiter.forget('a')
    expect(limiter.numRequeues('a')).toBe(0)
    expect(maxOfRateLimiter().when('a')).toBe(0)
  })

  it('[32] at most so long', () => {
    const limiter = maxWaitRateLimiter(itemExponentialFailureRateLimiter({ baseDelayMs: 4 }), 10)
    expect(delays(limiter, 'a', 4)).toEqual([4, 8, 10, 10])
    expect(limiter.numRequeues('a')).toBe(4)
    limiter.forget('a')
    expect(limiter.when('a')).toBe(4)
  })

  it("[32] client-go's default: 5 ms doubled to 1000 s per key, 10 per second after 100 of all", () => {
    const perKey = defaultControllerRateLimiter()
    expect(delays(perKey, 'a', 20).at(-1)).toBe(1_000_000)
    const many = defaultControllerRateLimiter()
    const delaysMs = Array.from({ length: 200 }, (_, index) => many.when(`k${index}`))
    expect(delaysMs.slice(0, 100).every((delayMs) => delayMs === 5)).toBe(true)
    expect(delaysMs.at(-1)).toBeGreaterThan(1000)
    expect(delaysMs.at(-1)).toBeLessThanOrEqual(10_000)
  })

  it('[32] refuse what makes no sense, naming it', () => {
    const refused = [
      () => itemExponentialFailureRateLimiter({ baseDelayMs: -1 }),
      () => itemExponentialFailureRateLimiter({ maxDelayMs: Number.POSITIVE_INFINITY }),
      () =>
        itemFastSlowRateLimiter({ fastDelayMs: 1, slowDelayMs: Number.NaN, maxFastAttempts: 1 }),
      () => bucketRateLimiter({ qps: 0 }),
      () => bucketRateLimiter({ burst: 0.5 }),
      () => maxWaitRateLimiter(bucketRateLimiter(), -1),
    ]
    for (const create of refused) expect(create).toThrow(InvalidOptionError)
    expect(() => bucketRateLimiter({ qps: Number.NaN })).toThrow('qps is NaN')
  })
})

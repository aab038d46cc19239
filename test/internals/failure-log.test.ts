// Imports internals: the intervals are longer than a test may wait.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FailureLog } from '../../src/gateway/observers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('A failure that repeats is written at once, then once an interval with its count, and anew when it comes back', () => {
  const lines: unknown[] = []
  const write = (message: string, details?: object): void => void lines.push([message, details])
  using log = new FailureLog({ info: write, warn: write, error: write })
  const place = { cluster: 'one' }
  const flood = (): void => {
    for (let at = 0; at < 1_000; at++) log.warn('it failed', place)
  }
  flood()
  log.warn('it failed', { cluster: 'two' })
  expect(lines.splice(0)).toEqual([
    ['it failed', place],
    ['it failed', { cluster: 'two' }],
  ])
  vi.advanceTimersByTime(60_000)
  expect(lines.splice(0)).toEqual([['it failed', { ...place, times: 999 }]])
  // The next interval is longer.
  flood()
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([])
  vi.advanceTimersByTime(180_000)
  expect(lines.splice(0)).toEqual([['it failed', { ...place, times: 1_000 }]])
  vi.advanceTimersByTime(600_000)
  log.warn('it failed', place)
  expect(lines.splice(0)).toEqual([['it failed', place]])
})

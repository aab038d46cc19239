// Imports internals: thousands of clients over seconds of a clock that the test moves.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { LongLivedConnections } from '../../src/server/long-lived-connections.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = new AbortController().signal

/** Connections that note the order in which they are dismissed. */
const opened = (
  count: number,
): { all: LongLivedConnections; dismissed: number[]; open: (id: number) => void } => {
  const all = new LongLivedConnections()
  const dismissed: number[] = []
  const open = (id: number): void => {
    const forget = all.add({
      dismiss() {
        dismissed.push(id)
        forget()
      },
      destroy() {},
    })
  }
  for (let id = 0; id < count; id++) open(id)
  return { all, dismissed, open }
}

it('sends no more than 500 clients of 5,000 elsewhere in a second, the oldest first', async () => {
  const { all, dismissed } = opened(5_000)
  const done = all.dismiss(3_600_000, never)
  for (let second = 1; second <= 10; second++) {
    await vi.advanceTimersByTimeAsync(999)
    expect(dismissed).toHaveLength(second * 500)
    await vi.advanceTimersByTimeAsync(1)
  }
  await done
  expect(dismissed).toEqual(Array.from({ length: 5_000 }, (_, id) => id))
})

it('takes no longer than it may, however many there are', async () => {
  const { all, dismissed } = opened(5_000)
  const done = all.dismiss(1_000, never)
  await vi.advanceTimersByTimeAsync(499)
  expect(dismissed).toHaveLength(2_500)
  await vi.advanceTimersByTimeAsync(501)
  await done
  expect(dismissed).toHaveLength(5_000)
})

it('keeps whoever comes meanwhile until the end, and nobody after it', async () => {
  const { all, dismissed, open } = opened(100)
  const done = all.dismiss(1_000, never)
  open(100)
  await vi.advanceTimersByTimeAsync(199)
  expect([dismissed.length, all.isClosed]).toEqual([100, false])
  await vi.advanceTimersByTimeAsync(1)
  await done
  expect([dismissed.at(-1), all.isClosed]).toEqual([100, true])
})

it('sends all at once when it has to hurry', async () => {
  const { all, dismissed } = opened(5_000)
  const hurry = new AbortController()
  const done = all.dismiss(3_600_000, hurry.signal)
  hurry.abort()
  await done
  expect(dismissed).toHaveLength(5_000)
})

import {
  createWorkQueue,
  DeadlineError,
  itemExponentialFailureRateLimiter,
  type PendingKeys,
  workQueueDefaults,
  InvalidOptionError,
} from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { runSeed, seededRandom } from '../support/random.ts'

/** Longer than any test. */
const farMs = 3_600_000

describe('[32] a work queue', () => {
  it('[32] hands keys out in the order of their adding, each once however often it was added', async () => {
    await using queue = createWorkQueue()
    for (const key of ['b', 'a', 'b', 'c', 'a']) queue.add(key)
    expect(queue.length).toBe(3)
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['b', 'a', 'c'])
    expect(queue.length).toBe(0)
    expect(queue.processing).toEqual(['b', 'a', 'c'])
  })

  it('[32] lets nobody have a key that is in work: what was added meanwhile comes after done, once', async () => {
    await using queue = createWorkQueue()
    queue.add('a')
    expect(await queue.get()).toBe('a')
    queue.add('a')
    queue.add('a')
    expect([queue.length, queue.depth]).toEqual([0, 1])
    queue.add('b')
    expect(await queue.get()).toBe('b')
    queue.done('a')
    expect(await queue.get()).toBe('a')
    queue.done('a')
    queue.done('b')
    expect([queue.length, queue.depth, queue.processing]).toEqual([0, 0, []])
  })

  it('[32] wakes those who wait, the first one first', async () => {
    await using queue = createWorkQueue()
    const first = queue.get()
    const second = queue.get()
    queue.add('a')
    queue.add('a')
    queue.add('b')
    expect(await Promise.all([first, second])).toEqual(['a', 'b'])
  })

  it('[32] ignores done for a key that is not in work', async () => {
    await using queue = createWorkQueue()
    queue.add('a')
    queue.done('a')
    queue.done('never added')
    expect([queue.length, queue.depth]).toEqual([1, 1])
    expect(await queue.get()).toBe('a')
    queue.add('a')
    queue.done('a')
    queue.done('a')
    expect(queue.length).toBe(1)
  })

  it('[32] ends a wait by its signal, and gives the next key to somebody else', async () => {
    await using queue = createWorkQueue()
    const leaving = new AbortController()
    const left = queue.get(leaving.signal)
    const stays = queue.get(new AbortController().signal)
    leaving.abort(new Error('leaves'))
    queue.add('a')
    await expect(left).rejects.toThrow('leaves')
    expect(await stays).toBe('a')
    await expect(queue.get(leaving.signal)).rejects.toThrow('leaves')
  })

  it('[32] gives a key that was handed out to the one who leaves at that moment', async () => {
    await using queue = createWorkQueue()
    const leaving = new AbortController()
    const taken = queue.get(leaving.signal)
    queue.add('a')
    leaving.abort()
    expect(await taken).toBe('a')
  })

  it('[32] takes another order of the keys', async () => {
    const keys = new Set<string>()
    const touched: string[] = []
    const lastFirst: PendingKeys = {
      get length() {
        return keys.size
      },
      push: (key) => void keys.add(key),
      pop() {
        const last = [...keys].at(-1)
        if (last !== undefined) keys.delete(last)
        return last
      },
      touch: (key) => void touched.push(key),
    }
    await using queue = createWorkQueue({ pending: lastFirst })
    for (const key of ['a', 'b', 'c', 'a']) queue.add(key)
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['c', 'b', 'a'])
    queue.add('b')
    expect(touched).toEqual(['a'])
  })

  it('[32] stays fast and in order with 100,000 keys', async () => {
    await using queue = createWorkQueue()
    const keys = Array.from({ length: 100_000 }, (_, index) => `key-${index}`)
    for (const key of keys) queue.add(key)
    const taken: (string | undefined)[] = []
    for (const key of keys) {
      taken.push(await queue.get())
      queue.done(key)
    }
    expect(taken).toEqual(keys)
    expect([queue.length, queue.depth]).toEqual([0, 0])
  })
})

describe('[32] delays', () => {
  it('[32] adds a key after its delay, and at once where there is none', async () => {
    await using queue = createWorkQueue()
    queue.addAfter('later', 10)
    queue.addAfter('now', 0)
    queue.addAfter('past', -5)
    expect([queue.length, queue.delayed]).toEqual([2, 1])
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual([
      'now',
      'past',
      'later',
    ])
  })

  it('[32] keeps the earliest of several delays of one key, whichever came first', async () => {
    await using queue = createWorkQueue()
    queue.addAfter('shortened', farMs)
    queue.addAfter('shortened', 10)
    queue.addAfter('kept', 10)
    queue.addAfter('kept', farMs)
    expect(queue.delayed).toBe(2)
    expect(new Set([await queue.get(), await queue.get()])).toEqual(new Set(['kept', 'shortened']))
    expect([queue.length, queue.delayed]).toEqual([0, 0])
  })

  it(`[32] delivers in the order of the moments, seed ${runSeed}`, async () => {
    const random = seededRandom(runSeed)
    await using queue = createWorkQueue()
    const earliest = new Map<string, { stepMs: number; order: number }>()
    for (let order = 0; order < 400; order++) {
      const key = `k${Math.floor(random() * 150)}`
      const stepMs = 200 + Math.floor(random() * 5) * 100
      queue.addAfter(key, stepMs)
      const known = earliest.get(key)
      if (known === undefined || stepMs < known.stepMs) earliest.set(key, { stepMs, order })
    }
    const expected = [...earliest]
      .toSorted(([, a], [, b]) => a.stepMs - b.stepMs || a.order - b.order)
      .map(([key]) => key)
    const keys: (string | undefined)[] = []
    while (keys.length < expected.length) keys.push(await queue.get())
    expect(keys).toEqual(expected)
    expect(queue.delayed).toBe(0)
  })

  it('[32] waits for moments beyond the longest timer', async () => {
    await using queue = createWorkQueue()
    queue.addAfter('in a month', 2 ** 31 + 1000)
    queue.addAfter('soon', 30)
    expect(await queue.get()).toBe('soon')
    expect([queue.length, queue.delayed]).toEqual([0, 1])
  })

  it('[32] is not troubled when a moment passes while earlier keys are added', async () => {
    const warnings: string[] = []
    const listen = ({ name }: Error) => void warnings.push(name)
    process.on('warning', listen)
    await using queue = createWorkQueue({
      observer: {
        added() {
          const startMs = performance.now()
          while (performance.now() - startMs < 60);
        },
      },
    })
    queue.addAfter('b', 40)
    queue.addAfter('a', 5)
    expect([await queue.get(), await queue.get()]).toEqual(['a', 'b'])
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', listen)
    expect(warnings).toEqual([])
  })

  it('[32] keeps the delay of a key that is added meanwhile, as client-go does', async () => {
    await using queue = createWorkQueue()
    queue.addAfter('a', 20)
    queue.add('a')
    expect(await queue.get()).toBe('a')
    queue.done('a')
    expect(await queue.get()).toBe('a')
  })

  it('[32] refuses a delay that is no number of milliseconds', async () => {
    await using queue = createWorkQueue()
    expect(() => queue.addAfter('a', Number.NaN)).toThrow(InvalidOptionError)
    expect(() => queue.addAfter('a', Number.POSITIVE_INFINITY)).toThrow(/finite|Infinity/)
    expect([queue.length, queue.delayed]).toEqual([0, 0])
  })

  it('[32] counts rate-limited adds until the key is forgotten', async () => {
    const delaysMs: number[] = []
    await using queue = createWorkQueue({
      rateLimiter: itemExponentialFailureRateLimiter({ baseDelayMs: 1 }),
      observer: { retried: (_, delayMs) => void delaysMs.push(delayMs) },
    })
    for (let time = 0; time < 4; time++) queue.addRateLimited('a')
    expect(queue.numRequeues('a')).toBe(4)
    queue.forget('a')
    expect(queue.numRequeues('a')).toBe(0)
    queue.addRateLimited('a')
    expect(delaysMs).toEqual([1, 2, 4, 8, 1])
    expect(await queue.get()).toBe('a')
  })

  it('[32] limits as client-go does unless told otherwise', async () => {
    const delaysMs: number[] = []
    await using queue = createWorkQueue({
      observer: { retried: (_, delayMs) => void delaysMs.push(delayMs) },
    })
    for (let time = 0; time < 20; time++) queue.addRateLimited('a')
    const { baseDelayMs, maxDelayMs } = workQueueDefaults
    expect([baseDelayMs, maxDelayMs]).toEqual([5, 1_000_000])
    expect(delaysMs).toEqual(
      Array.from({ length: 20 }, (_, time) => Math.min(1_000_000, 5 * 2 ** time)),
    )
  })
})

describe('[32] the shutdown of a work queue', () => {
  it('[32] hands out what is there, then says that it is over, and ignores what comes late', async () => {
    await using queue = createWorkQueue()
    queue.add('a')
    queue.add('b')
    expect(await queue.get()).toBe('a')
    expect(queue.add('a')).toBe(true)
    queue.addAfter('delayed', farMs)
    expect(queue.shuttingDown).toBe(false)
    expect(queue.shutDown()).toEqual(['delayed'])
    expect(queue.shuttingDown).toBe(true)
    expect([queue.add('c'), queue.addAfter('d', 1), queue.addRateLimited('e')]).toEqual([
      false,
      false,
      false,
    ])
    expect(await queue.get()).toBe('b')
    expect(await queue.get()).toBeUndefined()
    queue.done('a')
    expect(await queue.get()).toBe('a')
    expect(await queue.get()).toBeUndefined()
    expect(queue.shutDown()).toEqual([])
  })

  it('[32] ends the wait of everybody', async () => {
    const queue = createWorkQueue()
    const waits = [queue.get(), queue.get(), queue.get()]
    await queue[Symbol.asyncDispose]()
    expect(await Promise.all(waits)).toEqual([undefined, undefined, undefined])
  })

  it('[32] drains: until every key has been taken and is done, also one added while in work', async () => {
    await using queue = createWorkQueue()
    queue.add('a')
    queue.add('b')
    expect(await queue.get()).toBe('a')
    queue.add('a')
    const steps: string[] = []
    const drained = queue.shutDownWithDrain({ deadlineMs: farMs }).then(() => steps.push('drained'))
    for (const next of ['b', 'a']) {
      // Nothing is in work for a moment, and the drain is not over.
      if (next === 'b') queue.done('a')
      await new Promise((resolve) => setImmediate(resolve))
      expect(await queue.get()).toBe(next)
      steps.push(next)
      queue.done(next)
    }
    await drained
    expect(steps).toEqual(['b', 'a', 'drained'])
  })

  it('[32] drains at once where there is nothing, and names what waited for its delay', async () => {
    await using queue = createWorkQueue()
    queue.addAfter('x', farMs)
    expect(await queue.shutDownWithDrain({ deadlineMs: farMs })).toEqual(['x'])
  })

  it('[32] has a deadline for the drain, and another shutdown ends it', async () => {
    await using queue = createWorkQueue()
    queue.add('a')
    await queue.get()
    await expect(queue.shutDownWithDrain({ deadlineMs: 5 })).rejects.toThrow(DeadlineError)
    const drained = queue.shutDownWithDrain({ deadlineMs: farMs })
    queue.shutDown()
    expect(await drained).toEqual([])
    await expect(queue.shutDownWithDrain({ deadlineMs: 5 })).rejects.toThrow(DeadlineError)
    await expect(
      queue.shutDownWithDrain({ deadlineMs: farMs, signal: AbortSignal.abort(new Error('no')) }),
    ).rejects.toThrow('no')
    queue.done('a')
    expect(await queue.shutDownWithDrain({ deadlineMs: farMs })).toEqual([])
  })
})

describe('[32] the observer of a work queue', () => {
  it('[32] is told of adds, starts, ends and retries; gauges are read', async () => {
    const told: string[] = []
    const timesMs: number[] = []
    await using queue = createWorkQueue({
      rateLimiter: itemExponentialFailureRateLimiter({ baseDelayMs: 600_000 }),
      observer: {
        added: (key) => void told.push(`added ${key}`),
        started(key, latencyMs) {
          told.push(`started ${key}`)
          timesMs.push(latencyMs)
        },
        finished(key, workMs) {
          told.push(`finished ${key}`)
          timesMs.push(workMs)
        },
        retried: (key, delayMs) => void told.push(`retried ${key} ${delayMs}`),
      },
    })
    expect([queue.longestRunningMs, queue.unfinishedWorkMs]).toEqual([0, 0])
    queue.add('a')
    queue.add('a')
    await queue.get()
    queue.add('a')
    queue.add('b')
    await queue.get()
    await expect.poll(() => queue.longestRunningMs).toBeGreaterThan(0)
    expect(queue.unfinishedWorkMs).toBeGreaterThan(queue.longestRunningMs)
    expect(queue.depth).toBe(1)
    queue.done('a')
    queue.done('b')
    queue.addRateLimited('b')
    expect(told).toEqual([
      'added a',
      'started a',
      'added a',
      'added b',
      'started b',
      'finished a',
      'finished b',
      'retried b 600000',
    ])
    expect(timesMs.every((timeMs) => timeMs >= 0 && Number.isFinite(timeMs))).toBe(true)
  })
})

describe('[32] Low priority', () => {
  it('waits behind all normal keys, whenever they come', async () => {
    await using queue = createWorkQueue()
    for (const key of ['a', 'b', 'c']) queue.add(key, { priority: 'low' })
    queue.add('x')
    expect(await queue.get()).toBe('x')
    expect(await queue.get()).toBe('a')
    queue.add('y')
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['y', 'b', 'c'])
    expect([queue.length, queue.depth]).toEqual([0, 0])
  })

  it('ends for a key that is added again, also while a worker has it or while it waits for its delay', async () => {
    await using queue = createWorkQueue()
    for (const key of ['a', 'b', 'c']) queue.add(key, { priority: 'low' })
    queue.add('c')
    queue.add('c', { priority: 'low' })
    expect([queue.length, queue.depth]).toEqual([3, 3])
    expect(await queue.get()).toBe('c')
    queue.add('c', { priority: 'low' })
    queue.add('c')
    queue.done('c')
    expect(await queue.get()).toBe('c')
    queue.done('c')
    queue.addAfter('d', 1, { priority: 'low' })
    queue.addAfter('d', 1)
    await expect.poll(() => queue.delayed).toBe(0)
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['d', 'a', 'b'])
  })

  it('stays with a key that its worker adds again with a delay', async () => {
    await using queue = createWorkQueue()
    queue.add('a', { priority: 'low' })
    expect(await queue.get()).toBe('a')
    queue.addAfter('a', 1)
    await expect.poll(() => queue.delayed).toBe(0)
    queue.add('b', { priority: 'low' })
    queue.done('a')
    queue.add('c')
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['c', 'b', 'a'])
  })

  it('holds no more than the keys that wait, however often they move ahead', async () => {
    await using queue = createWorkQueue()
    for (let times = 0; times < 10_000; times++) {
      const key = `key-${times % 10}`
      queue.add('always', { priority: 'low' })
      queue.add(key, { priority: 'low' })
      queue.add(key)
      expect(await queue.get()).toBe(key)
      queue.done(key)
    }
    expect([await queue.get(), queue.length]).toEqual(['always', 0])
  })
})

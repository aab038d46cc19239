import {
  createWorkQueue,
  itemExponentialFailureRateLimiter,
  type ReconcileError,
  ReconcileStuckError,
  runWorkers,
  TerminalError,
  type WorkQueue,
  InvalidOptionError,
} from 'informerql/informer'
import { describe, expect, it, onTestFinished } from 'vitest'

/** A queue whose retries come soon. */
const quickQueue = (): WorkQueue =>
  createWorkQueue({ rateLimiter: itemExponentialFailureRateLimiter({ baseDelayMs: 1 }) })

/** Resolves when the signal is aborted. */
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

describe('[32] workers', () => {
  it('[32] process as many keys at once as there are workers, and no more', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    const started: string[] = []
    const open = Promise.withResolvers<void>()
    const full = Promise.withResolvers<void>()
    const running = runWorkers(
      queue,
      3,
      async (key) => {
        started.push(key)
        if (started.length === 3) full.resolve()
        await open.promise
      },
      stop.signal,
    )
    for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key)
    await full.promise
    await new Promise((resolve) => setImmediate(resolve))
    expect(started).toEqual(['a', 'b', 'c'])
    expect([...queue.processing]).toEqual(['a', 'b', 'c'])
    open.resolve()
    stop.abort()
    expect(await running).toEqual({ abandoned: [] })
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('[32] try again what threw, and forget its failures once it succeeds', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    const failures: ReconcileError[] = []
    const succeeded = Promise.withResolvers<void>()
    let calls = 0
    const running = runWorkers(
      queue,
      2,
      // Not async: what is thrown at once counts as well.
      () => {
        calls += 1
        if (calls < 4) throw new Error(`failure ${calls}`)
        succeeded.resolve()
      },
      stop.signal,
      { onFailure: (error) => void failures.push(error) },
    )
    queue.add('ns/one')
    await succeeded.promise
    stop.abort()
    expect(await running).toEqual({ abandoned: [] })
    expect(queue.numRequeues('ns/one')).toBe(0)
    expect(failures.map(({ failures: inARow, retried }) => [inARow, retried])).toEqual([
      [1, true],
      [2, true],
      [3, true],
    ])
    expect(failures[0]?.message).toBe(
      'reconcile of "ns/one" failed (1 in a row, will be tried again): Error: failure 1',
    )
    expect(failures[0]?.code).toBe('RECONCILE')
  })

  it('[32] give a key up after maxRetries, and begin anew when it is added again', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    const told: string[] = []
    const givenUp: PromiseWithResolvers<void>[] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ]
    const running = runWorkers(
      queue,
      1,
      async () => {
        throw new Error('never')
      },
      stop.signal,
      {
        maxRetries: 2,
        onFailure({ failures, retried }) {
          told.push(`${failures} ${retried}`)
          if (!retried) givenUp[told.length / 3 - 1]?.resolve()
        },
      },
    )
    queue.add('a')
    await givenUp[0]?.promise
    expect(queue.numRequeues('a')).toBe(0)
    queue.add('a')
    await givenUp[1]?.promise
    expect(told).toEqual(['1 true', '2 true', '3 false', '1 true', '2 true', '3 false'])
    stop.abort()
    expect(await running).toEqual({ abandoned: [] })
  })

  it('[32] give a key up loudly, whatever is done with its failures; not one that asks for it', async () => {
    const warnings: Error[] = []
    // Others may come late, of the tests before.
    const hear = (warning: Error): void => {
      if (warning.message.includes('loud')) warnings.push(warning)
    }
    process.on('warning', hear)
    onTestFinished(() => void process.off('warning', hear))
    await using queue = quickQueue()
    const stop = new AbortController()
    const running = runWorkers(
      queue,
      1,
      (key) => {
        throw key === 'terminal' ? new TerminalError('not loud') : new Error('loud')
      },
      stop.signal,
      { maxRetries: 1, onFailure: () => undefined },
    )
    queue.add('terminal')
    queue.add('a')
    await expect.poll(() => warnings).toHaveLength(1)
    expect(warnings[0]?.message).toBe('reconcile of "a" failed (2 in a row, given up): Error: loud')
    stop.abort()
    expect(await running).toEqual({ abandoned: [] })
  })

  it('[32] come back to a key after requeueAfterMs, which is no failure', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    const thrice = Promise.withResolvers<void>()
    let calls = 0
    const running = runWorkers(
      queue,
      1,
      () => {
        calls += 1
        if (calls === 3) thrice.resolve()
        return calls < 3 ? { requeueAfterMs: 2 } : {}
      },
      stop.signal,
    )
    queue.add('a')
    await thrice.promise
    expect(queue.numRequeues('a')).toBe(0)
    stop.abort()
    expect(await running).toEqual({ abandoned: [] })
    expect(calls).toBe(3)
  })

  it.each([0, -1])(
    '[32] come back by the rate limiter to a key that asks for it at once: %d',
    async (requeueAfterMs) => {
      const delays: number[] = []
      await using queue = createWorkQueue({
        rateLimiter: itemExponentialFailureRateLimiter({ baseDelayMs: 1 }),
        observer: { retried: (_, delayMs) => void delays.push(delayMs) },
      })
      const stop = new AbortController()
      const fourth = Promise.withResolvers<number>()
      const reconcile = (_: string, _signal: AbortSignal, attempt: number) => {
        if (delays.length < 3) return { requeueAfterMs }
        fourth.resolve(attempt)
        return undefined
      }
      const running = runWorkers(queue, 1, reconcile, stop.signal)
      queue.add('a')
      expect(await fourth.promise).toBe(1)
      expect(delays).toEqual([1, 2, 4])
      stop.abort()
      await running
      expect(queue.numRequeues('a')).toBe(0)
    },
  )

  it('[32] let others run between reconciles that never wait', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    for (let n = 0; n < 500; n++) queue.add(`initial ${n}`, { priority: 'low' })
    setTimeout(() => queue.add('changed'), 1)
    const keys: string[] = []
    const reconcile = (key: string) => {
      keys.push(key)
      for (const endMs = performance.now() + 1; performance.now() < endMs;);
      if (key === 'changed') stop.abort()
    }
    await runWorkers(queue, 2, reconcile, stop.signal, { drainDeadlineMs: 0 })
    expect(keys).toContain('changed')
    expect(keys.length).toBeLessThan(500)
  })

  it('[32] count a requeueAfterMs that is no number as a failure', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    const failed = Promise.withResolvers<ReconcileError>()
    const running = runWorkers(queue, 1, () => ({ requeueAfterMs: Number.NaN }), stop.signal, {
      maxRetries: 0,
      onFailure: failed.resolve,
    })
    queue.add('a')
    const { cause } = await failed.promise
    expect(cause).toBeInstanceOf(InvalidOptionError)
    expect((cause as InvalidOptionError).option).toBe('requeueAfterMs')
    stop.abort()
    await running
  })

  it('[32] warn of failures where nobody listens', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    const warned = Promise.withResolvers<Error>()
    const listen = (warning: Error) => {
      if (warning.message.includes('unheard')) warned.resolve(warning)
    }
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
    const running = runWorkers(
      queue,
      1,
      async () => {
        throw new Error('unheard')
      },
      stop.signal,
      { maxRetries: 0 },
    )
    queue.add('a')
    expect((await warned.promise).message).toContain('unheard')
    stop.abort()
    await running
  })

  it('[32] abort a reconcile that takes longer than its deadline, and try again', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    const second = Promise.withResolvers<void>()
    let calls = 0
    const reasons: unknown[] = []
    const running = runWorkers(
      queue,
      1,
      async (_, signal) => {
        calls += 1
        if (calls === 2) return second.resolve()
        await aborted(signal)
        signal.throwIfAborted()
      },
      stop.signal,
      { reconcileDeadlineMs: 5, onFailure: ({ cause }) => void reasons.push(cause) },
    )
    queue.add('a')
    await second.promise
    expect(String(reasons[0])).toContain('reconcile of "a" took longer than 5 ms')
    stop.abort()
    await running
  })

  it('[32] refuse a number of workers that is none', async () => {
    const { signal } = new AbortController()
    for (const workers of [0, -1, 1.5, Number.NaN]) {
      await expect(runWorkers(quickQueue(), workers, () => undefined, signal)).rejects.toThrow(
        InvalidOptionError,
      )
    }
  })
})

describe('[32] the stop of workers', () => {
  it('[32] processes what is in the queue first, with signals that are not aborted', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    const begun = Promise.withResolvers<void>()
    const seen: [string, boolean][] = []
    const running = runWorkers(
      queue,
      1,
      async (key, signal) => {
        begun.resolve()
        await new Promise((resolve) => setImmediate(resolve))
        seen.push([key, signal.aborted])
      },
      stop.signal,
    )
    for (const key of ['a', 'b', 'c']) queue.add(key)
    await begun.promise
    queue.add('a')
    stop.abort()
    expect(queue.add('late')).toBe(false)
    expect(await running).toEqual({ abandoned: [] })
    expect(seen).toEqual([
      ['a', false],
      ['b', false],
      ['c', false],
      ['a', false],
    ])
  })

  it('[32] names what was left: delayed, failed while draining, or asked for again', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    queue.addAfter('delayed', 3_600_000)
    queue.addAfter('delayed but done', 3_600_000)
    for (const key of ['delayed but done', 'fails', 'asks', 'fine']) queue.add(key)
    const retried: boolean[] = []
    stop.abort()
    const { abandoned } = await runWorkers(
      queue,
      2,
      async (key) => {
        if (key === 'fails') throw new Error(key)
        return key === 'asks' ? { requeueAfterMs: 1 } : {}
      },
      stop.signal,
      { onFailure: (error) => void retried.push(error.retried) },
    )
    expect(abandoned.toSorted()).toEqual(['asks', 'delayed', 'fails'])
    expect(retried).toEqual([false])
  })

  it('[32] names a key whose delay was dropped while an earlier reconcile of it went on', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    const begun = Promise.withResolvers<void>()
    const open = Promise.withResolvers<void>()
    const running = runWorkers(
      queue,
      1,
      async () => {
        begun.resolve()
        await open.promise
      },
      stop.signal,
    )
    queue.add('a')
    await begun.promise
    queue.addAfter('a', 3_600_000)
    stop.abort()
    open.resolve()
    expect(await running).toEqual({ abandoned: ['a'] })
  })

  it('[32] aborts what is running when the drain takes too long, and leaves the rest', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    for (const key of ['slow', 'never begun']) queue.add(key)
    const seen: string[] = []
    const running = runWorkers(
      queue,
      1,
      async (key, signal) => {
        seen.push(key)
        await aborted(signal)
        signal.throwIfAborted()
      },
      stop.signal,
      { drainDeadlineMs: 10, onFailure: () => undefined },
    )
    stop.abort()
    expect(await running).toEqual({ abandoned: ['slow', 'never begun'] })
    expect(seen).toEqual(['slow'])
  })

  it('[32] says which reconcile does not heed its signal', async () => {
    await using queue = quickQueue()
    const stop = new AbortController()
    const open = Promise.withResolvers<void>()
    queue.add('deaf')
    const running = runWorkers(queue, 2, () => open.promise, stop.signal, {
      drainDeadlineMs: 5,
      stopDeadlineMs: 5,
    })
    stop.abort()
    const error = await running.catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ReconcileStuckError)
    expect(error).toMatchObject({ code: 'RECONCILE_STUCK', keys: ['deaf'] })
    open.resolve()
  })

  it('[32] comes also when somebody else shuts the queue down', async () => {
    await using queue = quickQueue()
    const seen: string[] = []
    const running = runWorkers(queue, 2, (key) => void seen.push(key), new AbortController().signal)
    queue.add('a')
    queue.shutDown()
    expect(await running).toEqual({ abandoned: [] })
    expect(seen).toEqual(['a'])
  })
})

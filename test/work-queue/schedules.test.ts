import {
  createWorkQueue,
  itemExponentialFailureRateLimiter,
  runWorkers,
  type WorkQueue,
} from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { runSeed, seededRandom } from '../support/random.ts'

const schedules = 30
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** What client-go's queue would do, as plainly as it can be said. */
class Model {
  pending: string[] = []
  readonly dirty = new Set<string>()
  readonly processing = new Set<string>()
  waiting: number[] = []
  readonly taken: [worker: number, key: string | undefined][] = []
  over = false

  add(key: string): void {
    if (this.over || this.dirty.has(key)) return
    this.dirty.add(key)
    if (!this.processing.has(key)) this.pending.push(key)
    this.#serve()
  }

  get(worker: number): void {
    this.waiting.push(worker)
    this.#serve()
  }

  done(key: string): void {
    if (!this.processing.delete(key)) return
    if (this.dirty.has(key)) this.pending.push(key)
    this.#serve()
  }

  shutDown(): void {
    this.over = true
    this.#serve()
  }

  #serve(): void {
    while (this.waiting.length > 0 && (this.pending.length > 0 || this.over)) {
      const key = this.pending.shift()
      if (key !== undefined) {
        this.dirty.delete(key)
        this.processing.add(key)
      }
      this.taken.push([this.waiting.shift() ?? -1, key])
    }
  }
}

/** One random schedule of adds, gets and dones, with a shutdown towards its end. */
async function compare(random: () => number): Promise<void> {
  const queue: WorkQueue = createWorkQueue()
  const model = new Model()
  const taken: [number, string | undefined][] = []
  const workers = 1 + Math.floor(random() * 5)
  const keys = 1 + Math.floor(random() * 8)
  const busy = new Map<number, string | undefined>()
  const anyKey = () => `k${Math.floor(random() * keys)}`
  const steps = 300
  for (let step = 0; step < steps; step++) {
    const worker = Math.floor(random() * workers)
    const dice = random()
    if (step === steps - 60) {
      queue.shutDown()
      model.shutDown()
    } else if (dice < 0.4) {
      const key = anyKey()
      expect(queue.add(key)).toBe(!model.over)
      model.add(key)
    } else if (dice < 0.5) {
      const key = anyKey()
      if (![...busy.values()].includes(key)) {
        queue.done(key)
        model.done(key)
      }
    } else if (busy.has(worker)) {
      const key = busy.get(worker)
      // An undefined one still waits, or was told that it is over.
      if (key !== undefined) {
        busy.delete(worker)
        queue.done(key)
        model.done(key)
      }
    } else {
      busy.set(worker, undefined)
      model.get(worker)
      void queue.get().then((key) => {
        taken.push([worker, key])
        if (key === undefined) busy.delete(worker)
        else busy.set(worker, key)
      })
    }
    if (random() < 0.7 || step === steps - 1) {
      await turn()
      expect(taken.toSorted(byWorker)).toEqual(model.taken.toSorted(byWorker))
    }
    expect(queue.length).toBe(model.pending.length)
    expect(queue.depth).toBe(model.dirty.size)
    expect(new Set(queue.processing)).toEqual(model.processing)
  }
}

/** The order in which two promises resolve within one turn is of no interest; that of one worker is. */
function byWorker([one]: [number, unknown], [other]: [number, unknown]): number {
  return one - other
}

/** Adds from several sides while workers run that fail, ask again and take their time; then the stop. */
async function disturb(random: () => number): Promise<void> {
  const queue = createWorkQueue({
    rateLimiter: itemExponentialFailureRateLimiter({ baseDelayMs: 0.1, maxDelayMs: 3 }),
  })
  const stop = new AbortController()
  const wanted = new Map<string, number>()
  const reached = new Map<string, number>()
  const inWork = new Set<string>()
  let failureRate = 0.2
  const workers = 1 + Math.floor(random() * 6)
  const running = runWorkers(
    queue,
    workers,
    async (key) => {
      expect(inWork.has(key), `${key} is with two workers`).toBe(false)
      inWork.add(key)
      expect(inWork.size).toBeLessThanOrEqual(workers)
      const version = wanted.get(key) ?? 0
      for (let turns = Math.floor(random() * 4); turns > 0; turns--) await turn()
      inWork.delete(key)
      if (random() < failureRate) throw new Error('as planned')
      reached.set(key, version)
      return random() < 0.05 ? { requeueAfterMs: random() * 2 } : {}
    },
    stop.signal,
    {
      onFailure: ({ cause }) => {
        if (!(cause instanceof Error && cause.message === 'as planned')) throw cause
      },
    },
  )
  const want = (key: string) => {
    wanted.set(key, (wanted.get(key) ?? 0) + 1)
    if (random() < 0.7) queue.add(key)
    else queue.addAfter(key, random() * 4)
  }
  for (let step = 0; step < 300; step++) {
    want(`k${Math.floor(random() * 12)}`)
    if (random() < 0.4) await turn()
  }
  if (random() < 0.5) {
    failureRate = 0
    while (queue.depth + queue.delayed + queue.processing.length > 0) await turn()
    expect(reached).toEqual(wanted)
  }
  stop.abort()
  const { abandoned } = await running
  for (const [key, version] of wanted) {
    if (!abandoned.includes(key)) expect(reached.get(key), key).toBe(version)
  }
  expect([queue.depth, queue.delayed, queue.processing.length, inWork.size]).toEqual([0, 0, 0, 0])
}

describe(`[32] any schedule, SEED=${runSeed}`, () => {
  it.each(Array.from({ length: schedules }, (_, index) => runSeed + index))(
    '[32] the queue does what the model does, seed %i',
    async (seed) => compare(seededRandom(seed)),
  )

  it.each(Array.from({ length: schedules }, (_, index) => runSeed + index))(
    '[32] no key is lost or with two workers, every add leads to a later reconcile, seed %i',
    async (seed) => disturb(seededRandom(seed)),
  )
})

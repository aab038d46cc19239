import assert from 'node:assert/strict'
import {
  createWorkQueue,
  itemExponentialFailureRateLimiter,
  runWorkers,
  type WorkQueue,
} from 'informerql/informer'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

type Priority = 'low' | 'normal'

/** What client-go's queue would do, with two lanes, as plainly as it can be said. */
class Model {
  readonly lanes: Readonly<Record<Priority, string[]>> = { normal: [], low: [] }
  readonly dirty = new Map<string, Priority>()
  readonly processing = new Set<string>()
  waiting: number[] = []
  readonly taken: [worker: number, key: string | undefined][] = []
  over = false

  get pending(): readonly string[] {
    return [...this.lanes.normal, ...this.lanes.low]
  }

  add(key: string, priority: Priority): void {
    if (this.over) return
    const before = this.dirty.get(key)
    if (before === 'normal' || before === priority) return
    this.dirty.set(key, priority)
    if (this.processing.has(key)) return
    const at = this.lanes.low.indexOf(key)
    if (at >= 0) this.lanes.low.splice(at, 1)
    this.lanes[priority].push(key)
    this.#serve()
  }

  get(worker: number): void {
    this.waiting.push(worker)
    this.#serve()
  }

  done(key: string): void {
    if (!this.processing.delete(key)) return
    const priority = this.dirty.get(key)
    if (priority !== undefined) this.lanes[priority].push(key)
    this.#serve()
  }

  shutDown(): void {
    this.over = true
    this.#serve()
  }

  #serve(): void {
    while (this.waiting.length > 0 && (this.pending.length > 0 || this.over)) {
      const key = this.lanes.normal.shift() ?? this.lanes.low.shift()
      if (key !== undefined) {
        this.dirty.delete(key)
        this.processing.add(key)
      }
      this.taken.push([this.waiting.shift() ?? -1, key])
    }
  }
}

/** One random schedule of adds, gets and dones, with a shutdown towards its end; throws where the queue and the model differ. */
export async function compareWithModel(random: () => number): Promise<void> {
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
      const priority = random() < 0.5 ? 'low' : 'normal'
      assert.equal(queue.add(key, { priority }), !model.over)
      model.add(key, priority)
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
      assert.deepEqual(taken.toSorted(byWorker), model.taken.toSorted(byWorker))
    }
    assert.equal(queue.length, model.pending.length)
    assert.equal(queue.depth, model.dirty.size)
    assert.deepEqual(new Set(queue.processing), model.processing)
  }
}

/** The order in which two promises resolve within one turn is of no interest; that of one worker is. */
function byWorker([one]: [number, unknown], [other]: [number, unknown]): number {
  return one - other
}

/** Adds from several sides while workers run that fail, ask again and take their time; then the stop. Throws where a key is lost. */
export async function disturbWorkers(random: () => number): Promise<void> {
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
      assert.ok(!inWork.has(key), `${key} is with two workers`)
      inWork.add(key)
      assert.ok(inWork.size <= workers)
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
    assert.deepEqual(reached, wanted)
  }
  stop.abort()
  const { abandoned } = await running
  const lost = [...wanted].filter(
    ([key, version]) => reached.get(key) !== version && !abandoned.includes(key),
  )
  assert.deepEqual(lost, [], 'neither reconciled nor named')
  assert.deepEqual([queue.depth, queue.delayed, queue.processing.length, inWork.size], [0, 0, 0, 0])
}

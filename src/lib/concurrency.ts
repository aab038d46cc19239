/*
 * Runs a bounded number of works at once. The others wait in lanes. A lane serves its works in order, and the lanes
 * take turns, so that a caller with few works waits for one work of each other lane, however many works that lane
 * holds. When the queue is full, the longest lane loses its newest work.
 */

import { CodedError } from './coded-error.ts'

/** Thrown before the work begins: the queue is full, or the work waited too long. */
export class NoSlotError extends CodedError {
  constructor(message: string) {
    super('NO_SLOT', message, { hint: 'try again in a moment' })
  }
}

export interface FairSlotsLimits {
  /** How many works run at once. */
  readonly most: number
  readonly mostWaiting: number
  /** How long a work may wait. The works need deadlines of their own: a work that never ends keeps its slot. */
  readonly maxWaitMs: number
}

interface Waiting {
  readonly begin: () => void
  readonly refuse: (error: NoSlotError) => void
  /** `performance.now()`. */
  readonly untilMs: number
}

export class FairSlots {
  readonly #limits: FairSlotsLimits
  /** Non-empty lanes, in the order in which they are served next. */
  readonly #lanes = new Map<string, Waiting[]>()
  #running = 0
  #waiting = 0

  constructor(limits: FairSlotsLimits) {
    this.#limits = limits
  }

  /** Rejects with {@link NoSlotError}, or as the work does. */
  async run<T>(lane: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.most) this.#running += 1
    else await this.#wait(lane)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  #wait(lane: string): Promise<void> {
    const { mostWaiting, maxWaitMs } = this.#limits
    if (this.#waiting >= mostWaiting) {
      // Refuses the newest work of the longest lane; this one, if its own lane would be the longest.
      const full = new NoSlotError(`${this.#waiting} requests are already waiting`)
      let longest = this.#lanes.get(lane) ?? []
      const own = longest.length
      for (const waiting of this.#lanes.values()) {
        if (waiting.length > longest.length) longest = waiting
      }
      if (longest.length <= own + 1) throw full
      longest.pop()?.refuse(full)
      this.#waiting -= 1
    }
    return new Promise((begin, refuse) => {
      const waiting = this.#lanes.get(lane) ?? []
      waiting.push({ begin, refuse, untilMs: performance.now() + maxWaitMs })
      this.#lanes.set(lane, waiting)
      this.#waiting += 1
    })
  }

  #leave(): void {
    for (const [lane, waiting] of this.#lanes) {
      const next = waiting.shift()
      this.#lanes.delete(lane)
      if (waiting.length > 0) this.#lanes.set(lane, waiting)
      if (next === undefined) continue
      this.#waiting -= 1
      if (performance.now() < next.untilMs) {
        next.begin()
        return
      }
      next.refuse(new NoSlotError(`waited for ${this.#limits.maxWaitMs} ms`))
    }
    this.#running -= 1
  }
}

/**
 * Runs a task per item, at most `limit` at once. Returns the results in the order of the items. Rejects as soon as a
 * task rejects; tasks that run already go on.
 */
export async function boundedParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  task: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const position = next++
      results[position] = await task(items[position] as Item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  return results
}

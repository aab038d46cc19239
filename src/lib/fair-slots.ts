import { CodedError } from './coded-error.ts'

/** Refuses a work before it begins: too many wait already, or it has waited for too long. */
export class NoSlotError extends CodedError {
  constructor(message: string) {
    super('NO_SLOT', message, { hint: 'ask again in a moment' })
  }
}

export interface FairSlotsLimits {
  /** Works that run at once. */
  readonly most: number
  /** Works that wait for that. */
  readonly mostWaiting: number
  /** How long one may wait. Each work that runs must have a deadline of its own. */
  readonly maxWaitMs: number
}

interface Waiting {
  readonly begin: () => void
  readonly refuse: (error: NoSlotError) => void
  /** `performance.now()`. */
  readonly untilMs: number
}

/**
 * Runs at most so many works at once. The others wait in lanes: first come, first served within a lane, and one lane after the other. So a
 * caller with few works waits for one work of each other lane, however many that lane has. When no more may wait, the longest lane
 * loses its newest work.
 */
export class FairSlots {
  readonly #limits: FairSlotsLimits
  /** The lane that was served longest ago comes first. None is empty. */
  readonly #lanes = new Map<string, Waiting[]>()
  #running = 0
  #waiting = 0

  constructor(limits: FairSlotsLimits) {
    this.#limits = limits
  }

  /** Rejects with {@link NoSlotError}, and as the work does. */
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
    if (this.#waiting >= mostWaiting) this.#makeRoom(lane)
    return new Promise((begin, refuse) => {
      const waiting = this.#lanes.get(lane) ?? []
      waiting.push({ begin, refuse, untilMs: performance.now() + maxWaitMs })
      this.#lanes.set(lane, waiting)
      this.#waiting += 1
    })
  }

  /** Refuses the newest of the longest lane. Throws where that is the lane that wants the room. */
  #makeRoom(lane: string): void {
    const full = new NoSlotError(`${this.#waiting} wait already`)
    let longest = this.#lanes.get(lane) ?? []
    const own = longest.length
    for (const waiting of this.#lanes.values()) {
      if (waiting.length > longest.length) longest = waiting
    }
    if (longest.length <= own + 1) throw full
    longest.pop()?.refuse(full)
    this.#waiting -= 1
  }

  /** Gives the slot to the next that waits. */
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
      next.refuse(new NoSlotError(`it has waited for ${this.#limits.maxWaitMs} ms`))
    }
    this.#running -= 1
  }
}

import { inNextTurn } from './next-turn.ts'
import { sliceMs } from './slices.ts'

/** Whose works wait for each other: a name, or whatever stands for somebody. */
export type Lane = string | object

/**
 * Lets short synchronous works that come in bursts take turns with everything else of the event loop. Each may take its time, but
 * once those of one turn of the loop have taken {@link sliceMs} together, the next ones wait, and the loop runs in between: a hundred
 * heavy operations that arrive at once do not make everybody wait for all of them. Those of one lane wait first come, first served;
 * lanes are served one after the other, so that whoever has few works waits for one of each other lane at most, not for all that
 * came before. What waits is bounded by whoever bounds the operations under way.
 */
export class Turns {
  /** Who waits in each lane, the lane first that has been served longest ago. */
  readonly #waiting = new Map<Lane, (() => void)[]>()
  #spentMs = 0
  #isNextDue = false

  /** Resolves when a work may begin; `undefined` where that is now. */
  enter(lane: Lane): Promise<void> | undefined {
    if (this.#spentMs < sliceMs && this.#waiting.size === 0) return undefined
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(lane)
      if (waiting === undefined) this.#waiting.set(lane, [resolve])
      else waiting.push(resolve)
      this.#plan()
    })
  }

  /** Does a work, whose time counts. */
  run<T>(work: () => T): T {
    const startedMs = performance.now()
    try {
      return work()
    } finally {
      this.#spentMs += performance.now() - startedMs
      this.#plan()
      // Many short works make one turn, instead of one each.
      if (this.#spentMs < sliceMs) this.#letIn()
    }
  }

  #plan(): void {
    if (this.#isNextDue) return
    this.#isNextDue = true
    inNextTurn(this.#begin)
  }

  #begin = (): void => {
    this.#spentMs = 0
    this.#letIn()
    // From here on each `setImmediate` is a turn of its own.
    if (this.#waiting.size > 0) setImmediate(this.#begin)
    else this.#isNextDue = false
  }

  #letIn(): void {
    for (const [lane, waiting] of this.#waiting) {
      this.#waiting.delete(lane)
      const next = waiting.shift()
      if (waiting.length > 0) this.#waiting.set(lane, waiting)
      next?.()
      return
    }
  }
}

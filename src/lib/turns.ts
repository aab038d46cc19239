import { inNextTurn } from './next-turn.ts'
import { sliceMs } from './slices.ts'

/**
 * Lets short synchronous works that come in bursts take turns with everything else of the event loop. Each may take its time, but
 * once those of one turn of the loop have taken {@link sliceMs} together, the next ones wait, first come, first served, and the
 * loop runs in between: a hundred heavy operations that arrive at once do not make everybody wait for all of them. What waits is
 * bounded by whoever bounds the operations under way.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #spentMs = 0
  #isNextDue = false

  /** Resolves when a work may begin; `undefined` where that is now. */
  enter(): Promise<void> | undefined {
    if (this.#spentMs < sliceMs && this.#waiting.length === 0) return undefined
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
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
      if (this.#spentMs < sliceMs) this.#waiting.shift()?.()
    }
  }

  #plan(): void {
    if (this.#isNextDue) return
    this.#isNextDue = true
    inNextTurn(this.#begin)
  }

  #begin = (): void => {
    this.#spentMs = 0
    this.#waiting.shift()?.()
    // From here on each `setImmediate` is a turn of its own.
    if (this.#waiting.length > 0) setImmediate(this.#begin)
    else this.#isNextDue = false
  }
}

import { inNextTurn } from './next-turn.ts'
import { sliceMs } from './slices.ts'

/** Whose works wait for each other: a name, or whatever stands for somebody. */
export type Lane = string | object

/**
 * Lets short synchronous works that come in bursts take turns with everything else of the event loop. Each may take its time, but
 * once those of one turn of the loop have taken {@link sliceMs} together, the next ones wait, and the loop runs in between: a hundred
 * heavy operations that arrive at once do not make everybody wait for all of them. Those of one lane wait first come, first served;
 * lanes are served one after the other, so that whoever has few works waits for one of each other lane at most, not for all that
 * came before. A lane may have shares, which are served one after the other whenever it is the lane's turn. What waits is bounded by
 * whoever bounds the operations under way.
 */
export class Turns {
  /** Who waits in each share of each lane, the lane and the share first that have been served longest ago. */
  readonly #waiting = new Map<Lane, Map<Lane, (() => void)[]>>()
  #spentMs = 0
  #isNextDue = false

  /**
   * Resolves when a work may begin; `undefined` where that is now. A work that belongs to several shares waits in the one where the
   * fewest wait.
   */
  enter(lane: Lane, shares: Iterable<Lane> = [lane]): Promise<void> | undefined {
    if (this.#spentMs < sliceMs && this.#waiting.size === 0) return undefined
    return new Promise((resolve) => {
      let ofLane = this.#waiting.get(lane)
      if (ofLane === undefined) this.#waiting.set(lane, (ofLane = new Map()))
      const share = emptiest(ofLane, shares)
      const waiting = ofLane.get(share)
      if (waiting === undefined) ofLane.set(share, [resolve])
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
    for (const [lane, shares] of this.#waiting) {
      this.#waiting.delete(lane)
      const next = takeNext(shares)
      if (shares.size > 0) this.#waiting.set(lane, shares)
      next?.()
      return
    }
  }
}

/** The next work of the share that has been served longest ago. */
function takeNext(shares: Map<Lane, (() => void)[]>): (() => void) | undefined {
  for (const [share, waiting] of shares) {
    shares.delete(share)
    const next = waiting.shift()
    if (waiting.length > 0) shares.set(share, waiting)
    return next
  }
  return undefined
}

function emptiest(waiting: ReadonlyMap<Lane, readonly unknown[]>, shares: Iterable<Lane>): Lane {
  let found: Lane = ''
  let least = Number.POSITIVE_INFINITY
  for (const share of shares) {
    const length = waiting.get(share)?.length ?? 0
    if (length >= least) continue
    ;[found, least] = [share, length]
    if (length === 0) break
  }
  return found
}

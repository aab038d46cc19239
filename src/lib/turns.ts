import { inNextTurn } from './next-turn.ts'
import { sliceMs } from './slices.ts'

/** Whose works wait for each other: a name, or whatever stands for somebody. */
export type Lane = string | object

/**
 * Lets short synchronous works that come in bursts take turns with everything else of the event loop. Each may take its time, but
 * once those of one turn of the loop have taken {@link sliceMs} together, the next ones wait, and the loop runs in between: a hundred
 * heavy operations that arrive at once do not make everybody wait for all of them. Those of one lane wait first come, first served.
 * While works wait, lanes share the time (start-time fair queuing, Goyal et al. 1996): the lane that has taken the least goes first, and of
 * lanes that have taken the same number of slices the one that was served longest ago. So a hundred short works of one lane do not each wait
 * for a long one of another. A lane may have shares, which are served one after the other whenever it is the lane's turn. What waits is
 * bounded by whoever bounds the operations under way.
 */
export class Turns {
  /** Who waits in each share of each lane, the lane and the share first that have been served longest ago. */
  readonly #waiting = new Map<Lane, Map<Lane, (() => void)[]>>()
  /** What each lane has taken of the time, where that is more than {@link #servedMs}. */
  readonly #takenMs = new Map<Lane, number>()
  /** What the lane had taken that was served last: as much as a lane is taken to have had that waits for the first time. */
  #servedMs = 0
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

  /** Does a work, whose time counts, and is what the lane has taken where that is given. */
  run<T>(work: () => T, lane?: Lane): T {
    const startedMs = performance.now()
    try {
      return work()
    } finally {
      const tookMs = performance.now() - startedMs
      this.#spentMs += tookMs
      if (lane !== undefined) this.#takenMs.set(lane, this.#takenBy(lane) + tookMs)
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
    this.#forget()
    this.#letIn()
    // From here on each `setImmediate` is a turn of its own.
    if (this.#waiting.size > 0) setImmediate(this.#begin)
    else this.#isNextDue = false
  }

  #forget(): void {
    if (this.#waiting.size === 0) {
      this.#takenMs.clear()
      this.#servedMs = 0
    }
    for (const [lane, ms] of this.#takenMs) if (ms <= this.#servedMs) this.#takenMs.delete(lane)
  }

  #letIn(): void {
    let next: Lane | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const lane of this.#waiting.keys()) {
      const slices = Math.floor(this.#takenBy(lane) / sliceMs)
      if (slices < fewest) [next, fewest] = [lane, slices]
    }
    const shares = next === undefined ? undefined : this.#waiting.get(next)
    if (next === undefined || shares === undefined) return
    this.#servedMs = this.#takenBy(next)
    this.#waiting.delete(next)
    const begin = takeNext(shares)
    if (shares.size > 0) this.#waiting.set(next, shares)
    begin?.()
  }

  #takenBy(lane: Lane): number {
    return Math.max(this.#takenMs.get(lane) ?? 0, this.#servedMs)
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

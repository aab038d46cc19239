/*
 * Shares the event loop between bursts of short synchronous works and everything else. Once the works of one loop turn
 * have taken {@link sliceMs} together, the next ones wait while the loop runs. So a hundred heavy operations that
 * arrive at once delay the others by one slice, not by the whole burst.
 *
 * A lane serves its works in order. While works wait, lanes share the time (start-time fair queuing, Goyal et al. 1996):
 * the lane that has taken the least goes first, and of lanes that have taken the same number of slices the one that was
 * served longest ago. So a hundred short works of one lane do not each wait for a long work of another lane. Within a
 * lane, shares take turns. The queue is unbounded; the callers bound the operations under way.
 */

import { sleep } from './backoff.ts'
import { getOrInsert } from './get-or-insert.ts'

/** The owner of works that wait for each other. */
export type Lane = string | object

export class Turns {
  /** The waiting works by lane and share, both in the order in which they are served next. */
  readonly #waiting = new Map<Lane, Map<Lane, (() => void)[]>>()
  /** The time that a lane has taken, if that is more than {@link #servedMs}. */
  readonly #takenMs = new Map<Lane, number>()
  /** The time that the lane served last had taken before. A lane that waits for the first time starts with as much. */
  #servedMs = 0
  #spentMs = 0
  #isNextDue = false

  /**
   * Resolves when the work may begin; `undefined` if it may begin now. A work with several shares waits in the shortest
   * of them.
   */
  enter(lane: Lane, shares: Iterable<Lane> = [lane]): Promise<void> | undefined {
    if (this.#spentMs < sliceMs && this.#waiting.size === 0) return undefined
    return new Promise((resolve) => {
      const ofLane = getOrInsert(this.#waiting, lane, () => new Map())
      const share = emptiest(ofLane, shares)
      getOrInsert(ofLane, share, () => []).push(resolve)
      this.#plan()
    })
  }

  /** Runs a work and counts its time, also as taken by the lane if one is given. */
  run<T>(work: () => T, lane?: Lane): T {
    const startedMs = performance.now()
    try {
      return work()
    } finally {
      const tookMs = performance.now() - startedMs
      this.#spentMs += tookMs
      if (lane !== undefined) this.#takenMs.set(lane, this.#takenBy(lane) + tookMs)
      this.#plan()
      // Short works share a turn of the loop.
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
    // Called from a `setImmediate` callback, each further `setImmediate` is a turn of its own.
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
    const leastPossible = slices(this.#servedMs)
    for (const lane of this.#waiting.keys()) {
      const taken = slices(this.#takenBy(lane))
      if (taken >= fewest) continue
      ;[next, fewest] = [lane, taken]
      if (taken === leastPossible) break
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

function slices(ms: number): number {
  return Math.floor(ms / sliceMs)
}

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

/**
 * Calls back after the event loop has polled all sockets once. One `setImmediate` is too early: requested while a
 * socket is being read, it runs before the loop polls the other sockets, and two long works would block the loop as
 * one.
 */
function inNextTurn(call: () => void): void {
  setImmediate(() => setImmediate(call))
}

/** Resolves when {@link inNextTurn} would call back. */
export function nextTurn(): Promise<void> {
  return new Promise(inNextTurn)
}

/** How long a work may hold the event loop. */
const sliceMs = 8

/**
 * Runs a long work in slices of {@link sliceMs} and lets the event loop run in between. The work yields where it may
 * pause, at least every millisecond. Gives the work's result, by a promise if one slice is too short, and `undefined` if
 * `isOver` returns true after a pause.
 */
export function inSlices<T>(
  work: Iterator<void, T>,
  isOver: () => boolean,
): T | Promise<T | undefined> {
  const first = slice(work)
  if (first.done === true) return first.value
  const others = async (): Promise<T | undefined> => {
    while (true) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (isOver()) return undefined
      const next = slice(work)
      if (next.done === true) return next.value
    }
  }
  return others()
}

function slice<T>(work: Iterator<void, T>): IteratorResult<void, T> {
  const startMs = performance.now()
  let step = work.next()
  while (step.done !== true && performance.now() - startMs < sliceMs) step = work.next()
  return step
}

/** Runs the same work without pauses. */
export function atOnce<T>(work: Iterator<void, T>): T {
  while (true) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Limits a costly, repeated work to a share of the time. */
export class TimeShare {
  readonly #share: number
  #dueMs = 0
  #isPlanned = false

  /** `share`: between 0 and 1, such as 1 / 20. */
  constructor(share: number) {
    this.#share = share
  }

  get isDue(): boolean {
    return performance.now() >= this.#dueMs
  }

  /** Records a run that ends now. `tookMs`: the time of its works, without its waits for other work. */
  done(tookMs: number): void {
    this.#dueMs = performance.now() + tookMs / this.#share
  }

  /** Calls `due` when the next run is due or the signal aborts. Ignored while a call is planned. */
  plan(due: () => void, leaving: AbortSignal): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    void sleep(Math.max(1, this.#dueMs - performance.now()), leaving).then(() => {
      this.#isPlanned = false
      due()
    })
  }
}

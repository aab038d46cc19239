/*
 * What the watches of an informer have seen, and when they saw nothing: each namespace by itself, where it is watched by
 * itself; `''` is the watch of all. Times are milliseconds since the epoch.
 *
 * What comes from a watch that was away is late: the states before were last known when it went. It is late until the
 * server has sent what it had when the watch began again. So is what comes after the process stood still.
 */

import type { NamespaceStep } from '../informer/informer-observer.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'

/** A watch that was away for less is not told. */
const leastAwayMs = 1_000
/** How long after its begin a watch may still send what it had. */
const lateMs = 2_000
/** What was not written for so long counts as unknown. */
export const unknownMs = 2_000
/** Changes within so many milliseconds are one step. */
const stepMs = 500

/** A process that stood still for less is not told: a busy one does now and then. */
const leastStillMs = 2_000
/** How often the process looks at the time. */
const lookMs = 250

/** When the process stood still, for all watches: it was stopped, its machine slept, or something else took its time. */
export class Standstills implements Disposable {
  readonly #timer = setInterval(() => this.sinceMs(), lookMs).unref()
  #last = { atMs: performance.now(), dateMs: Date.now() }
  #late = { sinceMs: 0, until: 0 }

  /** Since when the process stood still, if what comes now may have come meanwhile. */
  sinceMs(): number | undefined {
    const [atMs, dateMs] = [performance.now(), Date.now()]
    // The monotonic clock of some systems stops while the machine sleeps.
    const stoodMs = Math.max(atMs - this.#last.atMs, dateMs - this.#last.dateMs)
    const isLate = atMs < this.#late.until
    if (stoodMs > leastStillMs) {
      const sinceMs = isLate ? this.#late.sinceMs : this.#last.dateMs
      this.#late = { sinceMs, until: atMs + lateMs }
    }
    this.#last = { atMs, dateMs }
    return atMs < this.#late.until ? this.#late.sinceMs : undefined
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** What an informer had reached at `timeMs` (0: late), by changes since `beginsMs`. */
interface SeenStep {
  position: ResourceVersion
  timeMs: number
  readonly beginsMs: number
}

export class FollowedWatches {
  readonly #standstills: Standstills
  /** Since when watches are away. */
  readonly #away = new Map<string, number>()
  /** What comes of these is late: the states before were known at `sinceMs`. `until`: of `performance.now()`. */
  readonly #late = new Map<string, { readonly sinceMs: number; readonly until: number }>()
  /** What was reached with the last changes, oldest first. */
  readonly #seen = new Map<string, SeenStep[]>()
  /** When the archive's rows, with which a store begins, were those of the cluster: until it has the changes since. */
  baseMs: number | undefined

  constructor(standstills: Standstills) {
    this.#standstills = standstills
  }

  /** Since when a watch is away; `undefined`: none is. */
  get awayMs(): number | undefined {
    return this.#away.size === 0 ? undefined : Math.min(...this.#away.values())
  }

  /** Whether all of them are there, and have sent what they had. */
  get areWhole(): boolean {
    const nowMs = performance.now()
    return this.#away.size === 0 && ![...this.#late.values()].some(({ until }) => nowMs < until)
  }

  /** What was reached before a time, or late. */
  reachedBefore(timeMs: number): Readonly<Record<string, ResourceVersion>> {
    const all = [...this.#seen].flatMap(([namespace, steps]) => {
      const last = steps.findLast((step) => step.timeMs < timeMs)
      return last === undefined ? [] : [[namespace, last.position] as const]
    })
    return Object.fromEntries(all)
  }

  /** A watch is away, and had contact last at this time. */
  left(namespace: string, lastMs: number): void {
    this.#away.set(namespace, Math.min(this.#away.get(namespace) ?? Infinity, Math.round(lastMs)))
  }

  /** A watch has begun. */
  came(namespace: string): void {
    const sinceMs = this.#away.get(namespace)
    this.#away.delete(namespace)
    if (sinceMs === undefined) return
    const late = this.#late.get(namespace)
    if (late === undefined && Date.now() - sinceMs <= leastAwayMs) return
    this.#late.set(namespace, { sinceMs, ...late, until: performance.now() + lateMs })
  }

  /**
   * Notes a step of the informer. Returns when the states before it were last known, if it is late. `hasSynced`: of the
   * informer.
   */
  moved(
    at: NamespaceStep | undefined,
    { length }: readonly unknown[],
    isList: boolean,
    hasSynced: boolean,
  ): number | undefined {
    const { namespace = '', isListing = false } = at ?? {}
    const isOver = isList || length === 0
    // Each of several watches has sent what it had.
    if (at !== undefined && hasSynced) this.baseMs = undefined
    const late = this.#late.get(namespace)
    const isLate = late !== undefined && performance.now() < late.until
    const othersMs = isList || isListing ? this.#away.get(namespace) : this.#standstills.sinceMs()
    const afterMs = this.baseMs ?? (isLate ? late.sinceMs : othersMs)
    if (at === undefined && isOver) this.baseMs = undefined
    if (!isLate || isOver) this.#late.delete(namespace)
    if (isList) this.#away.delete(namespace)
    return afterMs
  }

  /** Notes what changes have reached: a step for each moment, as far back as what is not written counts as unknown. */
  saw(namespace: string, position: ResourceVersion, isLate: boolean): void {
    const nowMs = Date.now()
    const timeMs = isLate ? 0 : nowMs
    const steps = getOrInsert(this.#seen, namespace, () => [])
    const last = steps.at(-1)
    if (last !== undefined && Math.abs(timeMs - last.beginsMs) < stepMs) {
      last.position = position
      last.timeMs = timeMs
    } else steps.push({ position, timeMs, beginsMs: timeMs })
    while ((steps[1]?.timeMs ?? Infinity) < nowMs - unknownMs) steps.shift()
  }

  /** A namespace is not covered any more. */
  drop(namespace: string): void {
    for (const one of [this.#away, this.#late, this.#seen]) one.delete(namespace)
  }

  /** A whole list of the store is written: nothing is late any more. */
  listed(): void {
    this.baseMs = undefined
    this.#late.clear()
  }
}

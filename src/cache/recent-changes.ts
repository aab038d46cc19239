import type { Change } from '../informer/store/change.ts'
import {
  compareResourceVersions,
  isBefore,
  type ResourceVersion,
} from '../kubernetes/resource-version.ts'

export interface RecentChangesLimits {
  readonly maxChanges: number
  /** The previous states of objects, which may be held by nothing else. Estimated by the store's average object. */
  readonly maxBytes: number
}

/** The changes that led to one position. */
export interface RecentStep {
  readonly position: ResourceVersion
  /** Empty for a bookmark. */
  readonly changes: readonly Change[]
}

export interface RecentChangesOptions {
  readonly limits: RecentChangesLimits
  /** If false, only the exact positions of steps can be resumed from. */
  readonly resourceVersionsComparable: boolean
  /** The approximate size of an object. */
  readonly objectBytes: () => number
}

/** How often the size of an object is estimated again. */
const stepsPerReckoning = 256

/**
 * The last changes of one resource, with the position of each, for subscribers who resume. When full, it drops the
 * oldest steps: a subscriber at an older position cannot resume.
 */
export class RecentChanges {
  readonly #options: RecentChangesOptions
  /** Steps before `#first` are dropped. */
  #steps: (RecentStep | undefined)[] = []
  #first = 0
  #changes = 0
  /** The position before the oldest step. */
  #from: ResourceVersion | undefined
  #objectBytes = 0
  #untilReckoning = 0

  constructor(options: RecentChangesOptions) {
    this.#options = options
  }

  /** The oldest position that can be resumed from; `undefined` before the first list. */
  get oldest(): ResourceVersion | undefined {
    return this.#from
  }

  /** The newest position; `undefined` before the first list. */
  get newest(): ResourceVersion | undefined {
    return this.#steps.at(-1)?.position ?? this.#from
  }

  /**
   * Called by the informer after each step. The first call gives the position of the first list. A position that goes
   * back belongs to another history: all steps are dropped.
   */
  add(position: ResourceVersion, changes: readonly Change[]): void {
    const { newest } = this
    if (newest === undefined || isBefore(position, newest)) {
      this.#steps = []
      this.#first = 0
      this.#changes = 0
      this.#from = position
      return
    }
    this.#steps.push({ position, changes })
    this.#changes += changes.length
    this.#shorten()
  }

  /** Prepends the steps from `from` to the oldest position. */
  addBefore(from: ResourceVersion, steps: readonly RecentStep[]): void {
    this.#steps = [...steps, ...this.#steps.slice(this.#first)]
    this.#first = 0
    for (const { changes } of steps) this.#changes += changes.length
    this.#from = from
    this.#shorten()
  }

  /** The changes after a position, oldest first; `undefined` if the position is too old or not yet reached. */
  since(position: ResourceVersion): readonly Change[] | undefined {
    const next = this.#stepAfter(position)
    return next === undefined
      ? undefined
      : this.#steps.slice(next).flatMap((step) => step?.changes ?? [])
  }

  #stepAfter(position: ResourceVersion): number | undefined {
    if (position === this.#from) return this.#first
    if (!this.#options.resourceVersionsComparable) {
      const found = this.#steps.findLastIndex((step) => step?.position === position)
      return found < this.#first ? undefined : found + 1
    }
    if (!isOrdered(this.#from, position) || !isOrdered(position, this.newest)) return undefined
    let [low, high] = [this.#first, this.#steps.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isOrdered(this.#steps[middle]?.position, position)) low = middle + 1
      else high = middle
    }
    return low
  }

  #shorten(): void {
    const { limits, objectBytes } = this.#options
    if (this.#untilReckoning-- <= 0) {
      this.#untilReckoning = stepsPerReckoning
      this.#objectBytes = objectBytes()
    }
    const most = Math.min(limits.maxChanges, limits.maxBytes / Math.max(1, this.#objectBytes))
    while (this.#first < this.#steps.length && this.#size > most) {
      const step = this.#steps[this.#first]
      this.#steps[this.#first] = undefined
      this.#first += 1
      if (step === undefined) continue
      this.#changes -= step.changes.length
      this.#from = step.position
    }
    if (this.#first > stepsPerReckoning && this.#first * 2 > this.#steps.length) {
      this.#steps = this.#steps.slice(this.#first)
      this.#first = 0
    }
  }

  /** A bookmark counts as a change. */
  get #size(): number {
    return Math.max(this.#changes, this.#steps.length - this.#first)
  }
}

function isOrdered(a: ResourceVersion | undefined, b: ResourceVersion | undefined): boolean {
  if (a === undefined || b === undefined) return false
  const order = compareResourceVersions(a, b)
  return order !== undefined && order <= 0
}

/**
 * Reads the changes between two positions from before the resource was cached. `tooOld`: the changes after `from` are
 * lost, but a later position may work. `undefined`: the changes cannot be read now. Never rejects.
 */
type MissedChanges = (
  from: ResourceVersion,
  until: ResourceVersion,
) => Promise<readonly RecentStep[] | 'tooOld' | undefined>

/**
 * The recent changes of one cached resource, including those from before it was cached, for subscribers who resume.
 */
export class ResourceHistory {
  readonly #recent: RecentChanges
  readonly #missed: MissedChanges
  /** The positions of waiting subscribers. */
  #wanted = new Set<ResourceVersion>()
  #filling: Promise<void> = Promise.resolve()

  constructor(recent: RecentChanges, missed: MissedChanges) {
    this.#recent = recent
    this.#missed = missed
  }

  /** The changes after a position, oldest first; `undefined` if the position is too old or not yet reached. */
  since(position: ResourceVersion): readonly Change[] | undefined {
    return this.#recent.since(position)
  }

  /**
   * Resolves when {@link since} knows as many changes after a position as possible. Changes from before the resource
   * was cached are read from the API server, once for all callers: from their oldest position, or the oldest one that
   * the server still knows. Never rejects.
   */
  async reach(position: ResourceVersion): Promise<void> {
    if (!this.#isBehind(position)) return
    this.#wanted.add(position)
    this.#filling = this.#filling.then(() => this.#fill())
    await this.#filling
  }

  async #fill(): Promise<void> {
    let wanted = [...this.#wanted].toSorted((a, b) => (isBefore(a, b) ? -1 : 1))
    this.#wanted = new Set()
    // Tries the oldest position first, since the server mostly knows it. Else searches for the oldest known position by
    // halving.
    for (let at = 0; wanted.length > 0; at = wanted.length >> 1) {
      const from = wanted[at]
      const until = this.#recent.oldest
      if (from === undefined || until === undefined) return
      // oxlint-disable-next-line no-await-in-loop -- where to look next depends on it
      const steps = this.#isBehind(from) ? await this.#missed(from, until) : []
      if (steps === undefined) return
      wanted = steps === 'tooOld' ? wanted.slice(at + 1) : wanted.slice(0, at)
      if (steps === 'tooOld' || !this.#isBehind(from)) continue
      // The oldest position may have been dropped meanwhile.
      if (this.#recent.oldest === until) this.#recent.addBefore(from, steps)
    }
  }

  #isBehind(position: ResourceVersion): boolean {
    const { oldest } = this.#recent
    return oldest !== undefined && isBefore(position, oldest)
  }
}

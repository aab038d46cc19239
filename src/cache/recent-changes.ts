import type { Change } from '../informer/store/change.ts'
import {
  compareResourceVersions,
  isBefore,
  type ResourceVersion,
} from '../kubernetes/resource-version.ts'

/** How much of what has changed last is kept, of one resource. */
export interface RecentChangesLimits {
  readonly maxChanges: number
  /** Of the objects as they were before, which nobody else may hold any more; reckoned by the store's average. */
  readonly maxBytes: number
}

/** What led to one position. */
export interface RecentStep {
  readonly position: ResourceVersion
  /** Empty for a bookmark. */
  readonly changes: readonly Change[]
}

export interface RecentChangesOptions {
  readonly limits: RecentChangesLimits
  /** Where they are not, a position is found only where it is exactly one of those that were passed. */
  readonly resourceVersionsComparable: boolean
  /** What an object takes, about. */
  readonly objectBytes: () => number
}

/** So often it is reckoned anew what an object takes. */
const stepsPerReckoning = 256

/**
 * The last changes of one resource, each with the position that it led to, for those who come back from where they stood. Bounded;
 * the policy is that the oldest go, and who stood before them cannot come back.
 */
export class RecentChanges {
  readonly #options: RecentChangesOptions
  /** Those before `#first` are gone. */
  #steps: (RecentStep | undefined)[] = []
  #first = 0
  #changes = 0
  /** Whoever stands here has missed what is there, and nothing else. */
  #from: ResourceVersion | undefined
  #objectBytes = 0
  #untilReckoning = 0

  constructor(options: RecentChangesOptions) {
    this.#options = options
  }

  /** The oldest position that can be come back from; `undefined` before the first list. */
  get oldest(): ResourceVersion | undefined {
    return this.#from
  }

  /** The position that was come to last; `undefined` before the first list. */
  get newest(): ResourceVersion | undefined {
    return this.#steps.at(-1)?.position ?? this.#from
  }

  /**
   * The informer's: this has led to a position. The first is that of the first list. Where it is one that was passed already, what
   * was there is of another history, and forgotten.
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

  /** Puts what was missed before the oldest position ahead of it: it begins at `from`, and leads there. */
  addBefore(from: ResourceVersion, steps: readonly RecentStep[]): void {
    this.#steps = [...steps, ...this.#steps.slice(this.#first)]
    this.#first = 0
    for (const { changes } of steps) this.#changes += changes.length
    this.#from = from
    this.#shorten()
  }

  /** What has happened since a position, the oldest first; `undefined` where that is not known any more, or not yet. */
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

/** Whether one comes before the other, or is the same. */
function isOrdered(a: ResourceVersion | undefined, b: ResourceVersion | undefined): boolean {
  if (a === undefined || b === undefined) return false
  const order = compareResourceVersions(a, b)
  return order !== undefined && order <= 0
}

import { LRUCache } from 'lru-cache'
import type { AccessLimits } from './access-limits.ts'

/** An answer of the API server, and when it was asked for. */
export interface Decision {
  readonly allowed: boolean
  /** `performance.now()` before the question was sent. */
  readonly askedMs: number
}

/**
 * How long after a change of RBAC was seen it is asked again: the API server that answers hears of a change by a watch of its
 * own, and of several one may be behind the others.
 */
export const settleTimesMs = [100, 2_000] as const
const settledMs = settleTimesMs[1]

/** Answers, each until it is too old or RBAC has changed for its namespace. */
export class DecisionCache {
  readonly #limits: AccessLimits
  readonly #decisions: LRUCache<string, Decision>
  /** `performance.now()` of the last change, by namespace; `''`: for all of them. */
  readonly #changed = new Map<string, number>()

  constructor(limits: AccessLimits) {
    this.#limits = limits
    this.#decisions = new LRUCache({ max: limits.maxDecisions })
  }

  get size(): number {
    return this.#decisions.size
  }

  /** The answer to a question about a namespace, `''` for all; `undefined` where there is none that still holds. */
  get(key: string, namespace: string): Decision | undefined {
    const decision = this.#decisions.get(key)
    if (decision === undefined) return undefined
    const now = performance.now()
    if (now < this.untilMs(decision) && this.#holds(decision.askedMs, namespace, now)) {
      return decision
    }
    this.#decisions.delete(key)
    return undefined
  }

  set(key: string, decision: Decision): void {
    this.#decisions.set(key, decision)
  }

  /** Until when an answer holds where nothing is heard; `performance.now()`. */
  untilMs({ allowed, askedMs }: Decision): number {
    const { allowMs, denyMs } = this.#limits
    return askedMs + (allowed ? allowMs : denyMs)
  }

  /** RBAC has changed in a namespace, or with `''` for all of them: what was asked before holds no more. */
  changed(namespace: string): void {
    const now = performance.now()
    this.#changed.set(namespace, now)
    if (this.#changed.size <= maxChanges) return
    const { allowMs, denyMs } = this.#limits
    const longestMs = Math.max(allowMs, denyMs) + settledMs
    for (const [one, atMs] of this.#changed) {
      if (now - atMs > longestMs) this.#changed.delete(one)
    }
    // More at once than can be kept apart.
    if (this.#changed.size > maxChanges) {
      this.#changed.clear()
      this.#changed.set('', now)
    }
  }

  /** Whether all that has changed has been asked anew, by API servers that have heard of it. */
  get isSettled(): boolean {
    const now = performance.now()
    return [...this.#changed.values()].every((atMs) => now - atMs >= settledMs)
  }

  #holds(askedMs: number, namespace: string, now: number): boolean {
    return (
      holdsAfter(this.#changed.get(''), askedMs, now) &&
      (namespace === '' || holdsAfter(this.#changed.get(namespace), askedMs, now))
    )
  }
}

const maxChanges = 1_000

function holdsAfter(changedMs: number | undefined, askedMs: number, now: number): boolean {
  if (changedMs === undefined) return true
  if (askedMs < changedMs) return false
  return settleTimesMs.every((settle) => {
    const dueMs = changedMs + settle
    return askedMs >= dueMs || now < dueMs
  })
}

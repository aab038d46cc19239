import { LRUCache } from 'lru-cache'
import type { AccessLimits } from './access-limits.ts'
import { type AccessQuestion, questionKey } from './access-question.ts'
import { type ChangeableAnswer, RbacChanges } from './rbac-changes.ts'
import type { Viewer } from './viewer.ts'
import { viewerKey } from './viewer-key.ts'

/** An answer of the API server. */
export interface Decision extends ChangeableAnswer {
  readonly allowed: boolean
}

/** What is asked about whom. */
export interface Asked {
  readonly viewer: Viewer
  readonly question: AccessQuestion
}

/** One text for each question about each viewer. */
export function askedKey({ viewer, question }: Asked): string {
  return `${viewerKey(viewer)}\n${questionKey(question)}`
}

/** Answers, each until it is too old or a change of RBAC may concern it. */
export class DecisionCache {
  readonly changes: RbacChanges
  readonly #limits: AccessLimits
  readonly #decisions: LRUCache<string, Decision>

  constructor(limits: AccessLimits) {
    this.#limits = limits
    this.changes = new RbacChanges(limits)
    this.#decisions = new LRUCache({ max: limits.maxDecisions })
  }

  get size(): number {
    return this.#decisions.size
  }

  /** The answer to a question; `undefined` where there is none that still holds. */
  get(asked: Asked): Decision | undefined {
    const key = askedKey(asked)
    const decision = this.#decisions.get(key)
    if (decision === undefined) return undefined
    const { viewer, question } = asked
    if (
      performance.now() < this.untilMs(decision) &&
      this.changes.holds(decision, viewer, question.namespace)
    ) {
      return decision
    }
    this.#decisions.delete(key)
    return undefined
  }

  set(asked: Asked, decision: Decision): void {
    this.#decisions.set(askedKey(asked), decision)
    if (decision.grounds === undefined) this.changes.decidedByOthers(asked.viewer)
  }

  /** Until when an answer holds where nothing is heard; `performance.now()`. */
  untilMs({ allowed, askedMs }: Decision): number {
    const { allowMs, denyMs } = this.#limits
    return askedMs + (allowed ? allowMs : denyMs)
  }
}

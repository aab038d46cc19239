import type { AccessLimits } from './access-limits.ts'
import { type AccessQuestion, questionKey } from './access-question.ts'
import { type ChangeableAnswer, RbacChanges } from './rbac-changes.ts'
import { type Viewer, viewerKey } from './viewer.ts'

/** An answer of the API server. */
export interface Decision extends ChangeableAnswer {
  readonly allowed: boolean
}

/** A question about a viewer. */
export interface Asked {
  readonly viewer: Viewer
  readonly question: AccessQuestion
}

/** A unique text for each question and viewer. */
export function askedKey({ viewer, question }: Asked): string {
  return `${viewerKey(viewer)}\n${questionKey(question)}`
}

/**
 * Caches answers until they expire or a change of RBAC may affect them. When the cache is full, the users with the most
 * answers lose some.
 */
export class DecisionCache {
  readonly changes: RbacChanges
  readonly #limits: AccessLimits
  /** By user name and {@link askedKey}; the oldest answer of each user first. */
  readonly #users = new Map<string, Map<string, Decision>>()
  #size = 0

  constructor(limits: AccessLimits) {
    this.#limits = limits
    this.changes = new RbacChanges(limits)
  }

  get size(): number {
    return this.#size
  }

  /** The valid answer to a question, or `undefined`. */
  get(asked: Asked): Decision | undefined {
    const { viewer, question } = asked
    const own = this.#users.get(viewer.username)
    if (own === undefined) return undefined
    const key = askedKey(asked)
    const decision = own.get(key)
    if (decision === undefined) return undefined
    if (
      performance.now() < this.untilMs(decision) &&
      this.changes.holds(decision, viewer, question.namespace)
    ) {
      return decision
    }
    own.delete(key)
    this.#size -= 1
    if (own.size === 0) this.#users.delete(viewer.username)
    return undefined
  }

  set(asked: Asked, decision: Decision): void {
    const { username } = asked.viewer
    const key = askedKey(asked)
    let own = this.#users.get(username)
    if (own === undefined) this.#users.set(username, (own = new Map()))
    if (!own.delete(key)) this.#size += 1
    own.set(key, decision)
    if (decision.grounds === undefined) this.changes.decidedByOthers(asked.viewer)
    if (this.#size > this.#limits.maxDecisions) this.#makeRoom()
  }

  /** The expiry of an answer without news of RBAC; `performance.now()`. */
  untilMs({ allowed, askedMs }: Decision): number {
    const { allowMs, denyMs } = this.#limits
    return askedMs + (allowed ? allowMs : denyMs)
  }

  /** Frees a tenth of the cache. Each user may keep an equal share; unused shares go to users with more answers. */
  #makeRoom(): void {
    const users = [...this.#users].toSorted(([, one], [, other]) => one.size - other.size)
    let rest = Math.floor(this.#limits.maxDecisions * 0.9)
    for (const [at, [username, own]] of users.entries()) {
      const share = Math.floor(rest / (users.length - at))
      for (const key of own.keys()) {
        if (own.size <= share) break
        own.delete(key)
        this.#size -= 1
      }
      rest -= own.size
      if (own.size === 0) this.#users.delete(username)
    }
  }
}

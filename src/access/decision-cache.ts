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

/** Answers, each until it is too old or a change of RBAC may concern it. Where there are too many, the users who have most lose theirs. */
export class DecisionCache {
  readonly changes: RbacChanges
  readonly #limits: AccessLimits
  /** By user name and {@link askedKey}; of one user, what was asked longest ago comes first. */
  readonly #users = new Map<string, Map<string, Decision>>()
  #size = 0

  constructor(limits: AccessLimits) {
    this.#limits = limits
    this.changes = new RbacChanges(limits)
  }

  get size(): number {
    return this.#size
  }

  /** The answer to a question; `undefined` where there is none that still holds. */
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

  /** Until when an answer holds where nothing is heard; `performance.now()`. */
  untilMs({ allowed, askedMs }: Decision): number {
    const { allowMs, denyMs } = this.#limits
    return askedMs + (allowed ? allowMs : denyMs)
  }

  /** Makes a tenth of the room. Each user may keep the same number; what a user leaves of it is for those who have more. */
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

/*
 * Answers questions about one cluster by SubjectAccessReview. The API has no batches, so equal questions share one review,
 * a bounded number of reviews runs at a time, and answers are cached until they expire or RBAC changes. Users take turns,
 * and a rate limits each user's reviews.
 */

import { LRUCache } from 'lru-cache'
import { FairSlots } from '../lib/concurrency.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import { type AccessQuestion, questionKey } from './access-question.ts'
import { type ChangeableAnswer, RbacChanges } from './rbac-changes.ts'
import { AccessReviewError, reviewAccess, type ReviewRequests } from './subject-access-review.ts'
import { type Viewer, viewerKey } from './viewer.ts'

/** Bounds of access reviews, and the lifetimes of their answers. Times are milliseconds. */
export interface AccessLimits {
  /** How long an answer that allows access is valid without news of RBAC. */
  readonly allowMs: number
  /** How long an answer that denies access is valid without news of RBAC. */
  readonly denyMs: number
  /** The maximum number of cached answers per cluster. Beyond it, users with the most answers lose their oldest. */
  readonly maxDecisions: number
  readonly reviewDeadlineMs: number
  /** The maximum number of running reviews per cluster. */
  readonly maxReviewsInFlight: number
  /**
   * The maximum number of waiting reviews. Users take turns. Beyond it, the newest review of the user with the most waiting
   * reviews is refused.
   */
  readonly maxReviewsWaiting: number
  /** The maximum number of namespaces that one operation reviews for one kind. */
  readonly maxNamespaces: number
  /** The maximum number of reviews of one operation. */
  readonly maxReviewsPerOperation: number
}

export const defaultAccessLimits: AccessLimits = {
  allowMs: 45_000,
  denyMs: 10_000,
  maxDecisions: 100_000,
  reviewDeadlineMs: 5_000,
  maxReviewsInFlight: 32,
  maxReviewsWaiting: 10_000,
  maxNamespaces: 200,
  maxReviewsPerOperation: 2_000,
}

/** The default deadline of operations: no operation waits longer. */
const maxWaitMs = 30_000

/** The number of attempts: a change of RBAC may outdate an answer before it arrives. */
const maxAttempts = 3

export class AccessReviews {
  readonly decisions: DecisionCache
  readonly #cluster: string
  readonly #server: () => ReviewRequests
  readonly #limits: AccessLimits
  readonly #slots: FairSlots
  readonly #underWay = new Map<string, Promise<Decision>>()
  readonly #rate: ReviewRate
  #sent = 0
  #running = 0
  #silentSinceMs = 0

  /** `server` throws without a connection. */
  constructor(cluster: string, server: () => ReviewRequests, limits: AccessLimits) {
    this.#cluster = cluster
    this.#server = server
    this.#limits = limits
    this.decisions = new DecisionCache(limits)
    const { maxReviewsInFlight: most, maxReviewsWaiting: mostWaiting } = limits
    this.#slots = new FairSlots({ most, mostWaiting, maxWaitMs })
    this.#rate = new ReviewRate(limits.maxReviewsPerOperation)
  }

  get sent(): number {
    return this.#sent
  }

  /** How long the API server has left all open reviews unanswered; 0 if there are none. */
  get silentMs(): number {
    return this.#running === 0 ? 0 : performance.now() - this.#silentSinceMs
  }

  /** How long a viewer's next operation should wait before it requests reviews; 0 if it need not wait. */
  pauseMs({ username }: Viewer): number {
    return this.#rate.pauseMs(username)
  }

  known(viewer: Viewer, question: AccessQuestion): Decision | undefined {
    return this.decisions.get({ viewer, question })
  }

  /** Answers a question. Rejects with `AccessReviewError`. */
  async ask(viewer: Viewer, question: AccessQuestion): Promise<boolean> {
    const asked = { viewer, question }
    let last = false
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const known = this.decisions.get(asked)
      if (known !== undefined) return known.allowed
      const key = askedKey(asked)
      let review = this.#underWay.get(key)
      if (review === undefined) {
        review = this.#review(asked).finally(() => this.#underWay.delete(key))
        this.#underWay.set(key, review)
      }
      last = (await review).allowed
    }
    return this.decisions.get(asked)?.allowed ?? last
  }

  async #review(asked: Asked): Promise<Decision> {
    try {
      const { viewer, question } = asked
      this.#rate.take(viewer.username)
      return await this.#slots.run(viewer.username, async () => {
        const askedMs = performance.now()
        this.#sent += 1
        const asking = reviewAccess(this.#server(), viewer, question, this.#limits.reviewDeadlineMs)
        if (this.#running === 0) this.#silentSinceMs = askedMs
        this.#running += 1
        try {
          const decision = { ...(await asking), askedMs }
          this.#silentSinceMs = performance.now()
          this.decisions.set(asked, decision)
          return decision
        } finally {
          this.#running -= 1
        }
      })
    } catch (cause) {
      throw new AccessReviewError(this.#cluster, cause)
    }
  }
}

/** The time in which a user may request as many reviews as one operation may need. */
const refillMs = 10_000
/** Options of an LRU cache that takes its room as it fills. With `max`, it takes all of it at once, and each cluster has such caches. */
export const grownTo = (
  entries: number,
): { readonly maxSize: number; readonly sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
})

/** The maximum number of users with a kept rate. A dropped user starts with a full allowance. */
const maxUsers = 10_000

/**
 * A token bucket for each user. An operation that starts with a non-empty bucket may take more than it holds; later
 * operations wait.
 */
class ReviewRate {
  readonly #capacity: number
  readonly #buckets = new LRUCache<string, { left: number; atMs: number }>(grownTo(maxUsers))

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  take(username: string): void {
    this.#buckets.set(username, { left: this.#left(username) - 1, atMs: performance.now() })
  }

  pauseMs(username: string): number {
    const missing = 1 - this.#left(username)
    return missing <= 0 ? 0 : Math.ceil((missing * refillMs) / this.#capacity)
  }

  #left(username: string): number {
    const { left = this.#capacity, atMs = 0 } = this.#buckets.get(username) ?? {}
    const refilled = ((performance.now() - atMs) * this.#capacity) / refillMs
    return Math.min(this.#capacity, left + refilled)
  }
}

interface Decision extends ChangeableAnswer {
  readonly allowed: boolean
}

interface Asked {
  readonly viewer: Viewer
  readonly question: AccessQuestion
}

function askedKey({ viewer, question }: Asked): string {
  return `${viewerKey(viewer)}\n${questionKey(question)}`
}

/**
 * Caches answers until they expire or a change of RBAC may affect them. When the cache is full, the users with the most
 * answers lose some.
 */
class DecisionCache {
  readonly changes: RbacChanges
  readonly #limits: AccessLimits
  /** By user name and {@link askedKey}; the oldest answer of each user first. */
  readonly #users = new Map<string, Map<string, Decision>>()
  #size = 0

  constructor(limits: AccessLimits) {
    this.#limits = limits
    this.changes = new RbacChanges(Math.max(limits.allowMs, limits.denyMs))
  }

  get size(): number {
    return this.#size
  }

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
    const own = getOrInsert(this.#users, username, () => new Map())
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

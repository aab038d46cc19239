import { FairSlots } from '../lib/concurrency.ts'
import type { AccessLimits } from './access-limits.ts'
import type { AccessQuestion } from './access-question.ts'
import { type Asked, askedKey, type Decision, DecisionCache } from './decision-cache.ts'
import { AccessReviewError, reviewAccess, type ReviewRequests } from './subject-access-review.ts'
import type { Viewer } from './viewer.ts'
import { LRUCache } from 'lru-cache'

export interface AccessReviewsOptions {
  /** The cluster's name. */
  readonly cluster: string
  /** The API server. Throws without a connection. */
  readonly server: () => ReviewRequests
  readonly limits: AccessLimits
}

/** The default deadline of operations: no operation waits longer. */
const maxWaitMs = 30_000

/** The number of attempts: a change of RBAC may outdate an answer on its way. */
const maxAttempts = 3

/**
 * Answers questions about one cluster by SubjectAccessReview. The API has no batches: equal questions share one review,
 * a bounded number runs at a time, each with a deadline, and answers are cached. Users take turns.
 */
export class AccessReviews {
  readonly decisions: DecisionCache
  readonly #options: AccessReviewsOptions
  readonly #slots: FairSlots
  readonly #underWay = new Map<string, Promise<Decision>>()
  readonly #rate: ReviewRate
  #sent = 0

  constructor(options: AccessReviewsOptions) {
    const { limits } = options
    this.#options = options
    this.decisions = new DecisionCache(limits)
    const { maxReviewsInFlight: most, maxReviewsWaiting: mostWaiting } = limits
    this.#slots = new FairSlots({ most, mostWaiting, maxWaitMs })
    this.#rate = new ReviewRate(limits.maxReviewsPerOperation)
  }

  /** The number of sent reviews. */
  get sent(): number {
    return this.#sent
  }

  /** How long a viewer should wait before an operation asks for more; 0 if it may ask now. */
  pauseMs({ username }: Viewer): number {
    return this.#rate.pauseMs(username)
  }

  /** The cached answer, if it is still valid. */
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
      last = (await this.#reviewOnce(asked)).allowed
    }
    return this.decisions.get(asked)?.allowed ?? last
  }

  #reviewOnce(asked: Asked): Promise<Decision> {
    const key = askedKey(asked)
    let review = this.#underWay.get(key)
    if (review === undefined) {
      review = this.#review(asked).finally(() => this.#underWay.delete(key))
      this.#underWay.set(key, review)
    }
    return review
  }

  async #review(asked: Asked): Promise<Decision> {
    const { cluster, limits, server } = this.#options
    try {
      const { viewer, question } = asked
      this.#rate.take(viewer.username)
      return await this.#slots.run(viewer.username, async () => {
        const askedMs = performance.now()
        this.#sent += 1
        const answer = await reviewAccess(server(), viewer, question, limits.reviewDeadlineMs)
        const decision = { ...answer, askedMs }
        this.decisions.set(asked, decision)
        return decision
      })
    } catch (cause) {
      throw new AccessReviewError(cluster, cause)
    }
  }
}

/** The time in which a user may request as many reviews as one operation may need. */
const refillMs = 10_000
/** The maximum number of users with a kept rate. A dropped user starts with a full allowance. */
const maxUsers = 10_000

/**
 * A token bucket for each user. An operation that starts with a non-empty bucket may take more than it holds; later
 * operations wait.
 */
class ReviewRate {
  readonly #capacity: number
  readonly #buckets = new LRUCache<string, { left: number; atMs: number }>({ max: maxUsers })

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

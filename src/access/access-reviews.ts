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
  /** What is asked; throws where there is no connection. */
  readonly server: () => ReviewRequests
  readonly limits: AccessLimits
}

/** As long as an operation may take by default: what waits longer is most likely wanted by nobody. */
const maxWaitMs = 30_000

/** An answer may be outdated by a change of RBAC while it is on its way: then it is asked for again, so often. */
const maxAttempts = 3

/**
 * What viewers may do in one cluster, by SubjectAccessReview. The API has no batches of them: what is asked at the same time
 * is asked once, some at a time, each with a deadline, and the answers are kept for a while. Users take turns.
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

  /** Reviews that have been sent. */
  get sent(): number {
    return this.#sent
  }

  /** How long a viewer should wait before an operation asks for more; 0 if it may ask now. */
  pauseMs({ username }: Viewer): number {
    return this.#rate.pauseMs(username)
  }

  /** The answer, where it is known and still holds. */
  known(viewer: Viewer, question: AccessQuestion): Decision | undefined {
    return this.decisions.get({ viewer, question })
  }

  /** The answer. Rejects with `AccessReviewError`. */
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

/** Each user may ask for as many reviews as one operation may need in this time. */
const refillMs = 10_000
/** Users whose rates are kept; a user who is forgotten may ask for as many as one who has never asked. */
const maxUsers = 10_000

/** A token bucket for each user. An operation that begins while there is something in it may take more than that: the next ones wait. */
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

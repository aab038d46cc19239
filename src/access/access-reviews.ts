import { FairSlots } from '../lib/concurrency.ts'
import type { AccessLimits } from './access-limits.ts'
import type { AccessQuestion } from './access-question.ts'
import { type Asked, askedKey, type Decision, DecisionCache } from './decision-cache.ts'
import { AccessReviewError, reviewAccess, type ReviewRequests } from './subject-access-review.ts'
import type { Viewer } from './viewer.ts'

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
  #sent = 0

  constructor(options: AccessReviewsOptions) {
    const { limits } = options
    this.#options = options
    this.decisions = new DecisionCache(limits)
    const { maxReviewsInFlight: most, maxReviewsWaiting: mostWaiting } = limits
    this.#slots = new FairSlots({ most, mostWaiting, maxWaitMs })
  }

  /** Reviews that have been sent. */
  get sent(): number {
    return this.#sent
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

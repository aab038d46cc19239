/*
 * Counts the running work of each user, and refuses more than the limits. Users are identified by name, which identity
 * providers keep unique. While the server has a refusal of its own, no work begins.
 */

import type { Viewer } from '../../access/viewer.ts'
import { ClientError } from '../../graphql/errors/client-error.ts'
import { Counts } from '../../lib/counts.ts'

/** Limits per user over all connections. Anonymous callers are not counted. */
export interface UserQuotaLimits {
  /** The maximum number of running HTTP requests and WebSocket queries per user. */
  readonly maxOperationsPerUser: number
  /** The maximum number of subscriptions per user, by either transport. */
  readonly maxSubscriptionsPerUser: number
  /** The maximum number of open WebSockets per user. */
  readonly maxSocketsPerUser: number
}

type Counted = 'operations' | 'subscriptions' | 'WebSockets'

const limitOf: Readonly<Record<Counted, keyof UserQuotaLimits>> = {
  operations: 'maxOperationsPerUser',
  subscriptions: 'maxSubscriptionsPerUser',
  WebSockets: 'maxSocketsPerUser',
}

const nothing = (): void => {}
/** The usual time of a query, including waits. */
const retryAfterMs = 1_000

export class UserQuotas {
  readonly #limits: UserQuotaLimits
  readonly #refusal: () => Error | undefined
  readonly #counts: Readonly<Record<Counted, Counts>> = {
    operations: new Counts(),
    subscriptions: new Counts(),
    WebSockets: new Counts(),
  }

  constructor(limits: UserQuotaLimits, refusal: () => Error | undefined) {
    this.#limits = limits
    this.#refusal = refusal
  }

  /**
   * Takes one unit. The returned function gives it back, once. Throws `ClientError` TOO_MANY_OPERATIONS at the limit, or
   * the refusal.
   */
  take(counted: Counted, viewer: Viewer | undefined): () => void {
    const refused = counted === 'WebSockets' ? undefined : this.#refusal()
    if (refused !== undefined) throw refused
    if (viewer === undefined) return nothing
    const counts = this.#counts[counted]
    const { username } = viewer
    const limit = this.#limits[limitOf[counted]]
    if (counts.of(username) >= limit) {
      throw new ClientError(
        'TOO_MANY_OPERATIONS',
        `this user already has ${limit} ${counted} running`,
        {
          value: limit,
          hint: 'wait until some of them have ended',
          retryAfterMs,
        },
      )
    }
    counts.add(username)
    let taken = true
    return () => {
      if (!taken) return
      taken = false
      counts.remove(username)
    }
  }
}

import type { Viewer } from '../../access/viewer.ts'
import { ClientError } from '../../graphql/errors/client-error.ts'

/** What one user may have at the same time, over all connections; nobody is counted who is not asked who they are. */
export interface UserQuotaLimits {
  /** Requests by HTTP, and queries by WebSocket, that one user may have under way. */
  readonly maxOperationsPerUser: number
  /** Subscriptions that one user may have, by either transport. */
  readonly maxSubscriptionsPerUser: number
  /** WebSockets that one user may have open. */
  readonly maxSocketsPerUser: number
}

type Counted = 'operations' | 'subscriptions' | 'WebSockets'

const limitOf: Readonly<Record<Counted, keyof UserQuotaLimits>> = {
  operations: 'maxOperationsPerUser',
  subscriptions: 'maxSubscriptionsPerUser',
  WebSockets: 'maxSocketsPerUser',
}

const nothing = (): void => {}
/** About as long as a query takes, with what it may wait for. */
const retryAfterMs = 1_000

/** Counts what each user has under way. Users are known by their name: it is what an identity provider promises to be unique. */
export class UserQuotas {
  readonly #limits: UserQuotaLimits
  readonly #counts: Readonly<Record<Counted, Map<string, number>>> = {
    operations: new Map(),
    subscriptions: new Map(),
    WebSockets: new Map(),
  }

  constructor(limits: UserQuotaLimits) {
    this.#limits = limits
  }

  /**
   * Takes one; the function that it returns gives it back, once. Throws `ClientError`, TOO_MANY_OPERATIONS, where the user has
   * as many as there may be.
   */
  take(counted: Counted, viewer: Viewer | undefined): () => void {
    if (viewer === undefined) return nothing
    const counts = this.#counts[counted]
    const { username } = viewer
    const before = counts.get(username) ?? 0
    const limit = this.#limits[limitOf[counted]]
    if (before >= limit) throw tooMany(counted, limit)
    counts.set(username, before + 1)
    let taken = true
    return () => {
      if (!taken) return
      taken = false
      const left = (counts.get(username) ?? 1) - 1
      if (left === 0) counts.delete(username)
      else counts.set(username, left)
    }
  }
}

function tooMany(counted: Counted, limit: number): ClientError {
  return new ClientError('TOO_MANY_OPERATIONS', `this user has ${limit} ${counted} under way`, {
    value: limit,
    hint: 'wait until some of them have ended',
    retryAfterMs,
  })
}

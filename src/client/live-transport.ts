/**
 * What a live query needs of a client: it sends subscriptions and says how each of them ended. `failureOf` makes one
 * {@link LiveFailure} of all the ways in which a subscription ends, and says whether to subscribe again: the errors of
 * an operation by their code, a closed connection by its close code.
 */

/** A subscription for a transport. The transport reads `variables` each time it sends the request. */
export interface LiveRequest {
  readonly query: string
  readonly operationName?: string
  readonly variables: Record<string, unknown>
}

/** A GraphQL error of an operation. */
export interface LiveError {
  readonly message: string
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** The payload of a `next` message. */
export interface LiveResult {
  readonly data?: unknown
  readonly errors?: readonly unknown[] | undefined
}

/** Receives the events of a subscription; `error` and `complete` end it. */
export interface LiveSink {
  next(result: LiveResult): void
  /** Errors of the operation, an `Error`, or the close code of the socket: `{ code, reason }`. */
  error(error: unknown): void
  complete(): void
}

/**
 * Sends subscriptions: the client of graphql-ws, or a {@link WebSocketClient}. After a lost connection it may send its
 * subscriptions again by itself, or end them with an error.
 */
export interface LiveTransport {
  /** Returns a function that ends the subscription from this side. */
  subscribe(request: LiveRequest, sink: LiveSink): () => void
  /**
   * Calls `listener` when a connection is established, or lost or refused, with the `Error` or `{ code, reason }`.
   * Returns a function that removes it.
   */
  on?(event: 'connected' | 'closed', listener: (reason?: unknown) => void): () => void
  /** Reconnects with other credentials after a refusal. Returns whether there may be others. */
  renew?(): boolean
}

/** The reason why a subscription ended, and the remedy. */
export interface LiveFailure {
  readonly error: Error
  readonly code: string | undefined
  /**
   * `retry`: subscribe again. `renew`: subscribe again with other credentials, if there are any. `none`: subscribing
   * again would not help.
   */
  readonly remedy: 'retry' | 'renew' | 'none'
  /** The minimum delay before the next attempt, if the gateway names one. */
  readonly retryAfterMs: number | undefined
}

/** Codes of temporary errors. Errors with other codes are permanent. */
const passing: ReadonlySet<string> = new Set([
  'IDENTITY_UNAVAILABLE',
  'AUDIT_UNAVAILABLE',
  'NOT_SYNCED',
  'CLUSTER_UNREACHABLE',
  'CLUSTER_UNAUTHORIZED',
  'NODE_UNREACHABLE',
  'ARCHIVE_UNREACHABLE',
  'METRICS_UNREACHABLE',
  'CACHE_FULL',
  'TOO_MANY_OPERATIONS',
  'DEADLINE_EXCEEDED',
  'SCHEMA_CHANGED',
  'INTERNAL',
])

/**
 * Close codes of graphql-transport-ws that another attempt does not cure. After {@link refusedCloseCode} other
 * credentials may help.
 */
const lastingCloseCodes: ReadonlySet<number> = new Set([4004, 4005, 4400, 4401, 4406, 4409, 4500])

/** The gateway refuses the credentials, or they have expired. */
export const refusedCloseCode = 4403

/** The close code and reason of a connection. */
export interface Closing {
  readonly code: number
  readonly reason: string
  /** Whether another attempt cannot help. */
  readonly isLasting?: boolean
}

/** The failure for an end reason: errors of the operation, an `Error`, or the close code of the socket. */
export function failureOf(reason: unknown): LiveFailure {
  if (Array.isArray(reason)) {
    const [first] = reason as readonly LiveError[]
    const { code, retryAfterMs } = first?.extensions ?? {}
    const name = typeof code === 'string' ? code : undefined
    // An error with `retryAfterMs` is temporary.
    const isPassing = retryAfterMs !== undefined || (name !== undefined && passing.has(name))
    return {
      error: new Error(first?.message ?? 'the subscription failed', { cause: reason }),
      code: name,
      remedy: isPassing ? 'retry' : name === 'UNAUTHENTICATED' ? 'renew' : 'none',
      retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
    }
  }
  const { code, reason: why = '', isLasting = false } = (reason ?? {}) as Partial<Closing>
  const told = [code, why].join(' ').trimEnd()
  let problem = `the connection was closed: ${told}`
  // Browsers give no reason for a connection that fails: 1006 is all that a page learns.
  if (why === '' && code === 1006) {
    problem =
      'the connection failed (1006): check the URL, that the gateway runs, and that it allows the origin of this page'
  } else if (code === refusedCloseCode) {
    problem = `the credentials have expired or are not accepted (${told})${isLasting ? ': sign in again; connectionParams that are a function are asked for others' : ''}`
  }
  const isOver = isLasting || (code !== undefined && lastingCloseCodes.has(code))
  return {
    error: reason instanceof Error ? reason : new Error(problem),
    code: undefined,
    remedy: isOver ? 'none' : 'retry',
    retryAfterMs: undefined,
  }
}

/**
 * The delay before the next attempt after `failures` failures in a row, in milliseconds: doubles each time up to 20 s,
 * with half of it random, so that the clients of a restarted gateway do not return at once.
 */
export function retryDelayMs(failures: number): number {
  const longest = Math.min(20_000, 250 * 2 ** Math.min(failures, 16))
  return longest * (0.5 + Math.random() / 2)
}

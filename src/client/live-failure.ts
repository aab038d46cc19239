import type { LiveError } from './live-transport.ts'

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
  if (Array.isArray(reason)) return failureOfOperation(reason as readonly LiveError[])
  const { code, reason: why, isLasting = false } = (reason ?? {}) as Partial<Closing>
  const error = reason instanceof Error ? reason : new Error(closingMessage(code, why))
  const isOver = isLasting || (code !== undefined && lastingCloseCodes.has(code))
  return {
    error,
    code: undefined,
    remedy: isOver ? 'none' : 'retry',
    retryAfterMs: undefined,
  }
}

/** Browsers give no reason for a connection that fails: 1006 is all that a page learns. */
function closingMessage(code: number | undefined, reason: string | undefined): string {
  if (reason !== undefined && reason !== '') return `the connection was closed: ${code} ${reason}`
  if (code !== 1006) return `the connection was closed: ${code}`
  return 'the connection failed (1006): check the URL, that the gateway runs, and that it allows the origin of this page'
}

function failureOfOperation(errors: readonly LiveError[]): LiveFailure {
  const [first] = errors
  const { code, retryAfterMs } = first?.extensions ?? {}
  const name = typeof code === 'string' ? code : undefined
  // An error with `retryAfterMs` is temporary.
  const isPassing = retryAfterMs !== undefined || (name !== undefined && passing.has(name))
  return {
    error: new Error(first?.message ?? 'the subscription failed', { cause: errors }),
    code: name,
    remedy: isPassing ? 'retry' : name === 'UNAUTHENTICATED' ? 'renew' : 'none',
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
  }
}

const leastMs = 250
const mostMs = 20_000

/**
 * The delay before the next attempt after `failures` failures in a row, in milliseconds: doubles each time up to 20 s,
 * with half of it random, so that the clients of a restarted gateway do not return at once.
 */
export function retryDelayMs(failures: number): number {
  const longest = Math.min(mostMs, leastMs * 2 ** Math.min(failures, 16))
  return longest * (0.5 + Math.random() / 2)
}

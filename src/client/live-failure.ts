import type { LiveError } from './live-transport.ts'

/** Why a subscription ended, and what is to be done. */
export interface LiveFailure {
  readonly error: Error
  readonly code: string | undefined
  /** Ask again; ask again with other credentials, if there are any; or neither, as nothing changes by asking again. */
  readonly remedy: 'retry' | 'renew' | 'none'
  /** The least to wait before asking again, where the gateway says so. */
  readonly retryAfterMs: number | undefined
}

/** Codes of errors that pass; all others are there to stay. */
const passing: ReadonlySet<string> = new Set([
  'IDENTITY_UNAVAILABLE',
  'NOT_SYNCED',
  'CLUSTER_UNREACHABLE',
  'CACHE_FULL',
  'TOO_MANY_OPERATIONS',
  'DEADLINE_EXCEEDED',
  'SCHEMA_CHANGED',
  'INTERNAL',
])

/** Close codes of graphql-transport-ws that asking again does not mend; after {@link refusedCloseCode} other credentials may. */
const lastingCloseCodes: ReadonlySet<number> = new Set([4004, 4005, 4400, 4401, 4406, 4409, 4500])

/** The gateway refuses the credentials, or they have expired. */
export const refusedCloseCode = 4403

/** How a connection was closed. */
export interface Closing {
  readonly code: number
  readonly reason: string
  /** Whoever closed it knows that asking again does not help. */
  readonly isLasting?: boolean
}

/** What an ended subscription was ended by: errors of the operation, an `Error`, or how the socket was closed. */
export function failureOf(reason: unknown): LiveFailure {
  if (Array.isArray(reason)) return failureOfOperation(reason as readonly LiveError[])
  const { code, reason: why, isLasting = false } = (reason ?? {}) as Partial<Closing>
  const error =
    reason instanceof Error
      ? reason
      : new Error(`the connection was closed: ${String(code)} ${String(why)}`)
  const isOver = isLasting || (code !== undefined && lastingCloseCodes.has(code))
  return {
    error,
    code: undefined,
    remedy: isOver ? 'none' : 'retry',
    retryAfterMs: undefined,
  }
}

function failureOfOperation(errors: readonly LiveError[]): LiveFailure {
  const [first] = errors
  const { code, retryAfterMs } = first?.extensions ?? {}
  const name = typeof code === 'string' ? code : undefined
  // Whatever it is, the gateway says when it may have passed.
  const isPassing = retryAfterMs !== undefined || (name !== undefined && passing.has(name))
  return {
    error: new Error(first?.message ?? 'the subscription failed', { cause: errors }),
    code: name,
    remedy: isPassing ? 'retry' : name === 'UNAUTHENTICATED' ? 'renew' : 'none',
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
  }
}

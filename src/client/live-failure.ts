import type { LiveError } from './live-transport.ts'

/** Why a subscription ended, and whether to ask again. */
export interface LiveFailure {
  readonly error: Error
  readonly code: string | undefined
  /** Nothing changes by asking again. */
  readonly isLasting: boolean
  /** The least to wait before asking again, where the gateway says so. */
  readonly retryAfterMs: number | undefined
}

/** Codes of errors that pass. */
const passing: ReadonlySet<string> = new Set([
  'NOT_SYNCED',
  'CLUSTER_UNREACHABLE',
  'SCHEMA_CHANGED',
  'INTERNAL',
])

/** Close codes of graphql-transport-ws that asking again does not mend; after 4403 a new token may. */
const lastingCloseCodes: ReadonlySet<number> = new Set([4004, 4005, 4400, 4401, 4406, 4409, 4500])

/** What an ended subscription was ended by: errors of the operation, an `Error`, or how the socket was closed. */
export function failureOf(reason: unknown): LiveFailure {
  if (Array.isArray(reason)) return failureOfOperation(reason as readonly LiveError[])
  const { code, reason: why } = (reason ?? {}) as {
    readonly code?: unknown
    readonly reason?: unknown
  }
  const error =
    reason instanceof Error
      ? reason
      : new Error(`the connection was closed: ${String(code)} ${String(why)}`)
  return {
    error,
    code: undefined,
    isLasting: typeof code === 'number' && lastingCloseCodes.has(code),
    retryAfterMs: undefined,
  }
}

function failureOfOperation(errors: readonly LiveError[]): LiveFailure {
  const [first] = errors
  const { code, retryAfterMs } = first?.extensions ?? {}
  const name = typeof code === 'string' ? code : undefined
  return {
    error: new Error(first?.message ?? 'the subscription failed', { cause: errors }),
    code: name,
    isLasting: name === undefined || !passing.has(name),
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
  }
}

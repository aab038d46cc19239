import { UnreadableResourceError } from '../../cache/cache-errors.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'
import { ClientError, type ClientErrorCode } from './client-error.ts'
import type { KindAt } from './kind-part.ts'

/** Why a read that has taken too long gives nothing. */
export function lateRead({ cluster, kind }: KindAt, deadlineMs: number): ClientError {
  const message = `${kind.typeName} was not read from the API server within ${deadlineMs} ms`
  const details = { cluster, kind: kind.typeName, hint: 'ask again in a moment' }
  return new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs: 1_000 })
}

/** Why a read that has failed gives nothing. */
export function failedRead({ cluster, kind }: KindAt, cause: unknown): ClientError {
  const details = { cluster, kind: kind.typeName, cause }
  if (cause instanceof UnreadableResourceError) {
    const { code, message, hint, retryAfterMs } = cause
    return new ClientError(code, message, { ...details, hint, retryAfterMs })
  }
  if (cause instanceof ApiStatusError) {
    const reason = cause.status.message ?? `HTTP ${cause.httpStatus}`
    const message = `${kind.typeName} cannot be read from the API server: ${reason}`
    const { retryAfterMs } = cause
    if (cause.httpStatus === 410) {
      const hint = 'the list has moved on: begin again without `after`'
      return new ClientError('BAD_USER_INPUT', message, { ...details, argument: 'after', hint })
    }
    const code = statusCodes[cause.httpStatus] ?? 'CLUSTER_UNREACHABLE'
    return new ClientError(code, message, { ...details, retryAfterMs })
  }
  const message = cause instanceof Error ? cause.message : String(cause)
  return new ClientError('CLUSTER_UNREACHABLE', message, details)
}

const statusCodes: Readonly<Record<number, ClientErrorCode>> = {
  400: 'BAD_USER_INPUT',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'UNSUPPORTED',
  406: 'UNSUPPORTED',
}

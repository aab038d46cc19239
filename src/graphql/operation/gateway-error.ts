import { GraphQLError } from 'graphql'
import { CodedError } from '../../lib/coded-error.ts'
import { DeadlineError } from '../../lib/deadline.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'

/** The codes of the API's errors: part of its contract. */
export type GatewayErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'BAD_USER_INPUT'
  | 'NOT_SYNCED'
  | 'CLUSTER_UNREACHABLE'
  | 'QUERY_TOO_COSTLY'
  | 'RBAC_BUDGET_EXCEEDED'
  | 'UNSUPPORTED'
  | 'INTERNAL'

/** What an error says besides its message. */
export interface GatewayErrorExtensions {
  readonly argument?: string
  readonly value?: unknown
  readonly hint?: string
  readonly cluster?: string
  readonly kind?: string
  readonly retryAfterMs?: number
}

/** An error as a client sees it: `extensions: { code, argument?, value?, hint?, cluster?, kind?, retryAfterMs? }`. */
export function gatewayError(
  code: GatewayErrorCode,
  message: string,
  extensions: GatewayErrorExtensions = {},
): GraphQLError {
  return new GraphQLError(message, { extensions: { code, ...extensions } })
}

/** Errors of lower parts that are the caller's to mend; what has no code of the contract is ours. */
const passedOn: ReadonlySet<string> = new Set<GatewayErrorCode>([
  'BAD_USER_INPUT',
  'QUERY_TOO_COSTLY',
  'UNSUPPORTED',
])

/**
 * A field's error as a client may see it: what a lower part threw, if it has a code of the contract, gives code, argument,
 * value and hint. Everything else is left as it is, to be masked.
 */
export function clientError(error: GraphQLError): GraphQLError {
  const { originalError, nodes, source, positions, path } = error
  if (!(originalError instanceof CodedError) || !passedOn.has(originalError.code)) return error
  const extensions = { ...extensionsOf(originalError) }
  return new GraphQLError(originalError.message, { nodes, source, positions, path, extensions })
}

function extensionsOf(error: CodedError): GatewayErrorExtensions & { readonly code: string } {
  const argument = 'argument' in error ? error.argument : undefined
  return {
    code: error.code,
    ...(typeof argument === 'string' ? { argument } : {}),
    ...(error.value === undefined ? {} : { value: error.value }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  }
}

/** Why a kind cannot be read, as the error of the field that wanted it. */
export function unreadableKindError(error: unknown, cluster: string, kind: string): GraphQLError {
  const at = { cluster, kind }
  if (error instanceof GraphQLError) return error
  if (error instanceof ApiStatusError) {
    const detail = error.status.message ?? `HTTP ${error.httpStatus}`
    if (error.httpStatus === 403) {
      return gatewayError('FORBIDDEN', `the gateway may not list and watch ${kind}: ${detail}`, {
        ...at,
        hint: "grant the gateway's account list and watch on the resource",
      })
    }
    if (error.httpStatus === 401) {
      return gatewayError(
        'CLUSTER_UNREACHABLE',
        `the cluster does not accept the gateway's credentials: ${detail}`,
        {
          ...at,
          hint: 'renew the credentials that the gateway reads the cluster with',
        },
      )
    }
    return gatewayError('NOT_SYNCED', `${kind} cannot be listed: ${detail}`, {
      ...at,
      ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    })
  }
  if (error instanceof DeadlineError) {
    return gatewayError('NOT_SYNCED', `${kind} is still loading after ${error.deadlineMs} ms`, {
      ...at,
      hint: 'ask again in a moment: the loading goes on',
      retryAfterMs: 1000,
    })
  }
  if (error instanceof CodedError) {
    return gatewayError('CLUSTER_UNREACHABLE', error.message, {
      ...at,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    })
  }
  return gatewayError('NOT_SYNCED', `${kind} cannot be read: ${String(error)}`, at)
}

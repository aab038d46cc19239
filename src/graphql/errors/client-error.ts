import { type DocumentNode, GraphQLError, type GraphQLErrorExtensions } from 'graphql'
import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { boundedErrors } from './bounded-errors.ts'
import { argumentAt } from './argument-place.ts'

/** The codes of the API's errors: part of its contract. */
export type ClientErrorCode =
  | 'UNAUTHENTICATED'
  | 'IDENTITY_UNAVAILABLE'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'BAD_USER_INPUT'
  | 'NOT_SYNCED'
  | 'CLUSTER_UNREACHABLE'
  | 'CACHE_FULL'
  | 'QUERY_TOO_COSTLY'
  | 'TOO_MANY_OPERATIONS'
  | 'DEADLINE_EXCEEDED'
  | 'UNTRUSTED_DOCUMENT'
  | 'SCHEMA_CHANGED'
  | 'RBAC_BUDGET_EXCEEDED'
  | 'UNSUPPORTED'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'INTERNAL'

/** What an error says besides its message. */
export interface ClientErrorDetails {
  readonly argument?: string | undefined
  readonly value?: unknown
  readonly hint?: string | undefined
  readonly cluster?: string | undefined
  readonly kind?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/** An error that a client is meant to see: `extensions: { code, argument?, value?, hint?, cluster?, kind?, retryAfterMs? }`. */
export class ClientError extends CodedError {
  readonly argument: string | undefined
  readonly cluster: string | undefined
  readonly kind: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: ClientErrorCode, message: string, details: ClientErrorDetails = {}) {
    const { value, hint, cause } = details
    super(code, message, { value, cause, ...(hint === undefined ? {} : { hint }) })
    this.argument = details.argument
    this.cluster = details.cluster
    this.kind = details.kind
    this.retryAfterMs = details.retryAfterMs
  }
}

/** Codes by which errors of lower parts are the caller's to mend; what has no code of the contract is ours. */
const passedOn: ReadonlySet<string> = new Set<ClientErrorCode>([
  'UNAUTHENTICATED',
  'IDENTITY_UNAVAILABLE',
  'BAD_USER_INPUT',
  'QUERY_TOO_COSTLY',
  'UNSUPPORTED',
])

/** What yoga, its plugins and graphql say where the API says it otherwise. */
const codes: Readonly<Record<string, ClientErrorCode>> = {
  BAD_REQUEST: 'BAD_USER_INPUT',
  GRAPHQL_PARSE_FAILED: 'BAD_USER_INPUT',
  GRAPHQL_VALIDATION_FAILED: 'BAD_USER_INPUT',
  OPERATION_RESOLUTION_FAILURE: 'BAD_USER_INPUT',
  INTERNAL_SERVER_ERROR: 'INTERNAL',
}

/** How soon an index that is being made may be there. */
const soonMs = 1_000

const internalMessage = 'The gateway failed to answer this; its log says why.'

/**
 * The one place where an error becomes what a client sees. What was made for it, or has a code that is the caller's to
 * mend, keeps its message; anything else is masked, with the error itself for the log. One that is as it should be is
 * handed back as it is.
 */
export function clientErrorOf(error: unknown): GraphQLError {
  const cause = innermost(error)
  if (cause instanceof ClientError || (cause instanceof CodedError && passedOn.has(cause.code))) {
    return placed(error, cause.message, extensionsOf(cause))
  }
  if (cause instanceof UnknownIndexError) {
    const message = `${cause.resource}: the index ${cause.index} is being made`
    const hint = 'ask again in a moment'
    return placed(error, message, {
      code: 'NOT_SYNCED',
      value: cause.index,
      hint,
      retryAfterMs: soonMs,
    })
  }
  if (!(cause instanceof GraphQLError) || !(error instanceof GraphQLError)) {
    return placed(error, internalMessage, { code: 'INTERNAL', unexpected: true })
  }
  const { code: given, ...extensions } = error.extensions
  if (typeof given !== 'string') return error
  const code = codes[given]
  return code === undefined ? error : placed(error, error.message, { code, ...extensions })
}

/** Whether a client may see the error, as {@link clientErrorOf} gives it, or only that there was one. */
export function isUnexpected(error: GraphQLError): boolean {
  return error.extensions['unexpected'] === true
}

/** As much of an execution result as decides about its errors. */
export interface AnsweredResult {
  readonly data?: unknown
  readonly errors?: readonly GraphQLError[] | undefined
}

/**
 * A result as a client sees it: its errors within bounds, each with a code. One without a code is the caller's where there is
 * no data at all (the specification's request errors: syntax, validation, variables), and the gateway's own elsewhere.
 * `unexpected` is told of what is masked, of many that say the same once.
 */
export function clientResult<T extends AnsweredResult>(
  result: T,
  unexpected: (error: GraphQLError) => void = () => {},
): T {
  const { errors } = result
  if (errors === undefined || errors.length === 0) return result
  const isRequestError = !('data' in result)
  const reported = new Set<string>()
  // One that stands for many like it is made what a client sees once.
  const made = new Map<GraphQLError, GraphQLError>()
  const seen = errors.map((error) => {
    const before = made.get(error)
    if (before !== undefined) return before
    const known = clientErrorOf(error)
    if (known !== error && isUnexpected(known) && !reported.has(error.message)) {
      reported.add(error.message)
      unexpected(error)
    }
    const coded = withCode(known, isRequestError)
    made.set(error, coded)
    return coded
  })
  // Bounded as they are sent: before, they quote what they were made of.
  return { ...result, errors: boundedErrors(seen) }
}

function withCode(error: GraphQLError, isRequestError: boolean): GraphQLError {
  const { extensions } = error
  if (typeof extensions['code'] === 'string') return error
  if (!isRequestError) return placed(error, error.message, { code: 'INTERNAL', ...extensions })
  // `spec`: as the GraphQL-over-HTTP specification has it, 400 or, for clients of application/json, 200.
  const http = extensions['http'] ?? { spec: true, status: 400 }
  return placed(error, error.message, { code: 'BAD_USER_INPUT', ...extensions, http })
}

/** A syntax or validation error without a code as BAD_USER_INPUT, naming the argument that it is about, where it is about one. */
export function requestError(
  error: GraphQLError,
  document?: DocumentNode,
  hint?: string,
): GraphQLError {
  if (error.extensions['code'] !== undefined) return error
  const [node] = error.nodes ?? []
  const argument =
    document === undefined || node === undefined ? undefined : argumentAt(document, node)
  return placed(error, error.message, {
    code: 'BAD_USER_INPUT',
    ...(argument === undefined ? {} : { argument }),
    ...(hint === undefined ? {} : { hint }),
  })
}

/** What a WebSocket client sees of an error: as by HTTP, without what only HTTP needs. */
export function withoutTransportDetails(error: GraphQLError): GraphQLError {
  const { http, unexpected, ...extensions } = error.extensions
  return http === undefined && unexpected === undefined
    ? error
    : placed(error, error.message, extensions)
}

/** What a read gives; `undefined` where a `ClientError` says why it gives nothing. */
export function unlessRefused<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ClientError) return undefined
    throw error
  }
}

/** What an error was before GraphQL said where it happened. */
function innermost(error: unknown): unknown {
  let inner = error
  while (inner instanceof GraphQLError && inner.originalError !== undefined) {
    inner = inner.originalError
  }
  return inner
}

/** An error at the place of another one, and nothing else of it. */
function placed(at: unknown, message: string, extensions: GraphQLErrorExtensions): GraphQLError {
  if (!(at instanceof GraphQLError)) return new GraphQLError(message, { extensions })
  const { nodes, source, positions, path } = at
  return new GraphQLError(message, { nodes, source, positions, path, extensions })
}

function extensionsOf(error: CodedError): GraphQLErrorExtensions {
  const { code, value, hint } = error
  const { argument, cluster, kind, retryAfterMs } = error as CodedError & ClientErrorDetails
  const all = { code, argument, value, hint, cluster, kind, retryAfterMs }
  return Object.fromEntries(Object.entries(all).filter(([, one]) => one !== undefined))
}

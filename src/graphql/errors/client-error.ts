/*
 * The errors that clients see. Code that fails throws a `ClientError` or another error with a code. Here each becomes a
 * GraphQL error with a code, the argument that it is about (`where.phase.eq`) and a way out. Any other error is masked,
 * and the log gets the original. The errors of an answer are few and short: only the first few similar errors of a field
 * stay, up to a total for the answer; one more error counts all others. Long texts and values of the remaining errors are
 * then cut in the middle.
 */

import {
  type DocumentNode,
  GraphQLError,
  type GraphQLErrorExtensions,
  Kind as NodeKind,
  type GraphQLFormattedError,
  type ASTNode,
  BREAK,
  visit,
  locatedError,
} from 'graphql'
import { UnauthenticatedError } from '../../access/authentication/authenticator.ts'
import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { maxEchoLength, shortened } from '../../lib/text.ts'
import type { ErrorCode } from '../schema/gateway-types.ts'

/** The codes of the API's errors, from the SDL: part of its contract. `NOT_SERVED` is a gap only. */
export type ClientErrorCode = Exclude<ErrorCode, 'NOT_SERVED'>

export interface ClientErrorDetails {
  readonly argument?: string | undefined
  readonly value?: unknown
  readonly hint?: string | undefined
  readonly cluster?: string | undefined
  /** The name of the GraphQL type. A `kind` is as the Kubernetes API writes it. */
  readonly type?: string | undefined
  readonly retryAfterMs?: number | undefined
  /**
   * Facts of the API server about a refused write (`conflicts`, `causes`), or of a subscription that is refused as a whole
   * (`incomplete`). The code that makes them bounds them.
   */
  readonly facts?: Readonly<Record<string, unknown>> | undefined
  readonly cause?: unknown
}

/** An error for the client. Its `extensions` hold the code and the {@link ClientErrorDetails}, except `cause`. */
export class ClientError extends CodedError {
  declare readonly code: ClientErrorCode
  readonly argument: string | undefined
  readonly cluster: string | undefined
  readonly type: string | undefined
  readonly retryAfterMs: number | undefined
  readonly facts: Readonly<Record<string, unknown>> | undefined

  constructor(code: ClientErrorCode, message: string, details: ClientErrorDetails = {}) {
    const { value, hint, cause } = details
    super(code, message, { value, cause, ...(hint === undefined ? {} : { hint }) })
    this.argument = details.argument
    this.cluster = details.cluster
    this.type = details.type
    this.retryAfterMs = details.retryAfterMs
    this.facts = details.facts
  }
}

/** Whether a code says that nothing of a cluster can be read now. It may pass without an action of the caller. */
export function isLostCluster(code: unknown): boolean {
  return code === 'CLUSTER_UNREACHABLE' || code === 'CLUSTER_UNAUTHORIZED'
}

/** The error of a write by GET: a link, a prefetch or a reload must not write. */
export function writeByGet(): ClientError {
  const message = 'writes are accepted by POST and over WebSocket, never by GET'
  const hint = 'send a POST with content-type application/json'
  return new ClientError('BAD_USER_INPUT', message, { hint })
}

/** Errors of lower layers with these codes are for the caller. Other codes mean a fault of the gateway. */
const passedOn: ReadonlySet<string> = new Set<ClientErrorCode>([
  'UNAUTHENTICATED',
  'IDENTITY_UNAVAILABLE',
  'AUDIT_UNAVAILABLE',
  'BAD_USER_INPUT',
  'QUERY_TOO_COSTLY',
  'UNSUPPORTED',
])

/** Codes of yoga, its plugins and graphql-js, and the API's codes for them. */
const codes: Readonly<Record<string, ClientErrorCode>> = {
  BAD_REQUEST: 'BAD_USER_INPUT',
  GRAPHQL_PARSE_FAILED: 'BAD_USER_INPUT',
  GRAPHQL_VALIDATION_FAILED: 'BAD_USER_INPUT',
  OPERATION_RESOLUTION_FAILURE: 'BAD_USER_INPUT',
  INTERNAL_SERVER_ERROR: 'INTERNAL',
}

const internalMessage = 'The gateway failed to answer this; its log says why.'

/**
 * Converts an error to what a client sees. No other code does. A `ClientError`, or an error with a code for the caller,
 * keeps its message. Any other error is masked; the log gets the error itself. Returns an error unchanged if it needs no
 * change.
 */
export function clientErrorOf(error: unknown): GraphQLError {
  // The original error, before GraphQL located it.
  let cause = error
  while (cause instanceof GraphQLError && cause.originalError !== undefined) {
    cause = cause.originalError
  }
  if (cause instanceof ClientError || (cause instanceof CodedError && passedOn.has(cause.code))) {
    return placed(error, cause.message, extensionsOf(cause))
  }
  if (cause instanceof UnknownIndexError) {
    const message = `${cause.resource}: the index ${cause.index} is being built`
    const details = { value: cause.index, hint: 'try again in a moment', retryAfterMs: 1_000 }
    return placed(error, message, { code: 'NOT_SYNCED', ...details })
  }
  if (!(cause instanceof GraphQLError) || !(error instanceof GraphQLError)) {
    return placed(error, internalMessage, { code: 'INTERNAL', unexpected: true })
  }
  const { code: given, ...extensions } = error.extensions
  if (typeof given !== 'string') return error
  const code = codes[given]
  return code === undefined ? error : placed(error, error.message, { code, ...extensions })
}

/** The statuses of errors that refuse an operation as a whole. */
const statuses: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  IDENTITY_UNAVAILABLE: 503,
  AUDIT_UNAVAILABLE: 503,
  TOO_MANY_OPERATIONS: 429,
}

/**
 * Like {@link clientErrorOf}, for an error that refuses a whole operation. `extensions.http` has the status and the
 * headers of the HTTP answer, which yoga applies and leaves out.
 */
export function refusalOf(error: unknown): GraphQLError {
  const seen = clientErrorOf(error)
  const { code, retryAfterMs } = seen.extensions
  const status = statuses[String(code)]
  if (status === undefined) return seen
  const problem = error instanceof UnauthenticatedError ? error.problem : undefined
  const headers = {
    // The challenge of RFC 6750 for missing or invalid credentials.
    ...(problem && { 'www-authenticate': `Bearer realm="informerql"${challenges[problem]}` }),
    ...(typeof retryAfterMs === 'number'
      ? { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }
      : {}),
  }
  return placed(seen, seen.message, { ...seen.extensions, http: { status, headers } })
}

const challenges: Readonly<Record<UnauthenticatedError['problem'], string>> = {
  none: '',
  malformed: ', error="invalid_request"',
  refused: ', error="invalid_token"',
}

/** Whether {@link clientErrorOf} masked the error. */
export function isUnexpected(error: GraphQLError): boolean {
  return error.extensions['unexpected'] === true
}

export interface AnsweredResult {
  readonly data?: unknown
  readonly errors?: readonly GraphQLError[] | undefined
}

/**
 * A result as a client sees it: its errors within bounds, each with a code. An error without a code is the caller's if
 * the result has no `data` (a request error of the specification: syntax, validation, variables) or if it is about a
 * variable; otherwise it is the gateway's. `unexpected` receives masked errors, once per message, with the id of the
 * request. Masked errors show this id in their extensions, so that the log line can be found.
 */
export function clientResult<T extends AnsweredResult>(
  result: T,
  unexpected: (error: GraphQLError, requestId?: string) => void = () => {},
  requestId?: string,
): T {
  const { errors } = result
  if (errors === undefined || errors.length === 0) return result
  const isRequestError = !('data' in result)
  const reported = new Set<string>()
  // Converts an error once if it stands for many like it.
  const made = new Map<GraphQLError, GraphQLError>()
  const seen = errors.map((error) => {
    return getOrInsert(made, error, () => {
      const known = clientErrorOf(error)
      if (known !== error && isUnexpected(known) && !reported.has(error.message)) {
        reported.add(error.message)
        unexpected(error, requestId)
      }
      return withCode(withRequestId(known, requestId), isRequestError)
    })
  })
  // Bounds the final errors, which quote their causes.
  return { ...result, errors: boundedErrors(seen) }
}

/** A masked error with the id of its request. */
export function withRequestId(error: GraphQLError, requestId: string | undefined): GraphQLError {
  if (requestId === undefined || !isUnexpected(error)) return error
  return placed(error, error.message, { ...error.extensions, requestId })
}

function withCode(error: GraphQLError, isRequestError: boolean): GraphQLError {
  const { extensions } = error
  if (typeof extensions['code'] === 'string') return error
  if (!isRequestError) {
    // graphql-js coerces the values of arguments and directives while it executes: null for `@include(if: $x)`.
    const isOfValue = error.nodes?.[0]?.kind === NodeKind.VARIABLE
    const code = isOfValue ? 'BAD_USER_INPUT' : 'INTERNAL'
    return placed(error, error.message, { code, ...extensions })
  }
  // `spec`: the status by the GraphQL-over-HTTP specification: 400, or 200 for clients of application/json.
  const http = extensions['http'] ?? { spec: true, status: 400 }
  return placed(error, error.message, { code: 'BAD_USER_INPUT', ...extensions, http })
}

/** Adds the code BAD_USER_INPUT to a syntax or validation error without one, and the argument that it is about, if any. */
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

/** The errors of a frame besides those of its rows, as a subscriber sees them. */
export function frameErrors(
  failures: readonly ClientError[],
  key: string,
): readonly GraphQLFormattedError[] {
  const errors = failures.map((error) => locatedError(error, undefined, [key]))
  return clientResult({ data: null, errors }).errors.map((error) =>
    withoutTransportDetails(error).toJSON(),
  )
}

/** The error as a WebSocket client sees it, without the extensions for HTTP. */
export function withoutTransportDetails(error: GraphQLError): GraphQLError {
  const { http, unexpected, ...extensions } = error.extensions
  return http === undefined && unexpected === undefined
    ? error
    : placed(error, error.message, extensions)
}

/** The result of a read; `undefined` if it throws a `ClientError`. */
export function unlessRefused<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ClientError) return undefined
    throw error
  }
}

/** A new error with the location of another one. */
function placed(at: unknown, message: string, extensions: GraphQLErrorExtensions): GraphQLError {
  if (!(at instanceof GraphQLError)) return new GraphQLError(message, { extensions })
  const { nodes, source, positions, path } = at
  return new GraphQLError(message, { nodes, source, positions, path, extensions })
}

function extensionsOf(error: CodedError): GraphQLErrorExtensions {
  const { code, value, hint } = error
  const { argument, cluster, type, retryAfterMs, login, facts } = error as CodedError &
    ClientErrorDetails &
    Pick<UnauthenticatedError, 'login'>
  const all = { code, argument, value, hint, cluster, type, retryAfterMs, login, ...facts }
  return Object.fromEntries(Object.entries(all).filter(([, one]) => one !== undefined))
}

/** The longest message or hint. Both may quote the request. */
const maxTextLength = 500
/** The most errors with the same code, message and field. A refused relation fails on every row. */
export const maxAlike = 5
const maxErrors = 100

/** The errors of an answer within all bounds. */
export function boundedErrors(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  return fewErrors(errors, ({ path, nodes }, message, extensions) => {
    return new GraphQLError(message, { path, nodes, extensions })
  }).map(boundedError)
}

/** Like {@link boundedErrors}, for formatted errors whose texts are bounded. */
export function boundedFormatted(
  errors: readonly GraphQLFormattedError[],
): readonly GraphQLFormattedError[] {
  return fewErrors(errors, (first, message, extensions) => ({ ...first, message, extensions }))
}

function fewErrors<T extends GraphQLError | GraphQLFormattedError>(
  errors: readonly T[],
  summary: (first: T, message: string, extensions: { readonly code: unknown }) => T,
): readonly T[] {
  const alike = new Map<string, number>()
  const kept: T[] = []
  const others: T[] = []
  for (const error of errors) {
    const code = error.extensions?.['code']
    // The path without list positions.
    const field = error.path?.filter((step) => typeof step === 'string').join('.') ?? ''
    const name = `${typeof code === 'string' ? code : ''}\0${field}\0${error.message}`
    const count = (alike.get(name) ?? 0) + 1
    alike.set(name, count)
    if (count <= maxAlike && kept.length < maxErrors) kept.push(error)
    else others.push(error)
  }
  const [first] = others
  if (first === undefined) return kept
  const message = `${others.length} more errors, such as this one: ${shortened(first.message)}`
  return [...kept, summary(first, message, { code: first.extensions?.['code'] })]
}

function boundedError(error: GraphQLError): GraphQLError {
  const message = shortened(error.message, maxTextLength)
  const extensions = boundedExtensions(error.extensions)
  if (message === error.message && extensions === error.extensions) return error
  const { nodes, source, positions, path, originalError } = error
  const cause = originalError === undefined ? {} : { originalError }
  return new GraphQLError(message, { nodes, source, positions, path, extensions, ...cause })
}

function boundedExtensions(extensions: GraphQLErrorExtensions): GraphQLErrorExtensions {
  const bounded: Record<string, unknown> = {}
  let same = true
  for (const [name, value] of Object.entries(extensions)) {
    const maxLength = name === 'hint' ? maxTextLength : maxEchoLength
    bounded[name] = boundedByMaker.has(name) ? value : boundedValue(value, maxLength)
    same &&= bounded[name] === value
  }
  return same ? extensions : bounded
}

/** The facts of a refused write, which `graphql/writes/write-errors.ts` bounds, and the gaps of a subscription. */
const boundedByMaker: ReadonlySet<string> = new Set([
  'conflicts',
  'causes',
  'admission',
  'incomplete',
])

/** Returns a short value unchanged, and a long one as a shortened text. */
function boundedValue(value: unknown, maxLength: number): unknown {
  if (typeof value === 'string') return shortened(value, maxLength)
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  )
  return text.length <= maxLength ? value : shortened(text, maxLength)
}

/** The path of the argument that contains a node: `first`, `where.phase.eq`. */
export function argumentAt(document: DocumentNode, wanted: ASTNode): string | undefined {
  let found: string | undefined
  visit(document, {
    enter(node, _key, parent, _path, ancestors) {
      if (node !== wanted) return undefined
      // `ancestors` does not contain the parent yet.
      const line = [...ancestors, ...(parent === undefined ? [] : [parent]), node]
      const names = line.flatMap((one) =>
        'kind' in one && (one.kind === NodeKind.ARGUMENT || one.kind === NodeKind.OBJECT_FIELD)
          ? [one.name.value]
          : [],
      )
      found = names.length === 0 ? undefined : names.join('.')
      return BREAK
    },
  })
  return found
}

/** The most errors reported for the values of variables: graphql-js prints each wrong value with all its siblings. */
export const maxCoercionErrors = 5

const badVariable = /^Variable "\$(\w+)" has invalid value(?: at ([.[][^:]*))?: /

/** Adds to an error of a variable's value the argument that uses the variable. Returns other errors unchanged. */
export function variableError(error: GraphQLError, document: DocumentNode): GraphQLError {
  const { message, nodes, source, positions, extensions } = error
  const [, name, inner = ''] = badVariable.exec(message) ?? []
  const argument = name === undefined ? undefined : argumentOfVariable(document, name)
  if (argument === undefined) return error
  return new GraphQLError(message, {
    nodes,
    source,
    positions,
    extensions: { ...extensions, argument: argument + inner },
  })
}

function argumentOfVariable(document: DocumentNode, name: string): string | undefined {
  let argument: string | undefined
  visit(document, {
    VariableDefinition: () => false,
    Variable(node) {
      if (node.name.value !== name) return undefined
      argument = argumentAt(document, node)
      return argument === undefined ? undefined : BREAK
    },
  })
  return argument
}

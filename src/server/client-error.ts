import { GraphQLError, type GraphQLErrorExtensions } from 'graphql'

/** What yoga and its plugins say where the API says it otherwise. */
const codes: Readonly<Record<string, string>> = {
  BAD_REQUEST: 'BAD_USER_INPUT',
  GRAPHQL_PARSE_FAILED: 'BAD_USER_INPUT',
  GRAPHQL_VALIDATION_FAILED: 'BAD_USER_INPUT',
  OPERATION_RESOLUTION_FAILURE: 'BAD_USER_INPUT',
  INTERNAL_SERVER_ERROR: 'INTERNAL',
}

/** As much of an execution result as decides about its errors. */
export interface AnsweredResult {
  readonly data?: unknown
  readonly errors?: readonly GraphQLError[] | undefined
}

/**
 * The errors of a result with a code of the API each. An error without a code is the caller's where there is no data at
 * all (the specification's request errors: syntax, validation, variables), and the gateway's own elsewhere.
 */
export function withCodes<T extends AnsweredResult>(result: T): T {
  const { errors } = result
  if (errors === undefined || errors.length === 0) return result
  const requestError = !('data' in result)
  return { ...result, errors: errors.map((error) => withCode(error, requestError)) }
}

function withCode(error: GraphQLError, requestError: boolean): GraphQLError {
  const { code: given, ...extensions } = error.extensions
  const code = typeof given === 'string' ? (codes[given] ?? given) : undefined
  if (code !== undefined && code === given) return error
  if (code === undefined && requestError) {
    // `spec`: as the GraphQL-over-HTTP specification has it, 400 or, for clients of application/json, 200.
    const http = extensions['http'] ?? { spec: true, status: 400 }
    return copyOf(error, { code: 'BAD_USER_INPUT', ...extensions, http })
  }
  return copyOf(error, { code: code ?? 'INTERNAL', ...extensions })
}

/** What a WebSocket client sees of an error: as by HTTP, without what only HTTP needs. */
export function withoutTransportDetails(error: GraphQLError): GraphQLError {
  const { http, unexpected, ...extensions } = error.extensions
  return http === undefined && unexpected === undefined ? error : copyOf(error, extensions)
}

/** The answer in place of an error that nobody meant a client to see. The error itself goes to the log. */
export function maskedError(error: unknown): GraphQLError {
  const extensions = { code: 'INTERNAL', unexpected: true }
  if (!(error instanceof GraphQLError)) return new GraphQLError(internalMessage, { extensions })
  const { nodes, source, positions, path } = error
  return new GraphQLError(internalMessage, { nodes, source, positions, path, extensions })
}

/** Whether an error was made for the client: a GraphQLError, not one that wraps something else. */
export function isMeantForClients(error: unknown): error is GraphQLError {
  let innermost: unknown = error
  while (innermost instanceof GraphQLError && innermost.originalError !== undefined) {
    innermost = innermost.originalError
  }
  return innermost instanceof GraphQLError
}

const internalMessage = 'The gateway failed to answer this; its log says why.'

function copyOf(error: GraphQLError, extensions: GraphQLErrorExtensions): GraphQLError {
  const { message, nodes, source, positions, path, originalError } = error
  return new GraphQLError(message, {
    nodes,
    source,
    positions,
    path,
    ...(originalError === undefined ? {} : { cause: originalError }),
    extensions,
  })
}

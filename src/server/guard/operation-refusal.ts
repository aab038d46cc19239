import type { IncomingMessage, ServerResponse } from 'node:http'
import { UnauthenticatedError } from '../../access/authentication/authenticator.ts'
import { clientErrorOf, isUnexpected } from '../../graphql/errors/client-error.ts'

const statuses: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  IDENTITY_UNAVAILABLE: 503,
  TOO_MANY_OPERATIONS: 429,
}

/**
 * Answers an operation that is refused before anything of it is read: as GraphQL does, with one error and its code, and the
 * HTTP status that belongs to it. The connection is closed, since the body may still be on its way. Returns the
 * code; throws an error that is for nobody to see.
 */
export function refuseOperation(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): string {
  const seen = clientErrorOf(error)
  if (isUnexpected(seen)) throw error
  const { message, extensions } = seen
  const { code, retryAfterMs } = extensions
  const body = Buffer.from(JSON.stringify({ errors: [{ message, extensions }] }))
  const isGraphql = request.headers.accept?.includes('application/graphql-response+json') === true
  response.writeHead(statuses[String(code)] ?? 500, {
    ...challengeOf(error),
    ...(typeof retryAfterMs === 'number'
      ? { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }
      : {}),
    'content-type': `application/${isGraphql ? 'graphql-response+json' : 'json'}; charset=utf-8`,
    'content-length': body.length,
    connection: 'close',
  })
  response.end(body)
  return String(code)
}

/** What RFC 6750 wants said where credentials are missing or wrong. */
function challengeOf(error: unknown): { readonly 'www-authenticate'?: string } {
  if (!(error instanceof UnauthenticatedError)) return {}
  const problems = {
    none: '',
    malformed: ', error="invalid_request"',
    refused: ', error="invalid_token"',
  }
  return { 'www-authenticate': `Bearer realm="informerql"${problems[error.problem]}` }
}

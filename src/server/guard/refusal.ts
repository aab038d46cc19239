import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { UnauthenticatedError } from '../../access/authentication/authenticator.ts'
import { clientErrorOf, isUnexpected } from '../../graphql/errors/client-error.ts'

/** A refusal: a status and one sentence for people. */
export interface Refusal {
  readonly status: number
  readonly reason: string
  readonly headers?: OutgoingHttpHeaders
}

/** Answers with plain text and without CORS headers, and closes the connection, since an unread body may follow. */
export function refuseRequest(
  response: ServerResponse,
  { status, reason, headers }: Refusal,
): void {
  const body = Buffer.from(`${reason}\n`)
  response.writeHead(status, {
    ...headers,
    'content-type': 'text/plain; charset=utf-8',
    'content-length': body.length,
    connection: 'close',
  })
  response.end(body)
}

const refusalDeadlineMs = 5_000

/** As {@link refuseRequest}, for an upgrade request, which has no response object. */
export function refuseUpgrade(socket: Duplex, { status, reason }: Refusal): void {
  const body = `${reason}\n`
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
  ]
  const timer = setTimeout(() => socket.destroy(), refusalDeadlineMs)
  socket.on('error', () => socket.destroy())
  socket.once('close', () => clearTimeout(timer))
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

const statuses: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  IDENTITY_UNAVAILABLE: 503,
  TOO_MANY_OPERATIONS: 429,
}

/**
 * Refuses an operation before it is read: answers with one GraphQL error and its HTTP status, and closes the
 * connection, since the body may follow. Returns the code. Rethrows unexpected errors.
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

/** The challenge of RFC 6750 for missing or invalid credentials. */
function challengeOf(error: unknown): { readonly 'www-authenticate'?: string } {
  if (!(error instanceof UnauthenticatedError)) return {}
  const problems = {
    none: '',
    malformed: ', error="invalid_request"',
    refused: ', error="invalid_token"',
  }
  return { 'www-authenticate': `Bearer realm="informerql"${problems[error.problem]}` }
}

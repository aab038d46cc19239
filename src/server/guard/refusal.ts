import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { UnauthenticatedError } from '../../access/authentication/authenticator.ts'
import {
  type ClientErrorCode,
  clientErrorOf,
  isUnexpected,
} from '../../graphql/errors/client-error.ts'
import { answeredRequestId } from './request-id.ts'

/** A refusal: a status, what is wrong, and the way out. */
export interface Refusal {
  readonly status: number
  readonly reason: string
  readonly hint?: string
  readonly headers?: OutgoingHttpHeaders
}

/** Answers with one GraphQL error, and closes the connection, since an unread body may follow. */
export function refuseRequest(response: ServerResponse, refusal: Refusal): void {
  const requestId = refusal.status === 500 ? answeredRequestId(response) : undefined
  sendError(response, refusal.status, bodyOf(refusal, requestId), refusal.headers)
}

const codes: Readonly<Record<number, ClientErrorCode>> = {
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  500: 'INTERNAL',
  503: 'INTERNAL',
}

/** What a client of a server that is starting or stopping waits before it asks again, or another one. */
const unavailableRetryMs = 1_000

/** The refusal of a server that listens and has nothing to answer from yet. */
export const startingRefusal: Refusal = {
  status: 503,
  reason: 'The gateway is starting.',
  headers: { 'retry-after': '1' },
}

function bodyOf({ status, reason, hint }: Refusal, requestId?: string): string {
  const code = codes[status] ?? 'BAD_USER_INPUT'
  const retryAfterMs = status === 503 ? unavailableRetryMs : undefined
  const extensions = { code, hint, retryAfterMs, requestId }
  return JSON.stringify({ errors: [{ message: reason, extensions }] })
}

function sendError(
  response: ServerResponse,
  status: number,
  text: string,
  headers?: OutgoingHttpHeaders,
): void {
  const body = Buffer.from(text)
  const isGraphql = response.req.headers.accept?.includes(graphqlJson) === true
  response.writeHead(status, {
    ...headers,
    'content-type': `${isGraphql ? graphqlJson : 'application/json'}; charset=utf-8`,
    'content-length': body.length,
    connection: 'close',
  })
  response.end(body)
}

const graphqlJson = 'application/graphql-response+json'

const refusalDeadlineMs = 5_000

/** As {@link refuseRequest}, for an upgrade request, which has no response object. */
export function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
  const { status } = refusal
  const body = bodyOf(refusal)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json; charset=utf-8',
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
  AUDIT_UNAVAILABLE: 503,
  TOO_MANY_OPERATIONS: 429,
}

/**
 * Refuses an operation before it is read: answers with one GraphQL error and its HTTP status, and closes the
 * connection, since the body may follow. Returns the code. Rethrows unexpected errors.
 */
export function refuseOperation(response: ServerResponse, error: unknown): string {
  const seen = clientErrorOf(error)
  if (isUnexpected(seen)) throw error
  const { message, extensions } = seen
  const { code, retryAfterMs } = extensions
  const text = JSON.stringify({ errors: [{ message, extensions }] })
  sendError(response, statuses[String(code)] ?? 500, text, {
    ...challengeOf(error),
    ...(typeof retryAfterMs === 'number'
      ? { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }
      : {}),
  })
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

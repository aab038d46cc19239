/*
 * Refuses requests: with text for people, with GraphQL errors for clients that send operations, and with a bare HTTP
 * answer for upgrades. Also gives each request its id, which the answer and every line of the log about it repeat.
 */

import { randomUUID } from 'node:crypto'
import {
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Duplex } from 'node:stream'
import {
  type ClientErrorCode,
  isUnexpected,
  refusalOf,
  withoutTransportDetails,
} from '../../graphql/errors/client-error.ts'

/** Names a request in logs, in the audit log and in the errors of the gateway. */
export const requestIdHeader = 'x-request-id'

/** The ids of proxies: UUIDs, hexadecimal digits, base64. Any other text could look like a part of a log line. */
const wellFormed = /^[\w.:+/=@-]{1,128}$/

/** The id that a proxy or the client has given to a request, or a new one. */
export function requestIdOf({ [requestIdHeader]: given }: IncomingHttpHeaders): string {
  return typeof given === 'string' && wellFormed.test(given) ? given : randomUUID()
}

/** The id of the request of a response. */
export function answeredRequestId(response: ServerResponse): string {
  return String(response.getHeader(requestIdHeader))
}

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

/** How long a client of a starting or stopping server should wait before it retries. */
const unavailableRetryMs = 1_000

/** The refusal of a server that listens but cannot answer yet. */
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

/** Refuses an upgrade request, which has no response object, like {@link refuseRequest}. */
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

/**
 * Refuses an operation before it is read: answers with one GraphQL error and its HTTP status, and closes the
 * connection, since the body may follow. Returns the code. Rethrows unexpected errors.
 */
export function refuseOperation(response: ServerResponse, error: unknown): string {
  const seen = refusalOf(error)
  if (isUnexpected(seen)) throw error
  const { message, extensions } = withoutTransportDetails(seen)
  const { status = 500, headers } = seen.extensions.http ?? {}
  sendError(response, status, JSON.stringify({ errors: [{ message, extensions }] }), headers)
  return String(extensions['code'])
}

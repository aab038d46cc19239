/*
 * Decides by the headers of a request, before its body is read, whether the server answers it; and refuses the others.
 *
 * 1. `OriginCheck` keeps foreign pages out. A page of another site can make a browser send requests here, even under a
 *    name of its own that resolves to this machine (DNS rebinding). So the Host must be a known name. The Origin, which
 *    pages cannot forge, must be the gateway's own or an allowed one.
 * 2. `operationRefusal` checks a request with an operation: the method, proof that no foreign page sends a GET, the
 *    content type, no compression, and a size within the bounds.
 * 3. A refusal is text for people, GraphQL errors for clients that send operations, and a bare HTTP answer for upgrades.
 *
 * Each request has an id, which its answer and every line of the log about it repeat.
 */

import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { BlockList, isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { CodedError } from '../../lib/coded-error.ts'
import { HostNames } from '../../lib/host-names.ts'
import type { ServerOptions } from '../server-options.ts'
import { forwardedHeader } from '../../graphql/over-gateways/over-gateways.ts'
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

/** The foreign origins that may do something, and the option that names them. */
export interface AllowedOrigins {
  readonly origins: ReadonlySet<string>
  readonly option: string
}

/** Checks the host ({@link HostNames}) and the origin of a request by its headers, for all transports. */
export class OriginCheck {
  readonly #hosts: HostNames
  readonly #allowedOrigins: ReadonlySet<string>
  readonly #publicOrigin: string | undefined
  readonly #address: string | undefined

  /** `address`: where other gateways ask this one. */
  constructor(
    {
      host,
      allowedHosts,
      allowedOrigins,
      publicUrl,
    }: Pick<ServerOptions, 'host' | 'allowedHosts' | 'allowedOrigins' | 'publicUrl'>,
    address?: string,
  ) {
    const own = [publicUrl, address].map((url) => (url === undefined ? undefined : new URL(url)))
    const [seen, asked] = own
    this.#publicOrigin = seen?.origin
    this.#address = asked?.origin
    const hosts = own.flatMap((url) => (url === undefined ? [] : [url.host]))
    this.#hosts = new HostNames(host, [...hosts, ...allowedHosts])
    this.#allowedOrigins = new Set(allowedOrigins)
  }

  /** `allowed`: other origins than those that may send operations. */
  refusal(
    headers: IncomingHttpHeaders,
    { origins, option }: AllowedOrigins = {
      origins: this.#allowedOrigins,
      option: 'server.allowedOrigins',
    },
  ): Refusal | undefined {
    if (!this.#hosts.has(headers.host)) {
      const host = JSON.stringify(headers.host ?? '')
      return {
        status: 403,
        reason: `Host ${host} is not a name of this gateway.`,
        hint: 'add it to server.allowedHosts to allow it',
      }
    }
    const { origin } = headers
    const site = headers['sec-fetch-site']
    // Browsers omit the origin of simple GET requests, but always send this header. Other clients send neither.
    const isFromOwnPage =
      origin === undefined
        ? site === undefined ||
          site === 'same-origin' ||
          site === 'none' ||
          (headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document')
        : origin === this.#publicOrigin || hostOf(origin) === headers.host?.toLowerCase()
    if (isFromOwnPage || (origin !== undefined && origins.has(origin))) return undefined
    const from = origin ?? `a ${String(site)} page`
    return {
      status: 403,
      reason: `Requests from ${JSON.stringify(from)} are refused.`,
      hint: `add the origin to ${option} to allow it`,
    }
  }

  /** The origin of the request if it is foreign and allowed. */
  allowedOrigin({ origin }: IncomingHttpHeaders): string | undefined {
    return origin !== undefined && this.#allowedOrigins.has(origin) ? origin : undefined
  }

  /**
   * Whether the browser says, by headers that a page cannot forge, that a script of an accepted page sends this request.
   * Call it only for requests without a {@link refusal}, whose origin is an accepted one.
   */
  isByOwnScript({ origin, ...headers }: IncomingHttpHeaders): boolean {
    if (origin !== undefined) return true
    return headers['sec-fetch-site'] === 'same-origin' && headers['sec-fetch-dest'] === 'empty'
  }

  /** The origin of the gateway's own pages, as browsers see it. */
  ownOrigin({ headers, socket }: IncomingMessage): string {
    const scheme = socket instanceof TLSSocket ? 'https' : 'http'
    return this.#publicOrigin ?? `${scheme}://${(headers.host ?? '').toLowerCase()}`
  }

  /**
   * Whether the browser says that a page of the gateway's own origin sends this request, so that cookies count. A request
   * that changes something, or opens a WebSocket, must name its origin. Pages of allowed origins do not count as own.
   * Another gateway, which has checked that for its caller, names the address of this one and itself: no page can do both,
   * and a browser would add where its page is from.
   */
  isByOwnPage(request: IncomingMessage): boolean {
    const { method, headers } = request
    const { origin } = headers
    const site = headers['sec-fetch-site']
    if (origin !== undefined) {
      const isOfPeer = origin === this.#address && headers[forwardedHeader] !== undefined
      if (isOfPeer && site === undefined) return true
      return origin === this.ownOrigin(request) && (site === undefined || site === 'same-origin')
    }
    return method === 'GET' && headers.upgrade === undefined && site === 'same-origin'
  }
}

/** The host and port of an origin; `undefined` for `null` and other schemes. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1]
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Whether only this machine can reach the address. `localhost` is the only name that counts, since others may resolve to
 * any address.
 */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host.toLowerCase() === 'localhost'
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Throws UNSAFE_ADDRESS if other machines can reach the address without authentication, unless
 * `insecureNoAuth` is set.
 */
export function checkAddress(
  { host, insecureNoAuth }: Pick<ServerOptions, 'host' | 'insecureNoAuth'>,
  asksWho: boolean,
): void {
  if (asksWho || insecureNoAuth || isLoopback(host)) return
  const problem = `host ${host} is not a loopback address: every client that reaches it would read with the credentials of the gateway`
  const hint =
    'leave the host out to listen on 127.0.0.1, authenticate callers (--auth token-review), or pass --insecure-no-auth if something else controls access'
  throw new CodedError('UNSAFE_ADDRESS', problem, { value: host, hint })
}

/**
 * Headers that a foreign page cannot send without a preflight request, which the server refuses. They prove that the
 * request comes from elsewhere. GraphQL clients already send them.
 */
const preflightedHeaders = [
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-graphql-yoga-csrf',
] as const

/** With the value `1`, asks for `extensions.explain` in the answer, as `extensions: { explain: true }` in the body does. */
const explainHeader = 'x-informerql-explain'

/** Whether a request, or the request that opened the WebSocket, asks for explanations. */
export function asksForExplanation({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers[explainHeader] === '1'
}

/** Headers that pages of allowed origins may send, in addition to `server.allowedHeaders`. Includes W3C's for tracing. */
export const allowedRequestHeaders: readonly string[] = [
  'content-type',
  'authorization',
  'traceparent',
  'tracestate',
  'baggage',
  requestIdHeader,
  explainHeader,
  ...preflightedHeaders,
]

/** Browsers send this type across origins only after a preflight request. */
const jsonType = /^application\/(graphql\+)?json\s*(;|$)/i

/**
 * The refusal of a request that only reads what no page of another site can see, such as the schema. Tools send it without
 * further headers; a browser says when a page of another site does.
 */
export function readRefusal(
  { method, headers }: IncomingMessage,
  isByOwnScript: boolean,
): Refusal | undefined {
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, reason: 'Send a GET.', headers: { allow: 'GET, HEAD' } }
  }
  const site = headers['sec-fetch-site']
  const isByTool = site === undefined || site === 'none' || site === 'same-origin'
  if (isByTool || isByOwnScript) return undefined
  return { status: 403, reason: 'A page of another site may not read this.' }
}

/**
 * The refusal of an HTTP operation, found before its body is read; `undefined` if it is accepted. Refuses a request that a
 * foreign page could make a browser send (CSRF), and a body that is too large or of unknown size. `isByOwnScript`: whether
 * the browser says that an accepted page sends it.
 */
export function operationRefusal(
  { method, headers }: IncomingMessage,
  { isByOwnScript, maxBodyBytes }: { isByOwnScript: boolean; maxBodyBytes: number },
): Refusal | undefined {
  const preflighted = preflightedHeaders.some((name) => headers[name] !== undefined)
  if (method === 'GET') {
    if (preflighted || isByOwnScript) return undefined
    return {
      status: 403,
      reason: 'A GET must prove that no page of another site sent it.',
      hint: `send a header ${preflightedHeaders[0]}: 1, or a POST with content-type application/json; a browser proves it by Sec-Fetch-Site for pages of the same origin`,
    }
  }
  if (method !== 'POST') {
    return {
      status: 405,
      reason: `${String(method)} is not a method of operations.`,
      hint: asJson,
      headers: { allow: 'POST' },
    }
  }
  if (!preflighted && !jsonType.test(headers['content-type'] ?? '')) {
    const type = JSON.stringify(headers['content-type'] ?? '')
    return {
      status: 415,
      reason: `Content-Type ${type} is refused.`,
      hint: asJson,
    }
  }
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    return {
      status: 415,
      reason: `Content-Encoding ${JSON.stringify(encoding)} is refused: a small body may be a large one.`,
      hint: 'send the body as it is',
    }
  }
  const bytes = headers['content-length']
  if (bytes === undefined) {
    return {
      status: 411,
      reason: 'The request has no Content-Length.',
      hint: 'send the size of the body; chunked bodies are refused',
    }
  }
  if (Number(bytes) <= maxBodyBytes) return undefined
  return {
    status: 413,
    reason: `The body has ${bytes} bytes, and at most ${maxBodyBytes} are accepted.`,
    hint: 'send less, or name the document by its hash; the operator may raise server.maxBodyBytes',
  }
}

const asJson = 'send operations as POST with content-type application/json'

export function acceptsHtml({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes('text/html') === true
}

/** The path of a request without its query, neither decoded nor normalised, so that each resource has one path. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
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

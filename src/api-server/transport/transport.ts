/*
 * Sends requests to one API server, over one pool of connections, with the credentials of one user. `send` gets the
 * credentials and makes an {@link Exchange}. It repeats the exchange in two cases: once after a 401, with renewed
 * credentials; and after the server has just closed a pooled connection, if sending twice does no harm. A response outside
 * 2xx becomes an `ApiStatusError` with the server's Status. Closing ends all exchanges.
 */

import { Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, type RequestOptions } from 'node:https'
import type { Socket } from 'node:net'
import { arch, platform } from 'node:process'
import { sleep } from '../../lib/backoff.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { isRecord } from '../../lib/json.ts'
import { clientNodeConfig } from '../kubeconfig/client-node.ts'
import type { ClusterConfig } from '../kubeconfig/cluster-config.ts'
import { ConnectionError, type ConnectionFailure, connectionErrorOf } from './connection-error.ts'
import { Credentials, type RequestCredentials } from '../kubeconfig/credentials.ts'
import { Exchange, type ExchangeDeadlines, type ExchangeResponse } from './exchange.ts'
import { isUnauthorized } from './reachability.ts'
import { readUpTo } from '../../lib/read-body.ts'
import { hostOf } from '../../lib/url-host.ts'
import type { WarningObserver } from './warnings.ts'
import {
  ApiStatusError,
  failureStatus,
  type Status,
  statusReasons,
} from '../../kubernetes/status.ts'

export interface TransportOptions extends Pick<
  ExchangeDeadlines,
  'connectDeadlineMs' | 'responseDeadlineMs'
> {
  /** The maximum number of open connections. Further requests wait for one, within their deadline. */
  readonly maxConnections: number
  readonly maxIdleConnections: number
  /** The silence after which the kernel probes the peer. After ten unanswered probes (10 s) the connection is dead. */
  readonly tcpKeepAliveMs: number
  /** How long a credential plugin or an identity provider may take. */
  readonly credentialsDeadlineMs: number
  /** The user agent. It must not look like a browser or curl, for which API servers indent their JSON. */
  readonly userAgent: string
  /** Requests compressed responses, which saves network at the cost of both processors. Never applies to watches. */
  readonly gzip: boolean
}

/** The defaults of {@link TransportOptions}. */
export const transportDefaults: TransportOptions = {
  maxConnections: 2_000,
  maxIdleConnections: 32,
  tcpKeepAliveMs: 30_000,
  connectDeadlineMs: 10_000,
  responseDeadlineMs: 60_000,
  credentialsDeadlineMs: 60_000,
  userAgent: `informerql (${platform}/${arch})`,
  gzip: false,
}

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Relative to the server's address, with the query: `/api/v1/pods?limit=500`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Overrides the transport's option. */
  readonly gzip?: boolean
  readonly responseDeadlineMs?: number
  /** The longest silence in the body; default: unlimited. */
  readonly idleDeadlineMs?: number
  /** The deadline of the whole body; default: unlimited. */
  readonly totalDeadlineMs?: number
}

/** A 2xx response. Its body can be read once; leaving it early closes the connection. */
export interface TransportResponse {
  readonly httpStatus: number
  readonly headers: IncomingHttpHeaders
  readonly body: AsyncIterable<Buffer>
}

/** What opens a connection that is more than a request and its response: see {@link Transport.dial}. */
export interface Dialing {
  /** The address, with `http:` or `https:`. */
  readonly url: URL
  /** For node:http or node:https, without the address: agent, TLS material, and headers with the credentials. */
  readonly request: RequestOptions
  readonly connectDeadlineMs: number
  /** The error of a response that is no upgrade. Reads its body. */
  readonly refusal: (response: IncomingMessage) => Promise<ApiStatusError>
  /** The error of a connection that fails. */
  readonly failure: (error: unknown) => ConnectionError
}

/** Observes every request. */
export interface TransportObserver {
  answered(httpStatus: number, headers: IncomingHttpHeaders): void
  /** A part of a body has arrived. */
  received(): void
  /** A request had no answer. */
  failed(failure: ConnectionFailure): void
  /** The server refuses the credentials, even after renewal, or there are none. */
  unauthorized?(): void
  /** See {@link ApiServerObserver.sending}. */
  sending?: ((request: SentRequest) => RequestFollower | undefined) | undefined
}

/** A request that is about to be sent. */
export interface SentRequest {
  readonly method: TransportRequest['method']
  /** The path without the query. */
  readonly path: string
  readonly isWatch: boolean
  /** `host:port`. */
  readonly host: string
}

/** Follows one request, for traces. Must not throw. */
export interface RequestFollower {
  /** Headers to send with the request: `traceparent`. */
  readonly headers: Readonly<Record<string, string>>
  answered(httpStatus: number): void
  /** The whole response has arrived (of a watch, its beginning), or the request has failed. */
  ended(error?: Error): void
}

/** The maximum number of repetitions because of closed pooled connections. */
const maxStaleConnections = 3

export class Transport {
  /** `host:port`. */
  readonly host: string
  readonly #url: URL
  readonly #options: TransportOptions
  readonly #observer: TransportObserver
  #credentials: Credentials
  readonly #config: ClusterConfig
  /** The agent of all requests, made for the first one. */
  #agent: Promise<Agent> | undefined
  readonly #prepared = new WeakSet<Socket>()
  readonly #running = new Set<Exchange>()
  readonly #closing = new AbortController()

  constructor(config: ClusterConfig, options: TransportOptions, observer: TransportObserver) {
    this.#url = new URL(config.server)
    this.host = this.#url.host
    this.#options = options
    this.#observer = observer
    this.#credentials = new Credentials(config, options.credentialsDeadlineMs)
    this.#config = config
  }

  /**
   * Resolves when the response begins. Rejects with `ApiStatusError` unless it is 2xx, with `ConnectionError` if the
   * server is unreachable, with `CredentialsError`, or with the signal's reason. Reading the body may fail in the
   * same ways. Renews rejected credentials once.
   */
  async send(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    checkPath(request)
    return await this.#authenticated(
      async (credentials) =>
        await accepted(request, await this.#exchange(request, credentials, signal)),
      signal,
    )
  }

  /**
   * Opens a connection by `open`, such as a WebSocket, with the credentials of this transport. `open` rejects with the
   * errors that {@link Dialing} makes. Renews rejected credentials once. The connection outlives this transport.
   */
  async dial<T>(
    path: string,
    open: (dialing: Dialing) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    checkPath({ method: 'GET', path })
    try {
      return await this.#authenticated(
        async (credentials) => await open(await this.#dialing(path, credentials)),
        signal,
      )
    } catch (error) {
      if (error instanceof ConnectionError) this.#observer.failed(error.failure)
      throw error
    }
  }

  /** Does something with the credentials, and once more with renewed ones if the server refuses them. */
  async #authenticated<T>(
    work: (credentials: RequestCredentials) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    signal.throwIfAborted()
    try {
      const credentials = await this.#await(this.#credentials.get(), signal)
      try {
        return await work(credentials)
      } catch (error) {
        const isRefused = error instanceof ApiStatusError && error.httpStatus === 401
        if (!isRefused) throw error
        const renewed = await this.#await(this.#credentials.replace(credentials), signal)
        if (renewed === undefined) throw error
        return await work(renewed)
      }
    } catch (error) {
      if (isUnauthorized(error)) this.#observer.unauthorized?.()
      throw error
    }
  }

  /** Aborted, with a `ConnectionError`, when this transport is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /** Sends the next requests with the credentials of another configuration of the same server and proxy. */
  rotate(config: ClusterConfig): void {
    this.#credentials = new Credentials(config, this.#options.credentialsDeadlineMs)
  }

  /** Waits before another request. Ends early if the signal aborts or this transport is closed. Never rejects. */
  async pause(delayMs: number, signal: AbortSignal): Promise<void> {
    await sleep(delayMs, AbortSignal.any([signal, this.#closing.signal]))
  }

  /** Aborts all exchanges and closes all connections. Refuses further requests. */
  async close(): Promise<void> {
    this.#closing.abort(this.#closedError())
    for (const exchange of this.#running) exchange.abort(this.#closedError())
    const agent = await this.#agent?.catch(() => undefined)
    agent?.destroy()
  }

  async #exchange(
    request: TransportRequest,
    credentials: RequestCredentials,
    signal: AbortSignal,
  ): Promise<ExchangeResponse> {
    const { method, path } = request
    const isWatch = path.includes('watch=true')
    const [place = ''] = path.split('?', 1)
    const follower = this.#observer.sending?.({ method, path: place, isWatch, host: this.host })
    // Only reads, and reviews, which store nothing, have the same effect if they are sent twice.
    const isRepeatable = method === 'GET' || (method === 'POST' && reviews.test(path))
    for (let attempt = 1; ; attempt++) {
      const exchange = await this.#open(request, credentials, follower?.headers)
      try {
        const response = await this.#run(exchange, signal)
        follower?.answered(response.message.statusCode ?? 0)
        if (isWatch) follower?.ended()
        else if (follower !== undefined) response.body.onEnd(() => follower.ended())
        this.#observer.answered(response.message.statusCode ?? 0, response.message.headers)
        return response
      } catch (error) {
        if (!(error instanceof ConnectionError)) {
          follower?.ended(error as Error)
          throw error
        }
        const isStale = exchange.reusedSocket && error.failure === 'reset'
        if (isStale && isRepeatable && attempt <= maxStaleConnections) continue
        this.#observer.failed(error.failure)
        follower?.ended(error)
        throw error
      }
    }
  }

  async #run(exchange: Exchange, signal: AbortSignal): Promise<ExchangeResponse> {
    const abort = () => exchange.abort(signal.reason as Error)
    const end = () => {
      signal.removeEventListener('abort', abort)
      this.#running.delete(exchange)
    }
    signal.addEventListener('abort', abort, { once: true })
    this.#running.add(exchange)
    if (signal.aborted) abort()
    if (this.#closing.signal.aborted) exchange.abort(this.#closedError())
    try {
      const response = await exchange.send()
      response.body.onEnd(end)
      return response
    } catch (error) {
      end()
      throw error
    }
  }

  async #dialing(path: string, { headers, ...material }: RequestCredentials): Promise<Dialing> {
    const { connectDeadlineMs, userAgent } = this.#options
    const url = new URL(this.#url)
    const [at = '', query = ''] = path.split('?', 2)
    url.pathname = url.pathname.replace(/\/$/, '') + at
    url.search = query
    return {
      url,
      request: {
        ...material,
        headers: { 'User-Agent': userAgent, ...(headers as Record<string, string>) },
        agent: await (this.#agent ??= agentOf(this.#config, this.#options)),
      },
      connectDeadlineMs,
      refusal: (message) => readRefusal({ method: 'GET', path }, { message, body: message }),
      failure: (error) => connectionErrorOf(this.host, error),
    }
  }

  async #open(
    request: TransportRequest,
    credentials: RequestCredentials,
    further: RequestFollower['headers'] = {},
  ): Promise<Exchange> {
    const { headers, ...material } = credentials
    const { pathname, protocol } = this.#url
    const gzip = request.gzip ?? this.#options.gzip
    return new Exchange({
      host: this.host,
      secure: protocol === 'https:',
      request: {
        ...material,
        ...hostOf(this.#url),
        path: pathname.replace(/\/$/, '') + request.path,
        method: request.method,
        headers: {
          'User-Agent': this.#options.userAgent,
          'Accept-Encoding': gzip ? 'gzip' : 'identity',
          ...request.headers,
          ...further,
          // Node omits the length for a DELETE. The server would then read the body as the next request.
          ...(request.body === undefined
            ? {}
            : { 'Content-Length': `${Buffer.byteLength(request.body)}` }),
          ...(headers as Record<string, string>),
        },
      },
      agent: await (this.#agent ??= agentOf(this.#config, this.#options)),
      body: request.body,
      deadlines: {
        connectDeadlineMs: this.#options.connectDeadlineMs,
        responseDeadlineMs: request.responseDeadlineMs ?? this.#options.responseDeadlineMs,
        idleDeadlineMs: request.idleDeadlineMs,
        totalDeadlineMs: request.totalDeadlineMs,
      },
      prepareSocket: (socket) => this.#prepare(socket),
      received: () => this.#observer.received(),
    })
  }

  /**
   * Makes the kernel detect dead peers. An agent does so only for idle connections, and never for TLS ones
   * (nodejs/node#41965, nodejs/node#62003). A watch is never idle in that sense.
   */
  #prepare(socket: Socket): void {
    if (this.#prepared.has(socket)) return
    this.#prepared.add(socket)
    const apply = () => {
      socket.setNoDelay(true)
      socket.setKeepAlive(true, this.#options.tcpKeepAliveMs)
    }
    if (socket.connecting) socket.once('connect', apply)
    else apply()
  }

  /** Waits for credentials, which have their own deadline, until the signal aborts. */
  #await<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
    return withDeadline('credentials', promise, this.#options.credentialsDeadlineMs + 1_000, signal)
  }

  #closedError(): ConnectionError {
    return new ConnectionError('closed', this.host, 'the connection to this cluster was closed')
  }
}

/**
 * The agent of a cluster. For a `proxy-url` (HTTP CONNECT or SOCKS), loads client-node and makes its agent keep
 * connections.
 */
async function agentOf({ cluster }: ClusterConfig, limits: TransportOptions): Promise<Agent> {
  const settings = {
    keepAlive: true,
    keepAliveMsecs: limits.tcpKeepAliveMs,
    maxSockets: limits.maxConnections,
    maxFreeSockets: limits.maxIdleConnections,
  }
  if (cluster.proxyUrl === undefined) {
    return cluster.server.startsWith('https:') ? new HttpsAgent(settings) : new Agent(settings)
  }
  const use = `the proxy of ${cluster.server}`
  const kubeConfig = await clientNodeConfig(use, cluster, { name: 'anonymous' })
  const options: RequestOptions = {}
  await kubeConfig.applyToHTTPSOptions(options)
  const agent = options.agent as Agent
  // An agent's options override a request's. client-node sets all of them, and an undefined one would override a
  // certificate.
  const own = (agent as Agent & { options: Record<string, unknown> }).options
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined) Reflect.deleteProperty(own, name)
  }
  return Object.assign(agent, settings)
}

const reviews = /^\/apis\/auth(?:entication|orization)\.k8s\.io\/.*reviews$/

/**
 * Throws `ApiStatusError` 404 for a name `.` or `..`, which no object has. Proxies that normalise paths (RFC 3986, 6.2.2.3)
 * would make another path of it, such as that of a Namespace.
 */
function checkPath({ method, path }: Pick<TransportRequest, 'method' | 'path'>): void {
  const [place = ''] = path.split('?', 1)
  if (!/\/\.{1,2}(?:\/|$)/.test(place)) return
  const status = failureStatus(404, 'NotFound', 'no object has the name "." or ".."')
  throw new ApiStatusError(`${method} ${place}`, 404, status)
}

/** Returns the response if it is 2xx; otherwise throws its refusal. */
async function accepted(
  request: TransportRequest,
  response: ExchangeResponse,
): Promise<TransportResponse> {
  const { message, body } = response
  const httpStatus = message.statusCode ?? 0
  if (httpStatus < 200 || httpStatus > 299) throw await readRefusal(request, response)
  return { httpStatus, headers: message.headers, body }
}

/** The size bound of a refusal. It is large, since a refusal quotes the refused values, more than once. */
const maxRefusalBytes = 1 << 20

/**
 * Reads a response outside 2xx. Servers send a Status. Proxies, and a few handlers of the API server, send a text,
 * which becomes the message of a Status.
 */
async function readRefusal(
  request: Pick<TransportRequest, 'method' | 'path'>,
  { message, body }: { readonly message: IncomingMessage; readonly body: AsyncIterable<Buffer> },
): Promise<ApiStatusError> {
  // A query may contain a continue token of some hundred characters.
  const [path = ''] = request.path.split('?', 1)
  const httpStatus = message.statusCode ?? 0
  const bytes = await readUpTo(maxRefusalBytes, body)
  const text = bytes.subarray(0, maxRefusalBytes).toString('utf8')
  let status: Status | undefined
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value) && value['kind'] === 'Status') status = value as unknown as Status
  } catch {
    // The body is a text, not a Status.
  }
  if (status === undefined) {
    const title = /<title>([^<]*)<\/title>/i.exec(text)?.[1]
    const said = (title ?? text).replaceAll(/\s+/g, ' ').trim().slice(0, 500)
    const reason = statusReasons[httpStatus] ?? 'Unknown'
    status = failureStatus(httpStatus, reason, said === '' ? 'the response has no body' : said)
  }
  // `Retry-After` (RFC 9110, 10.2.3), in seconds or as a date.
  const after = message.headers['retry-after']?.trim() ?? ''
  const leftMs = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now()
  const retryAfterMs = Number.isNaN(leftMs) ? undefined : Math.max(0, leftMs)
  return new ApiStatusError(`${request.method} ${path}`, httpStatus, status, retryAfterMs)
}

/** The reports of a connection. Every method is optional and must not throw. */
export interface ApiServerObserver extends WarningObserver {
  /**
   * The server became unreachable or answers again, or it still refuses the credentials or accepts them again: see
   * `isReachable` and `refusal` of the connection.
   */
  reachable?(isReachable: boolean): void
  /** A request is about to be sent. Returns `undefined` if the request is not followed. */
  sending?(request: SentRequest): RequestFollower | undefined
}

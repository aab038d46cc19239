import type { IncomingHttpHeaders } from 'node:http'
import { arch, platform } from 'node:process'
import { sleep } from '../../lib/backoff.ts'
import { withDeadline } from '../../lib/deadline.ts'
import type { ClusterConfig } from '../kubeconfig/cluster-config.ts'
import { ConnectionError, type ConnectionFailure } from './connection-error.ts'
import { ConnectionPool, type ConnectionPoolOptions } from './connection-pool.ts'
import { Credentials, type RequestCredentials } from '../kubeconfig/credentials.ts'
import { Exchange, type ExchangeDeadlines, type ExchangeResponse } from './exchange.ts'
import { readRefusal } from './refused-response.ts'

export interface TransportOptions
  extends
    ConnectionPoolOptions,
    Pick<ExchangeDeadlines, 'connectDeadlineMs' | 'responseDeadlineMs'> {
  /** How long a credential plugin or an identity provider may take. */
  readonly credentialsDeadlineMs: number
  /** Must not look like a browser or curl: for those, API servers indent their JSON. */
  readonly userAgent: string
  /** Asks for compressed responses; spares the network, at the cost of both processors. Watches are never compressed. */
  readonly gzip: boolean
}

/** The limits of a transport, all of them. */
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
  /** From the server's address on, with its query: `/api/v1/pods?limit=500`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Overrides the transport's own. */
  readonly gzip?: boolean
  readonly responseDeadlineMs?: number
  /** Longest silence in the body; none unless given. */
  readonly idleDeadlineMs?: number
  /** Until the end of the body; none unless given. */
  readonly totalDeadlineMs?: number
}

/** A response in 2xx. Its body can be read once; leaving it early closes the connection. */
export interface TransportResponse {
  readonly httpStatus: number
  readonly headers: IncomingHttpHeaders
  readonly body: AsyncIterable<Buffer>
}

/** What is told of every request. */
export interface TransportObserver {
  /** The server has answered, with whatever status. */
  answered(httpStatus: number, headers: IncomingHttpHeaders): void
  /** There was no answer. */
  failed(failure: ConnectionFailure): void
}

/** How often a request is repeated whose pooled connection turned out to be closed. */
const maxStaleConnections = 3

/** Sends requests to one API server, over one pool of connections, as one user. */
export class Transport {
  /** `host:port`. */
  readonly host: string
  readonly #url: URL
  readonly #options: TransportOptions
  readonly #observer: TransportObserver
  readonly #credentials: Credentials
  readonly #pool: ConnectionPool
  readonly #running = new Set<Exchange>()
  readonly #closing = new AbortController()

  constructor(config: ClusterConfig, options: TransportOptions, observer: TransportObserver) {
    this.#url = new URL(config.server)
    this.host = this.#url.host
    this.#options = options
    this.#observer = observer
    this.#credentials = new Credentials(config, options.credentialsDeadlineMs)
    this.#pool = new ConnectionPool(config, options)
  }

  /**
   * Resolves when the response has begun. Rejects with `ApiStatusError` for anything but 2xx, `ConnectionError` where
   * the server cannot be reached, `CredentialsError`, or the reason of the signal. Reading the body may fail in
   * the same ways. Credentials that the server does not accept are renewed once.
   */
  async send(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    signal.throwIfAborted()
    const credentials = await this.#await(this.#credentials.get(), signal)
    const first = await this.#exchange(request, credentials, signal)
    if (first.message.statusCode !== 401) return await this.#accept(request, first)
    const refusal = await this.#refusal(request, first)
    const renewed = await this.#await(this.#credentials.replace(credentials), signal)
    if (renewed === undefined) throw refusal
    return await this.#accept(request, await this.#exchange(request, renewed, signal))
  }

  /** Waits before another request; less where the signal is aborted or this transport is closed meanwhile. Never rejects. */
  async pause(delayMs: number, signal: AbortSignal): Promise<void> {
    await sleep(delayMs, AbortSignal.any([signal, this.#closing.signal]))
  }

  /** Ends all exchanges and closes all connections. Further requests are refused. */
  async close(): Promise<void> {
    this.#closing.abort()
    for (const exchange of this.#running) exchange.abort(this.#closedError())
    await this.#pool.close()
  }

  async #accept(
    request: TransportRequest,
    { message, body }: ExchangeResponse,
  ): Promise<TransportResponse> {
    const httpStatus = message.statusCode ?? 0
    if (httpStatus < 200 || httpStatus > 299) throw await this.#refusal(request, { message, body })
    return { httpStatus, headers: message.headers, body }
  }

  async #refusal(request: TransportRequest, { message, body }: ExchangeResponse): Promise<Error> {
    // A query may hold a continue token of some hundred characters.
    const [path = ''] = request.path.split('?', 1)
    const title = `${request.method} ${path}`
    return await readRefusal(title, message.statusCode ?? 0, message.headers, body)
  }

  async #exchange(
    request: TransportRequest,
    credentials: RequestCredentials,
    signal: AbortSignal,
  ): Promise<ExchangeResponse> {
    for (let attempt = 1; ; attempt++) {
      const exchange = await this.#open(request, credentials)
      try {
        const response = await this.#run(exchange, signal)
        this.#observer.answered(response.message.statusCode ?? 0, response.message.headers)
        return response
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error
        const isStale = exchange.reusedSocket && error.failure === 'reset'
        if (isStale && request.method === 'GET' && attempt <= maxStaleConnections) continue
        this.#observer.failed(error.failure)
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

  async #open(request: TransportRequest, credentials: RequestCredentials): Promise<Exchange> {
    const { headers, ...material } = credentials
    const { hostname, port, pathname, protocol } = this.#url
    const gzip = request.gzip ?? this.#options.gzip
    return new Exchange({
      host: this.host,
      secure: protocol === 'https:',
      request: {
        ...material,
        hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
        port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
        path: pathname.replace(/\/$/, '') + request.path,
        method: request.method,
        headers: {
          'User-Agent': this.#options.userAgent,
          'Accept-Encoding': gzip ? 'gzip' : 'identity',
          ...request.headers,
          // Node says it by itself, but not of a DELETE, whose body would then be taken for the next request.
          ...(request.body === undefined
            ? {}
            : { 'Content-Length': `${Buffer.byteLength(request.body)}` }),
          ...(headers as Record<string, string>),
        },
      },
      agent: await this.#pool.agent(),
      body: request.body,
      deadlines: {
        connectDeadlineMs: this.#options.connectDeadlineMs,
        responseDeadlineMs: request.responseDeadlineMs ?? this.#options.responseDeadlineMs,
        idleDeadlineMs: request.idleDeadlineMs,
        totalDeadlineMs: request.totalDeadlineMs,
      },
      prepareSocket: (socket) => this.#pool.prepare(socket),
    })
  }

  /** Credentials have a deadline of their own; this one only makes the wait end with the signal. */
  #await<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
    return withDeadline('credentials', promise, this.#options.credentialsDeadlineMs + 1_000, signal)
  }

  #closedError(): ConnectionError {
    return new ConnectionError('closed', this.host, 'the connection to this cluster was closed')
  }
}

import { Listeners } from './listeners.ts'
import { type Closing, failureOf, refusedCloseCode, retryDelayMs } from './live-failure.ts'
import type { LiveRequest, LiveSink, LiveTransport } from './live-transport.ts'
import { WebSocketConnection, type WebSocketConstructor } from './web-socket-connection.ts'

/** Options of a {@link WebSocketClient}. */
export interface WebSocketClientOptions {
  /** `wss://host/graphql`, or a function that is called before each connection. */
  readonly url: string | (() => string)
  /**
   * The payload of `connection_init`, such as `{ authorization: 'Bearer …' }`. A function is called before each
   * connection; its argument is the reason why the previous credentials were refused, if they were, and it should then
   * return others. Refused credentials that are not a function end all subscriptions.
   */
  readonly connectionParams?: ConnectionParams | AskForParams
  /** Default: that of the browser, or of Node. */
  readonly webSocket?: WebSocketConstructor
  /** The deadline for the gateway's acknowledgement of a connection, in milliseconds; default 15,000. */
  readonly connectDeadlineMs?: number
  /** The interval of pings on a silent connection, and the deadline of an answer, in milliseconds; default 20,000. */
  readonly pingIntervalMs?: number
}

type ConnectionParams = Readonly<Record<string, unknown>>
type AskForParams = (refused?: Closing) => ConnectionParams | Promise<ConnectionParams>

interface Subscription {
  readonly request: LiveRequest
  readonly sink: LiveSink
}

/**
 * A client of the protocol `graphql-transport-ws` (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md):
 * one WebSocket for all subscriptions, opened for the first and closed after the last. After a lost connection it
 * reconnects, with growing delays, and sends all subscriptions again with their current variables. If the gateway
 * refuses a connection for good, all subscriptions end with `{ code, reason }`; if it refuses the credentials, the
 * client asks for others.
 */
export class WebSocketClient implements LiveTransport {
  readonly #options: WebSocketClientOptions
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #listeners = { connected: new Listeners(), closed: new Listeners<[reason: unknown]>() }
  #connection: WebSocketConnection | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #count = 0
  /** The reason why the last credentials were refused, until others are accepted. */
  #refused: Closing | undefined

  constructor(options: WebSocketClientOptions) {
    this.#options = options
  }

  subscribe(request: LiveRequest, sink: LiveSink): () => void {
    const id = String(++this.#count)
    this.#subscriptions.set(id, { request, sink })
    if (this.#connection === undefined && this.#retry === undefined) this.#connect()
    else this.#connection?.start(id, request)
    return () => this.#forget(id)
  }

  on(event: 'connected' | 'closed', listener: (reason?: unknown) => void): () => void {
    return this.#listeners[event].add(listener)
  }

  /** Reconnects with other credentials; `false` if they are not a function. */
  renew(): boolean {
    if (typeof this.#options.connectionParams !== 'function') return false
    this.#connection?.close()
    this.#closed({ code: refusedCloseCode, reason: 'other credentials are needed' })
    return true
  }

  /**
   * Hands newer credentials of the same user to an open connection, which then lasts as long as they do:
   * `{ authorization: 'Bearer …' }`, or the `socketAuthorization` of the gateway's `/auth/me`.
   */
  prolong(credentials: ConnectionParams): void {
    this.#connection?.ping(credentials)
  }

  /** Whether there are no subscriptions: then there is no connection either. */
  get isIdle(): boolean {
    return this.#subscriptions.size === 0
  }

  /** Reconnects now if it waits before the next attempt: for pages that know that the network is back. */
  reconnect(): void {
    if (this.#retry === undefined) return
    clearTimeout(this.#retry)
    this.#connect()
  }

  #forget(id: string): void {
    if (!this.#subscriptions.delete(id)) return
    this.#connection?.stop(id)
    if (this.#subscriptions.size > 0) return
    clearTimeout(this.#retry)
    this.#retry = undefined
    const connection = this.#connection
    this.#connection = undefined
    connection?.close()
  }

  #connect(): void {
    this.#retry = undefined
    const { url, connectionParams, webSocket, ...deadlines } = this.#options
    const connection: WebSocketConnection = new WebSocketConnection({
      connectDeadlineMs: deadlines.connectDeadlineMs ?? 15_000,
      pingIntervalMs: deadlines.pingIntervalMs ?? 20_000,
      webSocket: webSocket ?? globalThis.WebSocket,
      url: () => (typeof url === 'function' ? url() : url),
      connectionParams: async () =>
        typeof connectionParams === 'function' ? connectionParams(this.#refused) : connectionParams,
      acknowledged: () => {
        this.#failures = 0
        this.#refused = undefined
        this.#listeners.connected.tell()
        for (const [id, { request }] of this.#subscriptions) connection.start(id, request)
      },
      next: (id, result) => this.#subscriptions.get(id)?.sink.next(result),
      error: (id, errors) => this.#take(id)?.sink.error(errors),
      complete: (id) => this.#take(id)?.sink.complete(),
      closed: (reason) => {
        if (this.#connection === connection) this.#closed(reason)
      },
    })
    this.#connection = connection
    connection.open()
  }

  #take(id: string): Subscription | undefined {
    const subscription = this.#subscriptions.get(id)
    this.#forget(id)
    return subscription
  }

  #closed(reason: unknown): void {
    this.#connection = undefined
    this.#listeners.closed.tell(reason)
    const { code, reason: why = '' } = (reason ?? {}) as Partial<Closing>
    if (code === refusedCloseCode) this.#refused = { code, reason: why }
    const isLasting = typeof this.#options.connectionParams !== 'function'
    const ended = code === refusedCloseCode ? { ...this.#refused, isLasting } : reason
    if (failureOf(ended).remedy === 'none') {
      const all = [...this.#subscriptions.values()]
      this.#subscriptions.clear()
      for (const { sink } of all) sink.error(ended)
      return
    }
    if (this.#subscriptions.size > 0) {
      clearTimeout(this.#retry)
      this.#retry = setTimeout(() => this.#connect(), retryDelayMs(this.#failures++))
    }
  }
}

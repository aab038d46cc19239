import type { LiveRequest, LiveSink, LiveTransport } from './live-transport.ts'
import { type Closing, failureOf, refusedCloseCode } from './live-failure.ts'
import { retryDelayMs } from './retry-delay.ts'
import { WebSocketConnection, type WebSocketConstructor } from './web-socket-connection.ts'

/** Where a {@link WebSocketClient} connects to, and as whom. */
export interface WebSocketClientOptions {
  /** `wss://host/graphql`; a function is asked before each connection. */
  readonly url: string | (() => string)
  /**
   * The payload of `connection_init`, such as `{ authorization: 'Bearer …' }`. A function is asked before each connection, and told
   * why the credentials before were refused, if they were: then it is to bring others. Credentials that are no function and are
   * refused end all subscriptions.
   */
  readonly connectionParams?: ConnectionParams | AskForParams
  /** Default: the one of the browser, or of Node. */
  readonly webSocket?: WebSocketConstructor
  /** How long a connection may take until the gateway has acknowledged it, milliseconds; default 15,000. */
  readonly connectDeadlineMs?: number
  /** How often a silent connection is asked whether it is still there, and how long it may take to say so; default 20,000. */
  readonly pingIntervalMs?: number
}

type ConnectionParams = Readonly<Record<string, unknown>>
type AskForParams = (refused?: Closing) => ConnectionParams | Promise<ConnectionParams>

interface Subscription {
  readonly request: LiveRequest
  readonly sink: LiveSink
}

/**
 * A client of the protocol `graphql-transport-ws` (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md): one
 * WebSocket for all subscriptions, opened for the first and closed after the last. A lost connection is opened again, after
 * a longer wait each time, and all subscriptions are sent again, each with the variables that it has by then. A connection that
 * the gateway refuses for good ends them all with `{ code, reason }`; where it refuses the credentials, others are asked for.
 */
export class WebSocketClient implements LiveTransport {
  readonly #options: WebSocketClientOptions
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #listeners = { connected: new Set<() => void>(), closed: new Set<() => void>() }
  #connection: WebSocketConnection | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #count = 0
  /** Why the last credentials were refused, until others are taken. */
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

  on(event: 'connected' | 'closed', listener: () => void): () => void {
    this.#listeners[event].add(listener)
    return () => void this.#listeners[event].delete(listener)
  }

  /** Connects anew, and asks for other credentials; `false` where they are no function. */
  renew(): boolean {
    if (typeof this.#options.connectionParams !== 'function') return false
    this.#connection?.close()
    this.#closed({ code: refusedCloseCode, reason: 'other credentials are wanted' })
    return true
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
        this.#tell('connected')
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
    this.#tell('closed')
    const ended = this.#isRefused(reason) ? this.#refusal(reason) : reason
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

  #isRefused(reason: unknown): reason is Closing {
    return (reason as Partial<Closing> | undefined)?.code === refusedCloseCode
  }

  #refusal({ code, reason }: Closing): Closing {
    const isLasting = typeof this.#options.connectionParams !== 'function'
    this.#refused = { code, reason }
    return { code, reason, isLasting }
  }

  #tell(event: 'connected' | 'closed'): void {
    for (const listener of this.#listeners[event]) listener()
  }
}

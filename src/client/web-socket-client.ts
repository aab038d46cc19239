/*
 * A client of the protocol `graphql-transport-ws` (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md). The
 * first subscription opens a WebSocket: `connection_init`, the acknowledgement, then every subscription under its own id.
 * A timer limits the wait for the acknowledgement, and then pings, since a dead connection looks like a silent one; who
 * knows of a change of the network has it ping at once (`reconnect`). When
 * the connection is lost, its `closed` decides: another attempt after a growing delay, other credentials, or the end of
 * all subscriptions. What still arrives of an older connection is ignored: each handler compares its own with the
 * current one.
 */

import { Listeners } from './listeners.ts'
import {
  type Closing,
  failureOf,
  type LiveRequest,
  type LiveResult,
  type LiveSink,
  type LiveTransport,
  refusedCloseCode,
  retryDelayMs,
} from './live-transport.ts'

/** The used part of a WebSocket, which those of browsers, Node, and the package ws have. */
export interface WebSocketLike {
  addEventListener(
    event: 'open' | 'message' | 'error' | 'close',
    listener: (event: object) => void,
  ): void
  send(text: string): void
  close(code?: number, reason?: string): void
}

/** Makes a WebSocket that speaks a sub-protocol: the class of browsers, of Node, or of the package ws. */
export type WebSocketConstructor = new (url: string, protocol: string) => WebSocketLike

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
  /** The interval of pings, in milliseconds; default 20,000. The deadline of an answer is half of it. */
  readonly pingIntervalMs?: number
}

type ConnectionParams = Readonly<Record<string, unknown>>
type AskForParams = (refused?: Closing) => ConnectionParams | Promise<ConnectionParams>

/** The deadline of an answer where the network is said to have changed. */
const hurriedMs = 4_000

/** One connection, from before its WebSocket is made until it is closed. */
interface Connection {
  socket: WebSocketLike | undefined
  isAcknowledged: boolean
  /** Whether a message has arrived since the last ping. */
  heard: boolean
  timer: ReturnType<typeof setTimeout> | undefined
}

interface Message {
  readonly type: string
  readonly id?: string
  readonly payload?: unknown
}

/**
 * A client of the protocol `graphql-transport-ws`: one WebSocket for all subscriptions, opened for the first and closed
 * after the last. After a lost connection it reconnects, with growing delays, and sends all subscriptions again with
 * their current variables. If the gateway refuses a connection for good, all subscriptions end with `{ code, reason }`;
 * if it refuses the credentials, the client asks for others.
 */
export class WebSocketClient implements LiveTransport {
  readonly #options: WebSocketClientOptions
  readonly #subscriptions = new Map<string, readonly [request: LiveRequest, sink: LiveSink]>()
  readonly #listeners = { connected: new Listeners(), closed: new Listeners<[reason: unknown]>() }
  #connection: Connection | undefined
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
    this.#subscriptions.set(id, [request, sink])
    if (this.#connection === undefined && this.#retry === undefined) this.#connect()
    else this.#start(id, request)
    return () => this.#forget(id)
  }

  on(event: 'connected' | 'closed', listener: (reason?: unknown) => void): () => void {
    return this.#listeners[event].add(listener)
  }

  /** Reconnects with other credentials; `false` if they are not a function. */
  renew(): boolean {
    if (typeof this.#options.connectionParams !== 'function') return false
    this.#leave()
    this.#closed({ code: refusedCloseCode, reason: 'other credentials are needed' })
    return true
  }

  /**
   * Hands newer credentials of the same user to an open connection, which then lasts as long as they do:
   * `{ authorization: 'Bearer …' }`, or the `socketAuthorization` of the gateway's `/auth/me`.
   */
  prolong(credentials: ConnectionParams): void {
    this.#send({ type: 'ping', payload: credentials })
  }

  /** Whether there are no subscriptions: then there is no connection either. */
  get isIdle(): boolean {
    return this.#subscriptions.size === 0
  }

  /**
   * Reconnects now if it waits before the next attempt, and pings now if it is connected: for pages that know that the
   * network has come, gone or changed. Without an answer within {@link hurriedMs} the connection is lost.
   */
  reconnect(): void {
    const connection = this.#connection
    if (this.#retry !== undefined) {
      clearTimeout(this.#retry)
      this.#connect()
    } else if (connection?.isAcknowledged === true) {
      clearTimeout(connection.timer)
      this.#ping(connection, Math.min(hurriedMs, this.#answerMs))
    }
  }

  #connect(): void {
    this.#retry = undefined
    const { connectDeadlineMs = 15_000 } = this.#options
    const connection: Connection = {
      socket: undefined,
      isAcknowledged: false,
      heard: true,
      timer: setTimeout(() => {
        const reason = `the gateway did not acknowledge within ${connectDeadlineMs} ms`
        this.#fail(connection, 4408, reason)
      }, connectDeadlineMs),
    }
    this.#connection = connection
    void this.#open(connection).catch((error: unknown) => this.#lost(connection, error))
  }

  async #open(connection: Connection): Promise<void> {
    const { url, connectionParams, webSocket: Socket = globalThis.WebSocket } = this.#options
    const payload =
      typeof connectionParams === 'function'
        ? await connectionParams(this.#refused)
        : connectionParams
    if (this.#connection !== connection) return
    const socket: WebSocketLike = new Socket(
      typeof url === 'function' ? url() : url,
      'graphql-transport-ws',
    )
    connection.socket = socket
    socket.addEventListener('open', () => {
      socket.send(JSON.stringify({ type: 'connection_init', payload }))
    })
    socket.addEventListener('message', (event) => {
      this.#receive(connection, String((event as { readonly data: unknown }).data))
    })
    // In Node the error of a socket that fails has a message; the close event that follows has none.
    let message = ''
    socket.addEventListener('error', (event) => {
      message = (event as { readonly message?: string }).message ?? ''
    })
    socket.addEventListener('close', (event) => {
      const { code, reason } = event as Closing
      this.#lost(connection, { code, reason: reason || message })
    })
  }

  #receive(connection: Connection, text: string): void {
    if (this.#connection !== connection) return
    connection.heard = true
    let message: Message
    try {
      message = JSON.parse(text) as Message
    } catch {
      this.#fail(connection, 4004, `the gateway sent invalid JSON: ${text.slice(0, 100)}`)
      return
    }
    const { type, id = '', payload } = message
    switch (type) {
      case 'connection_ack':
        connection.isAcknowledged = true
        clearTimeout(connection.timer)
        this.#watch(connection)
        this.#failures = 0
        this.#refused = undefined
        this.#listeners.connected.tell()
        for (const [one, [request]] of this.#subscriptions) this.#start(one, request)
        return
      case 'next':
        this.#subscriptions.get(id)?.[1].next(payload as LiveResult)
        return
      case 'error':
      case 'complete': {
        const [, sink] = this.#subscriptions.get(id) ?? []
        this.#forget(id)
        if (type === 'error') sink?.error(payload)
        else sink?.complete()
        return
      }
      case 'ping':
        this.#send({ type: 'pong' })
        return
      case 'pong':
        return
      default:
        this.#fail(connection, 4004, `the gateway sent a message of type ${type.slice(0, 100)}`)
    }
  }

  get #answerMs(): number {
    return (this.#options.pingIntervalMs ?? 20_000) / 2
  }

  /** Pings after a while, to detect a dead connection. */
  #watch(connection: Connection): void {
    connection.timer = setTimeout(() => this.#ping(connection, this.#answerMs), this.#answerMs)
  }

  /** Pings, and gives the connection up if nothing arrives until the deadline. */
  #ping(connection: Connection, deadlineMs: number): void {
    connection.heard = false
    this.#send({ type: 'ping' })
    connection.timer = setTimeout(() => {
      if (connection.heard) this.#watch(connection)
      else this.#fail(connection, 4408, `no answer to a ping within ${deadlineMs} ms`)
    }, deadlineMs)
  }

  /** Before the acknowledgement it does nothing: the acknowledgement starts all subscriptions. */
  #start(id: string, { query, operationName, variables }: LiveRequest): void {
    const payload = { query, ...(operationName === undefined ? {} : { operationName }), variables }
    this.#send({ type: 'subscribe', id, payload })
  }

  #send(message: Message): void {
    const { isAcknowledged = false, socket } = this.#connection ?? {}
    if (isAcknowledged) socket?.send(JSON.stringify(message))
  }

  #forget(id: string): void {
    if (!this.#subscriptions.delete(id)) return
    this.#send({ type: 'complete', id })
    if (this.#subscriptions.size > 0) return
    clearTimeout(this.#retry)
    this.#retry = undefined
    this.#leave()
  }

  /** Closes the connection from this side. */
  #leave(): void {
    const connection = this.#connection
    this.#connection = undefined
    clearTimeout(connection?.timer)
    connection?.socket?.close(1000, 'no more subscriptions')
  }

  #fail(connection: Connection, code: number, reason: string): void {
    connection.socket?.close(code, reason.slice(0, 100))
    this.#lost(connection, { code, reason })
  }

  #lost(connection: Connection, reason: unknown): void {
    if (this.#connection !== connection) return
    this.#connection = undefined
    clearTimeout(connection.timer)
    this.#closed(reason)
  }

  #closed(reason: unknown): void {
    this.#listeners.closed.tell(reason)
    const { code, reason: why = '' } = (reason ?? {}) as Partial<Closing>
    if (code === refusedCloseCode) this.#refused = { code, reason: why }
    const isLasting = typeof this.#options.connectionParams !== 'function'
    const ended = code === refusedCloseCode ? { ...this.#refused, isLasting } : reason
    if (failureOf(ended).remedy === 'none') {
      const all = [...this.#subscriptions.values()]
      this.#subscriptions.clear()
      for (const [, sink] of all) sink.error(ended)
      return
    }
    if (this.#subscriptions.size > 0) {
      clearTimeout(this.#retry)
      this.#retry = setTimeout(() => this.#connect(), retryDelayMs(this.#failures++))
    }
  }
}

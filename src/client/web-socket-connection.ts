import type { LiveError, LiveRequest, LiveResult } from './live-transport.ts'

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

interface ConnectionOptions {
  readonly webSocket: WebSocketConstructor
  readonly url: () => string
  readonly connectionParams: () => Promise<Readonly<Record<string, unknown>> | undefined>
  readonly connectDeadlineMs: number
  readonly pingIntervalMs: number
  readonly acknowledged: () => void
  readonly next: (id: string, result: LiveResult) => void
  readonly error: (id: string, errors: readonly LiveError[]) => void
  readonly complete: (id: string) => void
  /** Called once, with an `Error` or `{ code, reason }`, as the last callback. */
  readonly closed: (reason: unknown) => void
}

interface Message {
  readonly type: string
  readonly id?: string
  readonly payload?: unknown
}

export class WebSocketConnection {
  readonly #options: ConnectionOptions
  #socket: WebSocketLike | undefined
  #isAcknowledged = false
  #isOver = false
  #heard = true
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  open(): void {
    const { connectDeadlineMs } = this.#options
    this.#timer = setTimeout(
      () => this.#fail(4408, `the gateway did not acknowledge within ${connectDeadlineMs} ms`),
      connectDeadlineMs,
    )
    void this.#open().catch((error: unknown) => this.#ended(error))
  }

  /** Sends a subscription. Before the acknowledgement it does nothing: `acknowledged` sends all subscriptions. */
  start(id: string, { query, operationName, variables }: LiveRequest): void {
    if (!this.#isAcknowledged) return
    const payload = { query, ...(operationName === undefined ? {} : { operationName }), variables }
    this.#send({ type: 'subscribe', id, payload })
  }

  stop(id: string): void {
    if (this.#isAcknowledged) this.#send({ type: 'complete', id })
  }

  close(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#socket?.close(1000, 'no more subscriptions')
  }

  async #open(): Promise<void> {
    const { webSocket: Socket, url, connectionParams } = this.#options
    const payload = await connectionParams()
    if (this.#isOver) return
    const socket = new Socket(url(), 'graphql-transport-ws')
    this.#socket = socket
    socket.addEventListener('open', () => this.#send({ type: 'connection_init', payload }))
    socket.addEventListener('message', (event) => {
      this.#receive(String((event as { readonly data: unknown }).data))
    })
    // In Node the error of a socket that fails has a message; the close event that follows has none.
    let message = ''
    socket.addEventListener('error', (event) => {
      message = (event as { readonly message?: string }).message ?? ''
    })
    socket.addEventListener('close', (event) => {
      const { code, reason } = event as { readonly code: number; readonly reason: string }
      this.#ended({ code, reason: reason || message })
    })
  }

  #receive(text: string): void {
    if (this.#isOver) return
    this.#heard = true
    let message: Message
    try {
      message = JSON.parse(text) as Message
    } catch {
      this.#fail(4004, `the gateway sent invalid JSON: ${text.slice(0, 100)}`)
      return
    }
    const { type, id = '', payload } = message
    switch (type) {
      case 'connection_ack':
        this.#isAcknowledged = true
        clearTimeout(this.#timer)
        this.#watch()
        this.#options.acknowledged()
        return
      case 'next':
        this.#options.next(id, payload as LiveResult)
        return
      case 'error':
        this.#options.error(id, payload as readonly LiveError[])
        return
      case 'complete':
        this.#options.complete(id)
        return
      case 'ping':
        this.#send({ type: 'pong' })
        return
      case 'pong':
        return
      default:
        this.#fail(4004, `the gateway sent a message of type ${type.slice(0, 100)}`)
    }
  }

  /** Sends a ping with a payload, if the connection is acknowledged. */
  ping(payload: unknown): void {
    if (this.#isAcknowledged && !this.#isOver) this.#send({ type: 'ping', payload })
  }

  /** Pings, to detect a dead connection. */
  #watch(): void {
    const { pingIntervalMs } = this.#options
    this.#timer = setTimeout(() => {
      if (!this.#heard) {
        this.#fail(4408, `no message for ${2 * pingIntervalMs} ms`)
        return
      }
      this.#heard = false
      this.#send({ type: 'ping' })
      this.#watch()
    }, pingIntervalMs)
  }

  #send(message: Message): void {
    this.#socket?.send(JSON.stringify(message))
  }

  #fail(code: number, reason: string): void {
    this.#socket?.close(code, reason.slice(0, 100))
    this.#ended({ code, reason })
  }

  #ended(reason: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#options.closed(reason)
  }
}

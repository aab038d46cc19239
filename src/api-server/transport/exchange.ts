/*
 * One request and its response, with deadlines for the connection, the headers, silence in the body, and the whole. Node
 * reports the ends of a request, of a socket and of a body separately. Here the first reason counts, and everything is
 * released once.
 */

import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { constants, createGunzip } from 'node:zlib'
import { DeadlineError, startDeadline } from '../../lib/deadline.ts'
import { ConnectionError, connectionErrorOf } from './connection-error.ts'
import { ResponseBody } from './response-body.ts'

/** How long each part of an exchange may take, in milliseconds. */
export interface ExchangeDeadlines {
  /** From the start until the connection is open, including TLS. */
  readonly connectDeadlineMs: number
  /** From the open connection to the response's headers. */
  readonly responseDeadlineMs: number
  /** The longest silence in the body; `undefined`: unlimited. */
  readonly idleDeadlineMs: number | undefined
  /** From the beginning to the end of the body; `undefined`: unlimited. */
  readonly totalDeadlineMs: number | undefined
}

export interface ExchangeOptions {
  /** `host:port`, for messages. */
  readonly host: string
  readonly secure: boolean
  /** For node:http or node:https: address, path, method, headers, TLS material. */
  readonly request: RequestOptions
  readonly agent: Agent
  readonly body: string | undefined
  readonly deadlines: ExchangeDeadlines
  /** Called with each socket before it is used. */
  readonly prepareSocket: (socket: Socket) => void
  /** Called whenever a part of the body arrives. */
  readonly received: () => void
}

/** A response whose headers have arrived. */
export interface ExchangeResponse {
  readonly message: IncomingMessage
  readonly body: ResponseBody
}

/** One request and its response. */
export class Exchange {
  readonly #options: ExchangeOptions
  /** The functions that cancel the running deadlines. */
  readonly #cancels = new Set<() => void>()
  #abort: (error: Error) => void = () => {}
  /** The error with which this side ended the exchange. Takes precedence over the socket's error. */
  #ownError: Error | undefined
  #reusedSocket = false

  constructor(options: ExchangeOptions) {
    this.#options = options
  }

  /** Whether the connection was used before. Then the server may just have closed it. */
  get reusedSocket(): boolean {
    return this.#reusedSocket
  }

  /** Ends the exchange with this error, in any state. */
  abort(error: Error): void {
    this.#ownError ??= error
    this.#abort(this.#ownError)
  }

  /**
   * Resolves with the response's headers. Rejects with `ConnectionError`, or with the error given to {@link abort}.
   */
  send(): Promise<ExchangeResponse> {
    const { secure, request, agent, body, deadlines } = this.#options
    return new Promise((resolve, reject) => {
      const message = (secure ? httpsRequest : httpRequest)({ ...request, agent })
      this.#abort = (error) => {
        message.destroy(error)
        // Ends a request that waits for a connection, which would otherwise end only with a connection.
        this.#release()
        reject(error)
      }
      const connecting = this.#limit('connecting', deadlines.connectDeadlineMs)
      this.#limit('the whole response', deadlines.totalDeadlineMs)
      const connected = () => {
        connecting?.()
        waiting = this.#limit('the beginning of the response', deadlines.responseDeadlineMs)
      }
      let waiting: (() => void) | undefined
      message.once('socket', (socket) => {
        this.#reusedSocket = message.reusedSocket
        this.#options.prepareSocket(socket)
        if (message.reusedSocket || (!secure && !socket.connecting)) connected()
        else socket.once(secure ? 'secureConnect' : 'connect', connected)
      })
      // Stays for good: a socket may report its end after the response has ended.
      message.on('error', (error) => {
        this.#release()
        reject(this.#failure(error))
      })
      message.once('response', (response) => {
        waiting?.()
        const answer = this.#receive(response)
        this.#abort = (error) => answer.destroy(error)
        answer.onEnd(() => this.#release())
        resolve({ message: response, body: answer })
      })
      if (this.#ownError === undefined) message.end(body)
      else this.#abort(this.#ownError)
    })
  }

  #receive(response: IncomingMessage): ResponseBody {
    const { received, deadlines } = this.#options
    const { idleDeadlineMs } = deadlines
    const options = {
      received,
      idleDeadlineMs,
      idleError: () => this.#late('the next bytes of the response', idleDeadlineMs ?? 0),
      failure: (error: unknown) => this.#failure(error),
    }
    if (response.headers['content-encoding'] !== 'gzip') return new ResponseBody(response, options)
    const gunzip = createGunzip({ chunkSize: 64 * 1024, flush: constants.Z_SYNC_FLUSH })
    // The reader of `gunzip` gets the errors of both streams.
    pipeline(response, gunzip, () => {})
    return new ResponseBody(gunzip, options)
  }

  #failure(error: unknown): Error {
    return this.#ownError ?? connectionErrorOf(this.#options.host, error)
  }

  #late(what: string, deadlineMs: number): ConnectionError {
    const error = new DeadlineError(what, deadlineMs)
    return new ConnectionError('timeout', this.#options.host, error.message, error)
  }

  /** Starts a deadline. Returns the function that cancels it. */
  #limit(what: string, deadlineMs: number | undefined): (() => void) | undefined {
    if (deadlineMs === undefined) return undefined
    const cancel = startDeadline(deadlineMs, () => this.abort(this.#late(what, deadlineMs)))
    this.#cancels.add(cancel)
    return cancel
  }

  #release(): void {
    for (const cancel of this.#cancels) cancel()
    this.#cancels.clear()
  }
}

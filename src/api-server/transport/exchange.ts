/*
 * One request and its response, with deadlines for the connection, the headers, silence in the body, and the whole. Node
 * reports the ends of a request, of a socket and of a body separately. Here the first reason counts, and everything is
 * released once. `ResponseBody` gives the chunks to one reader.
 */

import { type Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { Socket } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { constants, createGunzip } from 'node:zlib'
import { DeadlineError, maxTimerMs, startDeadline } from '../../lib/deadline.ts'
import { ConnectionError, connectionErrorOf } from './connection-error.ts'

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

/** The number of waiting bytes at which the stream is paused. */
const highWaterMarkBytes = 256 * 1024

export interface ResponseBodyOptions {
  /** The longest silence while the reader waits, in milliseconds; `undefined`: unlimited. */
  readonly idleDeadlineMs: number | undefined
  readonly idleError: () => Error
  /** Called with each chunk. */
  readonly received: () => void
  /** Creates the reader's error from the stream's. */
  readonly failure: (error: unknown) => Error
}

/**
 * The chunks of a stream in their original sizes, for one reader. Node's own iterator joins them first, which costs a third
 * of the throughput. While a quarter of a MiB waits for the reader, the stream is paused. Leaving the iteration early
 * destroys the stream.
 */
export class ResponseBody implements AsyncIterableIterator<Buffer> {
  readonly #stream: Readable
  readonly #options: ResponseBodyOptions
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #ended = false
  #error: Error | undefined
  #wake: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(stream: Readable, options: ResponseBodyOptions) {
    this.#stream = stream
    this.#options = options
    stream.on('data', (chunk: Buffer) => {
      options.received()
      this.#chunks.push(chunk)
      this.#bytes += chunk.length
      if (this.#bytes >= highWaterMarkBytes) stream.pause()
      this.#notify()
    })
    stream.once('end', () => this.#finish())
    stream.on('error', (error) => this.#finish(options.failure(error)))
    stream.once('close', () => {
      if (!this.#ended) this.#finish(options.failure(new Error('the connection was closed')))
    })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Ends the body, and its reader, with this error, even if chunks are waiting. */
  destroy(error: Error): void {
    this.#chunks.length = 0
    this.#error ??= error
    if (this.#ended) return
    this.#finish(error)
    this.#stream.destroy(error)
  }

  /** Calls back at the end of the body. */
  onEnd(callback: () => void): void {
    if (this.#stream.closed) callback()
    else this.#stream.once('close', callback)
  }

  async next(): Promise<IteratorResult<Buffer>> {
    while (true) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        this.#bytes -= chunk.length
        if (this.#bytes === 0 && this.#stream.isPaused()) this.#stream.resume()
        return { done: false, value: chunk }
      }
      if (this.#error !== undefined) throw this.#error
      if (this.#ended) return { done: true, value: undefined }
      await this.#wait()
    }
  }

  async return(): Promise<IteratorResult<Buffer>> {
    if (!this.#ended) {
      this.#finish()
      this.#stream.destroy()
    }
    this.#chunks.length = 0
    return { done: true, value: undefined }
  }

  #wait(): Promise<void> {
    const { idleDeadlineMs, idleError } = this.#options
    return new Promise((resolve) => {
      this.#wake = resolve
      if (idleDeadlineMs === undefined || idleDeadlineMs > maxTimerMs) return
      // One timer for the whole body, restarted for each wait.
      this.#timer ??= setTimeout(() => {
        const waits = this.#wake
        // Lets Node read arrived bytes first: after a blocked event loop, timers run before sockets are read.
        setImmediate(() => {
          if (waits !== undefined && this.#wake === waits) this.destroy(idleError())
        })
      }, idleDeadlineMs)
      this.#timer.refresh()
    })
  }

  #finish(error?: Error): void {
    if (this.#ended) return
    this.#ended = true
    this.#error = error
    clearTimeout(this.#timer)
    this.#notify()
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

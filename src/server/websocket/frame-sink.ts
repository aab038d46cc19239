import type { WebSocket } from 'ws'
import type { PlannedStream, StreamEnd } from '../planned-stream.ts'

export interface FrameSinkOptions {
  /** What may wait in the socket before nothing more is taken. */
  readonly maxWaitingBytes: number
  /** Called when what waits has not become less for so long. */
  readonly stalledMs: number
  readonly stalled: () => void
}

const behind = Buffer.from('}')

/**
 * Sends the frames of planned subscriptions over one WebSocket, each in the envelope of its operation. Takes a frame only when the
 * socket has room, so that what a slow reader has not read is never held for it here.
 */
export class FrameSink {
  readonly #socket: WebSocket
  readonly #options: FrameSinkOptions
  /** Those that wait for room. */
  #waiting = new Set<() => void>()
  #stalled: NodeJS.Timeout | undefined

  constructor(socket: WebSocket, options: FrameSinkOptions) {
    this.#socket = socket
    this.#options = options
    socket.once('close', () => clearTimeout(this.#stalled))
  }

  /** Sends all that a stream has, as it comes. Resolves when that has ended. */
  send(id: string, stream: PlannedStream): Promise<StreamEnd> {
    const ahead = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`)
    return new Promise((resolve) => {
      const pump = (): void => {
        while (this.#hasRoom(pump)) {
          const payload = stream.take()
          if (payload !== undefined) {
            this.#write(Buffer.concat([ahead, payload, behind]))
            continue
          }
          if (stream.end !== undefined) resolve(stream.end)
          return
        }
        // Whoever waits for room need not be told that there is more.
        if (stream.end?.form === 'complete') resolve(stream.end)
      }
      stream.onReady(pump)
      pump()
    })
  }

  #hasRoom(pump: () => void): boolean {
    const { bufferedAmount } = this.#socket
    if (bufferedAmount <= this.#options.maxWaitingBytes) return true
    this.#waiting.add(pump)
    this.#stalled ??= setTimeout(this.#options.stalled, this.#options.stalledMs)
    return false
  }

  #write(message: Buffer): void {
    // An error closes the socket, and that ends the operations.
    this.#socket.send(message, { binary: false }, this.#sent)
  }

  readonly #sent = (): void => {
    if (this.#waiting.size === 0) return
    clearTimeout(this.#stalled)
    this.#stalled = undefined
    if (this.#socket.bufferedAmount > this.#options.maxWaitingBytes / 2) {
      this.#stalled = setTimeout(this.#options.stalled, this.#options.stalledMs)
      return
    }
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const pump of waiting) pump()
  }
}

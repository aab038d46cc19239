import type { PlannedStream, StreamEnd } from './planned-stream.ts'

/** A connection, as far as frames are sent over it. */
export interface FrameChannel {
  /** What waits to leave the process. */
  waitingBytes(): number
  /**
   * Writes a frame in its envelope as one message. The payload may be that of many others, too, and is not to be changed. `sent` is
   * called when it has left the process, or never can.
   */
  write(envelope: FrameEnvelope, payload: Buffer, sent: () => void): void
  /** Ends a connection whose reader has read nothing for too long. */
  cutOff(): void
}

/** What stands around a frame, so that it is a message of its operation. */
export interface FrameEnvelope {
  readonly ahead: Buffer
  readonly behind: Buffer
}

/** What may wait in a connection before it is given no more frames, and how long that may stay so. */
const maxWaitingBytes = 262_144
const stalledMs = 30_000

/**
 * Sends the frames of planned subscriptions over one connection, each in the envelope of its operation. Takes a frame only when the
 * connection has room, so that what a slow reader has not read is never held for it here; cuts off one that reads nothing.
 */
export class FrameSink {
  readonly #channel: FrameChannel
  /** Those that wait for room. */
  #waiting = new Set<() => void>()
  #stalled: NodeJS.Timeout | undefined

  constructor(channel: FrameChannel) {
    this.#channel = channel
  }

  /** The connection has been closed. */
  close(): void {
    clearTimeout(this.#stalled)
    this.#waiting.clear()
  }

  /** Sends all that a stream has, as it comes. Resolves when that has ended. */
  send(envelope: FrameEnvelope, stream: PlannedStream): Promise<StreamEnd> {
    return new Promise((resolve) => {
      const pump = (): void => {
        while (this.#hasRoom(pump)) {
          const payload = stream.take()
          if (payload !== undefined) {
            this.#channel.write(envelope, payload, this.#sent)
            continue
          }
          if (stream.end !== undefined) resolve(stream.end)
          return
        }
        // Whoever has left waits for no room.
        if (stream.end?.form === 'complete') resolve(stream.end)
      }
      stream.onReady(pump)
      pump()
    })
  }

  #hasRoom(pump: () => void): boolean {
    if (this.#channel.waitingBytes() <= maxWaitingBytes) return true
    this.#waiting.add(pump)
    this.#stalled ??= this.#stallTimer()
    return false
  }

  #stallTimer(): NodeJS.Timeout {
    return setTimeout(() => this.#channel.cutOff(), stalledMs)
  }

  readonly #sent = (): void => {
    if (this.#waiting.size === 0) return
    clearTimeout(this.#stalled)
    this.#stalled = undefined
    if (this.#channel.waitingBytes() > maxWaitingBytes / 2) {
      this.#stalled = this.#stallTimer()
      return
    }
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const pump of waiting) pump()
  }
}

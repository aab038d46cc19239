import type { PlannedStream, StreamEnd } from './planned-stream.ts'

/** A connection, as far as frames are sent over it. */
export interface FrameChannel {
  /** What waits to leave the process. */
  waitingBytes(): number
  /** Ends a connection whose reader has read nothing for too long. */
  cutOff(): void
}

/** What may wait in a connection before it is given no more frames, and how long that may stay as it is. */
const maxWaitingBytes = 262_144
const stalledMs = 30_000

/**
 * Sends the frames of planned subscriptions over one connection. Takes a frame only when the connection has room, so that what a
 * slow reader has not read is never held for it here; cuts off one that reads nothing.
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

  /**
   * Sends all that a stream has, as it comes: `write` writes one frame as a message of its operation. The payload may be that of many
   * others, too, and is not to be changed. Resolves when the stream has ended.
   */
  send(stream: PlannedStream, write: (payload: Buffer) => void): Promise<StreamEnd> {
    return new Promise((resolve) => {
      const pump = (): void => {
        while (this.#hasRoom(pump)) {
          const payload = stream.take()
          if (payload !== undefined) {
            write(payload)
            continue
          }
          if (stream.end !== undefined) resolve(stream.end)
          return
        }
        // Whoever has left waits for no room.
        if (stream.isClosed && stream.end !== undefined) resolve(stream.end)
      }
      stream.onReady(pump)
      pump()
    })
  }

  /** The channel's: some of what waited has left. To be called at the latest when all has. */
  drained(): void {
    if (this.#waiting.size === 0 || this.#channel.waitingBytes() > maxWaitingBytes / 2) return
    clearTimeout(this.#stalled)
    this.#stalled = undefined
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const pump of waiting) pump()
  }

  #hasRoom(pump: () => void): boolean {
    if (this.#channel.waitingBytes() <= maxWaitingBytes) return true
    this.#waiting.add(pump)
    this.#stalled ??= this.#stallTimer()
    return false
  }

  #stallTimer(): NodeJS.Timeout {
    const waited = this.#channel.waitingBytes()
    return setTimeout(() => {
      // Who reads slowly is not who reads nothing.
      if (this.#channel.waitingBytes() < waited) this.#stalled = this.#stallTimer()
      else this.#channel.cutOff()
    }, stalledMs)
  }
}

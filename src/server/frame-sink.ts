import type { PlannedStream, StreamEnd } from './planned-stream.ts'
import type { Output } from './unsent-bytes.ts'

/** What may wait on a connection before it is given no more frames. */
const maxWaitingBytes = 262_144

/**
 * Sends the frames of planned subscriptions over one connection. Takes a frame only when the connection has room, so that what a
 * slow reader has not read is never held for it here.
 */
export class FrameSink {
  readonly #output: Output
  /** Those that wait for room. */
  #waiting = new Set<() => void>()

  constructor(output: Output) {
    this.#output = output
  }

  /** The connection has been closed. */
  close(): void {
    this.#output.close()
    this.#waiting.clear()
  }

  /**
   * Sends all that a stream has, as it comes: `write` writes one frame as a message of its operation. The payload may be that of many
   * others, too, and is not to be changed. Resolves when the stream has ended.
   */
  send(stream: PlannedStream, write: (payload: Buffer) => void): Promise<StreamEnd> {
    return new Promise((resolve) => {
      const pump = (): void => {
        while (stream.isHeld === true || this.#hasRoom(pump)) {
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

  /** The connection's: some of what waited has left. To be called at the latest when all has. */
  drained(): void {
    if (this.#output.measure() > maxWaitingBytes / 2 || this.#waiting.size === 0) return
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const pump of waiting) pump()
  }

  #hasRoom(pump: () => void): boolean {
    if (this.#output.measure() <= maxWaitingBytes) return true
    this.#waiting.add(pump)
    return false
  }
}

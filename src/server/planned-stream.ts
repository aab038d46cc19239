/*
 * Sends the frames of planned subscriptions over one connection. It takes a frame from a stream only when the connection
 * has room, so that it holds no frames for a slow reader. All streams of a connection share its room.
 */

import { FrameStream, type StreamEnd } from '../lib/frame-stream.ts'
import type { Output } from './unsent-bytes.ts'

export class OneFrame extends FrameStream {
  #frame: Buffer | undefined

  constructor(text: string) {
    super()
    this.#frame = Buffer.from(text)
    this.finish({ form: 'complete' })
  }

  override get isHeld(): boolean {
    return this.#frame !== undefined
  }

  override take(): Buffer | undefined {
    const frame = this.#frame
    this.leave()
    return frame
  }

  protected override leave(): void {
    this.#frame = undefined
  }
}

/** The number of waiting bytes beyond which a connection takes no more frames. */
const maxWaitingBytes = 262_144

export class FrameSink {
  readonly #output: Output
  #waiting = new Set<() => void>()

  constructor(output: Output) {
    this.#output = output
  }

  /** Call when the connection is closed. */
  close(): void {
    this.#output.close()
    this.#waiting.clear()
  }

  /**
   * Sends all frames of a stream. `write` writes one frame as a message of its operation; subscribers share the
   * payload, so it must not change. Resolves when the stream has ended.
   */
  send(stream: FrameStream, write: (payload: Buffer) => void): Promise<StreamEnd> {
    return new Promise((resolve) => {
      const pump = (): void => {
        while (stream.isHeld || this.#hasRoom(pump)) {
          const payload = stream.take()
          if (payload !== undefined) {
            write(payload)
            continue
          }
          if (stream.end !== undefined) resolve(stream.end)
          return
        }
        // A closed stream does not wait for room.
        if (stream.isClosed && stream.end !== undefined) resolve(stream.end)
      }
      stream.onReady(pump)
      pump()
    })
  }

  /** Call when waiting bytes have been sent, or at least when none are left. */
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

import type { ExecutionResult } from 'graphql'
import { clientErrorOf } from '../graphql/errors/client-error.ts'
import type { StreamEnd } from '../lib/frame-stream.ts'
import { interruptible } from '../lib/generators.ts'
import type { Output } from './unsent-bytes.ts'

/** The frames of one subscription. The transport takes them when it has room. */
export interface PlannedStream {
  /** The payload of the next frame, UTF-8; `undefined` if there is none now. */
  take(): Buffer | undefined
  /** Whether the next frame is in memory for this reader alone, so that waiting for room would save nothing. */
  readonly isHeld?: boolean
  readonly end: StreamEnd | undefined
  /** Whether it is closed. Remaining frames are dropped. */
  readonly isClosed: boolean
  /** Calls `ready` when there may be frames, and at the end. */
  onReady(ready: () => void): void
  /** Ends it. Idempotent. */
  close(): void
}

/** The answer to a query as a stream of one frame. */
export function oneFrame(text: string): PlannedStream {
  let frame: Buffer | undefined = Buffer.from(text)
  let isClosed = false
  return {
    take() {
      const taken = frame
      frame = undefined
      return taken
    },
    get isHeld() {
      return frame !== undefined
    },
    end: { form: 'complete' },
    get isClosed() {
      return isClosed
    },
    onReady() {},
    close() {
      isClosed = true
      frame = undefined
    },
  }
}

/**
 * Sends the frames of a stream. The results are the errors that ended it, if it failed. Leaving the generator closes
 * the stream.
 */
export function streamedResults(
  stream: PlannedStream,
  send: (stream: PlannedStream) => Promise<StreamEnd>,
): AsyncGenerator<ExecutionResult, void, void> {
  async function* results(): AsyncGenerator<ExecutionResult, void, void> {
    const end = await send(stream)
    stream.close()
    if (end.form === 'failed') yield { errors: end.errors.map(clientErrorOf) }
  }
  return interruptible(results(), () => stream.close())
}

/** The number of waiting bytes beyond which a connection takes no more frames. */
const maxWaitingBytes = 262_144

/**
 * Sends the frames of planned subscriptions over one connection. Takes a frame only when the connection has room, so it
 * holds nothing for a slow reader.
 */
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
        // A closed stream does not wait for room.
        if (stream.isClosed && stream.end !== undefined) resolve(stream.end)
      }
      stream.onReady(pump)
      pump()
    })
  }

  /** Call when waiting bytes have been sent, at the latest when all have. */
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

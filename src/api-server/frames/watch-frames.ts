/*
 * Cuts the body of a watch into the texts of its events. What the frames of lists need as well is below: the buffer that
 * carries the beginning of a frame from one chunk to the next, and the errors of bodies that are cut off, too large or not
 * a list.
 */

import { CodedError } from '../../lib/coded-error.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d
const noFrames: readonly Uint8Array[] = []

/**
 * Splits the body of a WATCH into the texts of its events, only at line feeds, since a JSON string may contain U+2028. A
 * frame within one chunk is a range of the chunk; other frames are copied once, into a reused buffer. Skips empty lines.
 */
export class WatchFrames {
  readonly #carried: CarriedBytes

  constructor({ maxFrameBytes = defaultMaxFrameBytes }: { readonly maxFrameBytes?: number } = {}) {
    this.#carried = new CarriedBytes('an event of a watch', maxFrameBytes)
  }

  /**
   * The frames that end in this chunk, in order. They are valid until the next call; until then the chunk must not
   * change. Throws `OversizedFrameError`.
   */
  push(chunk: Uint8Array): readonly Uint8Array[] {
    this.#carried.settle()
    const frames: Uint8Array[] = []
    let start = 0
    while (start < chunk.length) {
      const end = chunk.indexOf(lineFeed, start)
      if (end < 0) {
        this.#carried.hold(chunk.subarray(start))
        break
      }
      const line = this.#carried.finish(chunk.subarray(start, end))
      const frame = line.at(-1) === carriageReturn ? line.subarray(0, -1) : line
      if (frame.length > 0) frames.push(frame)
      start = end + 1
    }
    return frames.length === 0 ? noFrames : frames
  }

  /** Call at the end of the body. Throws {@link TruncatedFrameError} if an event is incomplete. */
  end(): void {
    if (!this.#carried.isEmpty)
      throw new TruncatedFrameError('a watch', 'in the middle of an event')
  }
}

/**
 * The part of a frame from earlier chunks, in one buffer for all frames: the next frame overwrites the result of
 * {@link finish}. The tail of a chunk is only copied when the next chunk arrives, so that the frame in the buffer stays
 * valid until then.
 */
export class CarriedBytes {
  readonly #what: string
  readonly #maxBytes: number
  #buffer = Buffer.alloc(0)
  #length = 0
  #tail: Uint8Array | undefined

  /** `what` names the frames in errors. */
  constructor(what: string, maxBytes: number) {
    this.#what = what
    this.#maxBytes = maxBytes
  }

  /** Whether no partial frame is held. */
  get isEmpty(): boolean {
    return this.#length === 0 && this.#tail === undefined
  }

  /** Holds the tail of a chunk, which must not change until {@link settle}. Throws {@link OversizedFrameError}. */
  hold(tail: Uint8Array): void {
    this.#check(this.#length + tail.length)
    this.#tail = tail
  }

  /** Copies the held tail. Call before reading the next chunk. */
  settle(): void {
    if (this.#tail === undefined) return
    this.#append(this.#tail)
    this.#tail = undefined
  }

  /** The whole frame that ends with `rest`: `rest` itself if nothing was held. Throws {@link OversizedFrameError}. */
  finish(rest: Uint8Array): Uint8Array {
    this.#check(this.#length + rest.length)
    if (this.#length === 0) return rest
    this.#append(rest)
    const frame = this.#buffer.subarray(0, this.#length)
    this.#length = 0
    return frame
  }

  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length
    if (length > this.#buffer.length) {
      const size = Math.min(this.#maxBytes, Math.max(length, 2 * this.#buffer.length, 16 * 1024))
      const buffer = Buffer.allocUnsafeSlow(size)
      this.#buffer.copy(buffer, 0, 0, this.#length)
      this.#buffer = buffer
    }
    this.#buffer.set(bytes, this.#length)
    this.#length = length
  }

  #check(length: number): void {
    if (length > this.#maxBytes) throw new OversizedFrameError(this.#what, this.#maxBytes)
  }
}

/** The default limit of a frame in bytes: an object of etcd's default 1.5 MiB, with room for larger limits. */
export const defaultMaxFrameBytes: number = 8 * 1024 * 1024

/** A body ended early, in the middle of a list or of an event. Everything before it is complete. */
export class TruncatedFrameError extends CodedError {
  constructor(what: string, missing: string) {
    super('TRUNCATED_FRAME', `${what} ended ${missing}`, {
      hint: 'the server, or a proxy in front of it, cut the connection; the request can be repeated',
    })
  }
}

/** A frame or list item exceeds the limit. */
export class OversizedFrameError extends CodedError {
  constructor(what: string, maxFrameBytes: number) {
    super('OVERSIZED_FRAME', `${what} is larger than maxFrameBytes (${maxFrameBytes})`, {
      value: maxFrameBytes,
      hint: 'raise maxFrameBytes if this cluster has objects this large',
    })
  }
}

/** The body of a LIST is not a Kubernetes list, or not of the requested kind. */
export class MalformedListError extends CodedError {
  constructor(
    problem: string,
    value?: unknown,
    hint = 'check that the address is that of an API server, not of a proxy',
  ) {
    super('MALFORMED_LIST', `unexpected response to a LIST: ${problem}`, {
      value,
      hint,
    })
  }
}

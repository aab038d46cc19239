import { OversizedFrameError } from './frame-errors.ts'

/**
 * The part of a frame that came in earlier chunks. One buffer for all frames: what {@link finish} answers with is
 * overwritten by the next {@link add}. The tail of a chunk is only remembered at first, and copied once the next chunk
 * is there, so that the frame that the buffer still holds stays valid until then.
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

  /** Whether the beginning of a frame is held. */
  get isEmpty(): boolean {
    return this.#length === 0 && this.#tail === undefined
  }

  /** Holds the tail of a chunk, which must not change until {@link settle}. Throws {@link OversizedFrameError}. */
  hold(tail: Uint8Array): void {
    this.#check(this.#length + tail.length)
    this.#tail = tail
  }

  /** Copies the tail that is held. To be called before the next chunk is looked at. */
  settle(): void {
    if (this.#tail === undefined) return
    this.#append(this.#tail)
    this.#tail = undefined
  }

  /** The whole frame that ends with `rest`: `rest` itself where nothing was carried. Throws {@link OversizedFrameError}. */
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

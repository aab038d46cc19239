import type { WrittenFrame } from './frame-writer.ts'

/** How much of what has been sent last is kept for those who have not read it yet. */
export interface FrameRingLimits {
  readonly maxFrames: number
  readonly maxBytes: number
}

/**
 * The frames of a group that its slowest readers may still have to read, by number. Bounded in frames and bytes; the policy is
 * that the oldest go, and who has not read them yet begins anew. The group says which of them all have read.
 */
export class FrameRing {
  readonly #limits: FrameRingLimits
  readonly #frames: (WrittenFrame | undefined)[] = []
  #first = 0
  #next = 0
  #bytes = 0

  constructor(limits: FrameRingLimits) {
    this.#limits = limits
  }

  /** The number of the oldest frame that is there, or of the next one. */
  get first(): number {
    return this.#first
  }

  /** The number that the next frame will have. */
  get next(): number {
    return this.#next
  }

  /** What its frames take, and the texts that they were made of. */
  get bytes(): number {
    return this.#bytes * 2
  }

  push(frame: WrittenFrame): void {
    const { maxFrames, maxBytes } = this.#limits
    if (this.#next - this.#first === maxFrames) this.#drop()
    this.#frames[this.#next % maxFrames] = frame
    this.#next += 1
    this.#bytes += frame.payload.length
    // The newest stays, however large: its size is bounded.
    while (this.#bytes > maxBytes && this.#next - this.#first > 1) this.#drop()
  }

  /** A frame; `undefined` where it is not there any more, or not yet. */
  get(number: number): WrittenFrame | undefined {
    if (number < this.#first || number >= this.#next) return undefined
    return this.#frames[number % this.#limits.maxFrames]
  }

  /** What is before a place is wanted by nobody any more. */
  forgetBefore(place: number): void {
    while (this.#first < Math.min(place, this.#next)) this.#drop()
  }

  #drop(): void {
    const at = this.#first % this.#limits.maxFrames
    this.#bytes -= this.#frames[at]?.payload.length ?? 0
    this.#frames[at] = undefined
    this.#first += 1
  }
}

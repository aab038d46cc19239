import type { WrittenFrame } from './frame-writer.ts'

/** How many of the last frames are kept for members that have not read them yet. */
export interface FrameRingLimits {
  readonly maxFrames: number
  readonly maxBytes: number
}

/**
 * The last frames of a group, by number. Bounded in frames and bytes: the oldest are dropped, and a member that has not read them
 * begins anew. The group says which frames all members have read.
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

  /** The number of the oldest frame, or of the next one if there is none. */
  get first(): number {
    return this.#first
  }

  /** The number that the next frame will have. */
  get next(): number {
    return this.#next
  }

  /** The memory of its frames, and of the texts that they were made of. */
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

  /** A frame; `undefined` if it has been dropped, or is not there yet. */
  get(number: number): WrittenFrame | undefined {
    if (number < this.#first || number >= this.#next) return undefined
    return this.#frames[number % this.#limits.maxFrames]
  }

  /** Drops the frames before a place. */
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

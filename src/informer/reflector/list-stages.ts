/** Where the time of one list went, in milliseconds. */
export interface ListStages {
  /** Until the answers began, of all pages together; with the pauses that the server asked for. */
  readonly firstByteMs: number
  /** Until the last item was there, read and decoded. */
  readonly receivingMs: number
  /** Until store and indices had it, or whoever else takes the deltas. */
  readonly applyingMs: number
}

/** The stop-watch of one list. It runs from its creation. */
export class ListClock {
  readonly #startedMs = performance.now()
  #firstByteMs = 0
  #receivedMs = this.#startedMs

  /** How long the list has taken so far. */
  get ageMs(): number {
    return performance.now() - this.#startedMs
  }

  /** Waits for an answer to begin; failed attempts count as well. */
  async untilFirstByte<T>(answer: Promise<T>): Promise<T> {
    const sinceMs = performance.now()
    try {
      return await answer
    } finally {
      this.#firstByteMs += performance.now() - sinceMs
    }
  }

  /** The last item is there. */
  received(): void {
    this.#receivedMs = performance.now()
  }

  /** The stages of a list that has been applied just now. */
  stages(): ListStages {
    return {
      firstByteMs: this.#firstByteMs,
      receivingMs: this.#receivedMs - this.#startedMs - this.#firstByteMs,
      applyingMs: performance.now() - this.#receivedMs,
    }
  }
}

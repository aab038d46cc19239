import { CodedError } from '../lib/coded-error.ts'

/** More reviews wait than may. */
export class ReviewsWaitingError extends CodedError {
  constructor(waiting: number) {
    super('REVIEWS_WAITING', `${waiting} access reviews wait already`, {
      value: waiting,
      hint: 'ask again in a moment',
    })
  }
}

/** Runs so many works at once, and lets so many wait, first come, first served. */
export class ReviewSlots {
  readonly #most: number
  readonly #mostWaiting: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(most: number, mostWaiting: number) {
    this.#most = most
    this.#mostWaiting = mostWaiting
  }

  /** Rejects with {@link ReviewsWaitingError}, and as the work does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) {
      if (this.#waiting.length >= this.#mostWaiting) {
        throw new ReviewsWaitingError(this.#waiting.length)
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running += 1
    try {
      return await work()
    } finally {
      // Whoever waits takes over the slot.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}

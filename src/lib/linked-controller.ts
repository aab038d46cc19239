/**
 * A controller that aborts when a signal does, too. Call `abort` or `unlink` when what it ends is over. `AbortSignal.any` needs no such
 * call, but V8 visits each of its weak references whenever it collects: a gateway with a thousand clusters has had 300,000 of them.
 */
export class LinkedController {
  readonly #own = new AbortController()
  readonly #other: AbortSignal
  readonly #abort = (): void => this.#own.abort(this.#other.reason)

  constructor(other: AbortSignal) {
    this.#other = other
    if (other.aborted) this.#abort()
    else other.addEventListener('abort', this.#abort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#own.signal
  }

  abort(reason: unknown = over): void {
    this.unlink()
    this.#own.abort(reason)
  }

  /** From now on, only {@link abort} aborts it. */
  unlink(): void {
    this.#other.removeEventListener('abort', this.#abort)
  }
}

/** One for all, since a controller that gets no reason makes an error with a stack each time. */
const over = new Error('it is over')

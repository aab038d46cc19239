/** Options of {@link Listeners}. */
interface ListenersOptions {
  /** Receives errors of listeners; by default they are reported as uncaught errors. */
  readonly failed?: ((error: unknown) => void) | undefined
  /** Called when the first listener comes; what it returns is called when the last one leaves. */
  readonly hold?: () => () => void
}

/** A set of listeners. An error of one listener is reported and does not affect the others. */
export class Listeners<Told extends readonly unknown[] = []> {
  readonly #all = new Set<(...told: Told) => void>()
  readonly #failed: (error: unknown) => void
  readonly #hold: (() => () => void) | undefined
  #release: (() => void) | undefined

  constructor({ failed = throwLater, hold }: ListenersOptions = {}) {
    this.#failed = failed
    this.#hold = hold
  }

  /** Adds a listener. Returns a function that removes it. A function that is added twice is called twice. */
  add(listener: (...told: Told) => void): () => void {
    const own = (...told: Told): void => listener(...told)
    this.#all.add(own)
    this.#release ??= this.#hold?.()
    return () => {
      this.#all.delete(own)
      this.#releaseUnused()
    }
  }

  tell(...told: Told): void {
    for (const listener of this.#all) {
      try {
        listener(...told)
      } catch (error) {
        this.#failed(error)
      }
    }
  }

  clear(): void {
    this.#all.clear()
    this.#releaseUnused()
  }

  #releaseUnused(): void {
    if (this.#all.size > 0) return
    const release = this.#release
    this.#release = undefined
    release?.()
  }
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}

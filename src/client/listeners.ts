/** A set of listeners. An error of one listener is reported and does not affect the others. */
export class Listeners<Told extends readonly unknown[] = []> {
  readonly #all = new Set<(...told: Told) => void>()
  readonly #failed: (error: unknown) => void

  /** `failed` receives errors of listeners; by default they are reported as uncaught errors. */
  constructor(failed: (error: unknown) => void = throwLater) {
    this.#failed = failed
  }

  /** Adds a listener. Returns a function that removes it. */
  add(listener: (...told: Told) => void): () => void {
    this.#all.add(listener)
    return () => void this.#all.delete(listener)
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
  }
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}

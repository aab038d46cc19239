/** Those who want to be told of something. What one of them throws is told, and keeps nothing from the others. */
export class Listeners<Told extends readonly unknown[] = []> {
  readonly #all = new Set<(...told: Told) => void>()
  readonly #failed: (error: unknown) => void

  /** `failed`: told of what a listener has thrown; default: reported as an uncaught error is. */
  constructor(failed: (error: unknown) => void = throwLater) {
    this.#failed = failed
  }

  /** Returns what ends that. */
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

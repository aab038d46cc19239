/** Those who wait until what they follow is as they want it. */
export class Waits {
  readonly #deadlineMs: number
  readonly #checks = new Set<() => void>()

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs
  }

  /** Something has changed: everybody looks again. */
  changed(): void {
    for (const check of this.#checks) check()
  }

  /** Resolves once `holds` says so. Rejects with what it throws, and at the deadline with what `late` tells. */
  async until(holds: () => boolean, late: () => string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => reject(new Error(late())), this.#deadlineMs)
    const check = (): void => {
      try {
        if (holds()) resolve()
      } catch (error) {
        reject(error)
      }
    }
    this.#checks.add(check)
    check()
    try {
      await promise
    } finally {
      clearTimeout(timer)
      this.#checks.delete(check)
    }
  }
}

import { type WaitOptions, withDeadline } from '../../lib/deadline.ts'
import { compareResourceVersions, type ResourceVersion } from '../../kubernetes/resource-version.ts'
import { IncomparableResourceVersionError } from './store-errors.ts'

interface Waiter {
  readonly wanted: ResourceVersion
  readonly resolve: () => void
}

/** Those who wait until a store has reached a resource version. */
export class ResourceVersionWaiters {
  readonly #resourceName: string
  readonly #comparable: boolean
  readonly #waiting = new Set<Waiter>()

  constructor(resourceName: string, comparable: boolean) {
    this.#resourceName = resourceName
    this.#comparable = comparable
  }

  async wait(
    current: ResourceVersion,
    wanted: ResourceVersion,
    options: WaitOptions,
  ): Promise<void> {
    if (current === wanted) return
    if (!this.#comparable || compareResourceVersions(wanted, wanted) === undefined) {
      throw new IncomparableResourceVersionError(this.#resourceName, wanted)
    }
    if (isAtLeast(current, wanted)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { wanted, resolve }
    this.#waiting.add(waiter)
    try {
      await withDeadline(
        `waiting for ${this.#resourceName} to reach resource version ${wanted}`,
        promise,
        options.deadlineMs,
        options.signal,
      )
    } finally {
      this.#waiting.delete(waiter)
    }
  }

  /** Ends the waits that `current` fulfils. */
  reached(current: ResourceVersion): void {
    for (const { wanted, resolve } of this.#waiting) {
      if (isAtLeast(current, wanted)) resolve()
    }
  }
}

function isAtLeast(current: ResourceVersion, wanted: ResourceVersion): boolean {
  const order = compareResourceVersions(current, wanted)
  return order !== undefined && order >= 0
}

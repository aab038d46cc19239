import { type WaitOptions, withDeadline } from '../../lib/deadline.ts'
import { compareResourceVersions, type ResourceVersion } from '../../kubernetes/resource-version.ts'
import { IncomparableResourceVersionError } from './store-errors.ts'

/** Whether the server promises an order of resource versions; or who is asked for that when it matters, and may not know yet. */
export type IsOrdered = boolean | (() => Promise<boolean | undefined>)

interface Waiter {
  readonly wanted: ResourceVersion
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Those who wait until a store has reached a resource version. */
export class ResourceVersionWaiters {
  readonly #resourceName: string
  #isOrdered: IsOrdered
  readonly #waiting = new Set<Waiter>()
  /** Why nobody need wait any more. */
  #ended: Error | undefined

  constructor(resourceName: string, isOrdered: IsOrdered) {
    this.#resourceName = resourceName
    this.#isOrdered = isOrdered
  }

  async wait(
    current: ResourceVersion,
    wanted: ResourceVersion,
    { deadlineMs, signal }: WaitOptions,
  ): Promise<void> {
    if (current === wanted) return
    if (compareResourceVersions(wanted, wanted) === undefined) throw this.#incomparable(wanted)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { wanted, resolve, reject }
    if (isAtLeast(current, wanted)) resolve()
    else if (this.#ended !== undefined) reject(this.#ended)
    else this.#waiting.add(waiter)
    const what = `waiting for ${this.#resourceName} to reach resource version ${wanted}`
    try {
      await withDeadline(what, this.#inOrder(wanted, promise), deadlineMs, signal)
    } finally {
      this.#waiting.delete(waiter)
    }
  }

  /** The store will be written no more: all waits, and those to come, reject with this. */
  end(error: Error): void {
    this.#ended ??= error
    for (const { reject } of this.#waiting) reject(this.#ended)
  }

  /** What is reached counts only where there is an order. */
  async #inOrder(wanted: ResourceVersion, reached: Promise<void>): Promise<void> {
    // It may reject while the server is asked.
    reached.catch(() => {})
    const ask = this.#isOrdered
    if (typeof ask === 'function') this.#isOrdered = (await ask()) ?? ask
    if (this.#isOrdered === false) throw this.#incomparable(wanted)
    await reached
  }

  #incomparable(wanted: ResourceVersion): IncomparableResourceVersionError {
    return new IncomparableResourceVersionError(this.#resourceName, wanted)
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

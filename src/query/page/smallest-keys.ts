import type { ObjectId } from '../../informer/store/store-view.ts'
import { compareKeys } from './key-comparison.ts'

/** Keeps the first `limit` of the ids that it is given, in the order of their keys, without sorting the rest. */
export class SmallestKeys {
  readonly #limit: number
  readonly #capacity: number
  #entries: { readonly key: string; readonly id: ObjectId }[] = []
  /** Once `limit` are found, the last of them: whatever comes after it is out. */
  #last: string | undefined

  constructor(limit: number) {
    this.#limit = limit
    this.#capacity = Math.max(64, 2 * limit)
  }

  add(id: ObjectId, key: string): void {
    if (this.#last !== undefined && compareKeys(key, this.#last) >= 0) return
    this.#entries.push({ key, id })
    if (this.#entries.length >= this.#capacity) this.#cut()
  }

  /** In order; at most `limit`. */
  ids(): ObjectId[] {
    this.#cut()
    return this.#entries.map((entry) => entry.id)
  }

  #cut(): void {
    this.#entries.sort((a, b) => compareKeys(a.key, b.key))
    if (this.#entries.length < this.#limit) return
    this.#entries.length = this.#limit
    this.#last = this.#entries.at(-1)?.key
  }
}

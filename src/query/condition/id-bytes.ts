import type { ObjectId } from '../../informer/store/store-view.ts'

/** A small number for each id, 0 if none was set, in one growing array: faster and smaller than a map. */
export class IdBytes {
  #bytes = new Uint8Array(1024)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: ObjectId): number {
    return this.#bytes[id] ?? 0
  }

  /** `value` is from 1 to 255. */
  set(id: ObjectId, value: number): void {
    if (id >= this.#bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bytes.length, id + 1))
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    if (this.#bytes[id] === 0) this.#size += 1
    this.#bytes[id] = value
  }

  /** How many of the ids have this number. */
  countOf(ids: Iterable<ObjectId>, value: number): number {
    const bytes = this.#bytes
    let count = 0
    for (const id of ids) if (bytes[id] === value) count += 1
    return count
  }

  *ids(value: number): IterableIterator<ObjectId> {
    if (this.#size === 0) return
    const bytes = this.#bytes
    for (let id = 0; id < bytes.length; id++) if (bytes[id] === value) yield id
  }
}

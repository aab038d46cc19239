/*
 * Keeps a small number for each id, 0 if none was set, in one growing array of bytes: faster and smaller than a map. Stores
 * reuse ids, so the array stays about as long as the store has objects.
 */

import type { ObjectId } from '../../informer/store/store-view.ts'

/** Most stores of a large fleet are small, and most texts are in none of their values. */
const none = new Uint8Array(0)

export class IdBytes {
  #bytes = none
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: ObjectId): number {
    return this.#bytes[id] ?? 0
  }

  /** `value` is from 1 to 255. */
  set(id: ObjectId, value: number): void {
    if (id >= this.#bytes.length) this.#bytes = enlarged(this.#bytes, id)
    if (this.#bytes[id] === 0) this.#size += 1
    this.#bytes[id] = value
  }

  /** Sets the number of many ids, in less time than by {@link set}. */
  setAll(ids: Iterable<ObjectId>, value: number): void {
    let bytes = this.#bytes
    let added = 0
    for (const id of ids) {
      if (id >= bytes.length) bytes = enlarged(bytes, id)
      if (bytes[id] === 0) added += 1
      bytes[id] = value
    }
    this.#bytes = bytes
    this.#size += added
  }

  countOf(ids: Iterable<ObjectId>, value: number): number {
    const bytes = this.#bytes
    let count = 0
    for (const id of ids) if (bytes[id] === value) count += 1
    return count
  }

  *all(): IterableIterator<ObjectId> {
    if (this.#size === 0) return
    const bytes = this.#bytes
    for (let id = 0; id < bytes.length; id++) if (bytes[id] !== 0) yield id
  }

  *ids(value: number): IterableIterator<ObjectId> {
    if (this.#size === 0) return
    const bytes = this.#bytes
    for (let id = 0; id < bytes.length; id++) if (bytes[id] === value) yield id
  }
}

function enlarged(bytes: Uint8Array<ArrayBuffer>, id: ObjectId): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(2 * bytes.length, id + 1, 64))
  larger.set(bytes)
  return larger
}

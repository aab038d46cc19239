import type { ObjectId, PostingView } from './store-view.ts'

/**
 * The objects that share one value of one index: an unordered array of ids. An id is taken out in constant time by
 * moving the last one into its place, so whoever holds the positions must be told of the move.
 */
export class Posting implements PostingView {
  readonly value: string
  readonly #ids: ObjectId[]

  constructor(value: string, ids: ObjectId[]) {
    this.value = value
    this.#ids = ids
  }

  get size(): number {
    return this.#ids.length
  }

  [Symbol.iterator](): IterableIterator<ObjectId> {
    return this.#ids.values()
  }

  /** Returns the position of the new id. */
  push(id: ObjectId): number {
    return this.#ids.push(id) - 1
  }

  /** Takes out the id at `position`; returns the id that stands there now, if another one was moved. */
  removeAt(position: number): ObjectId | undefined {
    const last = this.#ids.pop()
    if (last === undefined || position === this.#ids.length) return undefined
    this.#ids[position] = last
    return last
  }
}

/** The posting of a value that one object has: most values of most indexes, so it is made only when read. */
export function singlePosting(id: ObjectId): PostingView {
  return { size: 1, [Symbol.iterator]: () => [id].values() }
}

/** So that inserting moves at most a few kilobytes. */
const maxChunk = 512

/**
 * Items in the order of their keys (by UTF-16 code units), each key once: a list of sorted chunks. Inserting and removing
 * cost a search and a short move, and it is walked from any place in either direction, at the cost of a search. Not to be
 * changed while it is walked.
 */
export class SortedList<T> {
  readonly #keyOf: (item: T) => string
  readonly #chunks: T[][] = []

  constructor(keyOf: (item: T) => string) {
    this.#keyOf = keyOf
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0
  }

  insert(item: T, key: string): void {
    const at = this.#chunkAt(key)
    const chunk = this.#chunks[at]
    if (chunk === undefined) {
      this.#chunks.push([item])
      return
    }
    chunk.splice(this.#positionIn(chunk, key), 0, item)
    if (chunk.length > maxChunk) {
      // Lists arrive in order: a full last chunk stays full instead of being halved.
      const isLast = at === this.#chunks.length - 1 && chunk.at(-1) === item
      this.#chunks.splice(at + 1, 0, chunk.splice(isLast ? maxChunk : maxChunk / 2))
    }
  }

  /** Takes out the item with this key, if there is one. To be called while `keyOf` still answers. */
  remove(key: string): void {
    const at = this.#chunkAt(key)
    const chunk = this.#chunks[at]
    if (chunk === undefined) return
    const position = this.#positionIn(chunk, key)
    const item = chunk[position]
    if (item === undefined || this.#keyOf(item) !== key) return
    chunk.splice(position, 1)
    if (chunk.length === 0) this.#chunks.splice(at, 1)
  }

  /** The items in order: from the key on, itself included, or all. */
  forwards(from?: string): IterableIterator<T> {
    const at = from === undefined ? 0 : this.#chunkAt(from)
    const first = from === undefined ? 0 : this.#positionIn(this.#chunks[at] ?? [], from)
    return new Walk(this.#chunks, at, first, 1)
  }

  /** The items in the opposite order: from the key on, itself included, or all. */
  backwards(from?: string): IterableIterator<T> {
    const at = from === undefined ? this.#chunks.length - 1 : this.#chunkAt(from)
    const chunk = this.#chunks[at] ?? []
    const last = from === undefined ? chunk.length - 1 : this.#lastUpTo(chunk, from)
    return new Walk(this.#chunks, at, last, -1)
  }

  /** The last chunk that begins at or before `key`; the first one where none does. */
  #chunkAt(key: string): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const chunk = this.#chunks[middle]
      if (chunk !== undefined && this.#keyOf(chunk[0] as T) <= key) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  /** The position of the first item whose key is not below `key`. */
  #positionIn(chunk: readonly T[], key: string): number {
    if (chunk.length > 0 && this.#keyOf(chunk.at(-1) as T) < key) return chunk.length
    let low = 0
    let high = chunk.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#keyOf(chunk[middle] as T) < key) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The position of the last item whose key is not above `key`; -1 where all are. */
  #lastUpTo(chunk: readonly T[], key: string): number {
    const position = this.#positionIn(chunk, key)
    const item = chunk[position]
    return item !== undefined && this.#keyOf(item) === key ? position : position - 1
  }
}

/** Walks over chunks. By hand, since pages are read through it: generators within generators take twice as long. */
class Walk<T> implements IterableIterator<T> {
  readonly #chunks: readonly (readonly T[])[]
  readonly #step: 1 | -1
  #chunk: readonly T[]
  #at: number
  #position: number

  constructor(chunks: readonly (readonly T[])[], at: number, position: number, step: 1 | -1) {
    this.#chunks = chunks
    this.#step = step
    this.#at = at
    this.#position = position
    this.#chunk = chunks[at] ?? []
  }

  next(): IteratorResult<T, undefined> {
    while (this.#position < 0 || this.#position >= this.#chunk.length) {
      this.#at += this.#step
      const next = this.#chunks[this.#at]
      if (next === undefined) return { done: true, value: undefined }
      this.#chunk = next
      this.#position = this.#step > 0 ? 0 : next.length - 1
    }
    const value = this.#chunk[this.#position] as T
    this.#position += this.#step
    return { done: false, value }
  }

  [Symbol.iterator](): this {
    return this
  }
}

import { splitObjectKey } from '../../kubernetes/object.ts'
import type { ObjectId } from './store-view.ts'

const maxChunk = 512

/** Items ordered by their keys (UTF-16 code units), each key once, in sorted chunks. Do not modify it during a walk. */
export class SortedList<T> {
  readonly #keyOf: (item: T) => string
  readonly #chunks: T[][] = []

  /** `sorted`: the first items, in order and without repeated keys. */
  constructor(keyOf: (item: T) => string, sorted: readonly T[] = []) {
    this.#keyOf = keyOf
    for (let at = 0; at < sorted.length; at += maxChunk) {
      this.#chunks.push(sorted.slice(at, at + maxChunk))
    }
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
      // Items mostly arrive in order: a full last chunk stays full instead of being halved.
      const isLast = at === this.#chunks.length - 1 && chunk.at(-1) === item
      this.#chunks.splice(at + 1, 0, chunk.splice(isLast ? maxChunk : maxChunk / 2))
    }
  }

  /** Removes the item with this key, if any. Call while `keyOf` still works. */
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

  /** The items in order, starting at the key (inclusive) or the beginning. */
  forwards(from?: string): IterableIterator<T> {
    const at = from === undefined ? 0 : this.#chunkAt(from)
    const first = from === undefined ? 0 : this.#positionIn(this.#chunks[at] ?? [], from)
    return new Walk(this.#chunks, at, first, 1)
  }

  /** The items in reverse order, starting at the key (inclusive) or the end. */
  backwards(from?: string): IterableIterator<T> {
    const at = from === undefined ? this.#chunks.length - 1 : this.#chunkAt(from)
    const chunk = this.#chunks[at] ?? []
    const last = from === undefined ? chunk.length - 1 : this.#lastUpTo(chunk, from)
    return new Walk(this.#chunks, at, last, -1)
  }

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

  /** The position of the last item with a key up to `key`; -1 if there is none. */
  #lastUpTo(chunk: readonly T[], key: string): number {
    const position = this.#positionIn(chunk, key)
    const item = chunk[position]
    return item !== undefined && this.#keyOf(item) === key ? position : position - 1
  }
}

/** Walks over chunks. Written by hand because pages are read through it: nested generators take twice as long. */
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

/**
 * The ids of a store ordered by namespace, then name. Whole keys do not sort like that (`team-a/x` sorts before
 * `team/x`), so there is a sorted list per namespace, and one of the namespaces, which are few.
 */
export class KeyOrder {
  readonly #keyOf: (id: ObjectId) => string
  readonly #byNamespace = new Map<string, SortedList<ObjectId>>()
  readonly #namespaces = new SortedList<string>((namespace) => namespace)

  constructor(keyOf: (id: ObjectId) => string) {
    this.#keyOf = keyOf
  }

  insert(id: ObjectId, key: string): void {
    const { namespace } = splitObjectKey(key)
    let ids = this.#byNamespace.get(namespace)
    if (ids === undefined) {
      ids = new SortedList(this.#keyOf)
      this.#byNamespace.set(namespace, ids)
      this.#namespaces.insert(namespace, namespace)
    }
    ids.insert(id, key)
  }

  /** Call while `keyOf(id)` still works. */
  remove(key: string): void {
    const { namespace } = splitObjectKey(key)
    const ids = this.#byNamespace.get(namespace)
    ids?.remove(key)
    if (ids?.isEmpty !== true) return
    this.#byNamespace.delete(namespace)
    this.#namespaces.remove(namespace)
  }

  *ids(): IterableIterator<ObjectId> {
    for (const namespace of this.#namespaces.forwards()) yield* this.#idsIn(namespace).forwards()
  }

  /** The ids behind `key`, which need not exist. */
  *idsAfter(key: string): IterableIterator<ObjectId> {
    const start = splitObjectKey(key).namespace
    for (const namespace of this.#namespaces.forwards(start)) {
      const ids = this.#idsIn(namespace)
      if (namespace === start) yield* this.#without(key, ids.forwards(key))
      else yield* ids.forwards()
    }
  }

  /** The ids before `key`, which need not exist, or all; last one first. */
  *idsBefore(key: string | undefined): IterableIterator<ObjectId> {
    const start = key === undefined ? undefined : splitObjectKey(key).namespace
    for (const namespace of this.#namespaces.backwards(start)) {
      const ids = this.#idsIn(namespace)
      if (key !== undefined && namespace === start) yield* this.#without(key, ids.backwards(key))
      else yield* ids.backwards()
    }
  }

  #idsIn(namespace: string): SortedList<ObjectId> {
    return this.#byNamespace.get(namespace) ?? new SortedList(this.#keyOf)
  }

  *#without(key: string, ids: IterableIterator<ObjectId>): IterableIterator<ObjectId> {
    const first = ids.next()
    if (first.done === true) return
    if (this.#keyOf(first.value) !== key) yield first.value
    yield* ids
  }
}

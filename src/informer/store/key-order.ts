import { splitObjectKey } from '../../kubernetes/object.ts'
import type { ObjectId } from './store-view.ts'

/** So that inserting moves at most a few kilobytes. */
const maxChunk = 512

/**
 * The ids of a store in the order of namespace, then name: per namespace a list of sorted chunks. Inserting and
 * removing cost a search and a short move; a page is read from its place onwards.
 */
export class KeyOrder {
  readonly #keyOf: (id: ObjectId) => string
  readonly #chunksByNamespace = new Map<string, ObjectId[][]>()
  #namespaces: string[] | undefined

  constructor(keyOf: (id: ObjectId) => string) {
    this.#keyOf = keyOf
  }

  insert(id: ObjectId, key: string): void {
    const { namespace } = splitObjectKey(key)
    const chunks = this.#chunksByNamespace.get(namespace)
    if (chunks === undefined) {
      this.#chunksByNamespace.set(namespace, [[id]])
      this.#namespaces = undefined
      return
    }
    const at = this.#chunkAt(chunks, key)
    const chunk = chunks[at] ?? []
    chunk.splice(this.#positionIn(chunk, key), 0, id)
    if (chunk.length > maxChunk) {
      // Lists arrive in order: a full last chunk stays full instead of being halved.
      const cut = at === chunks.length - 1 && chunk.at(-1) === id ? maxChunk : maxChunk / 2
      chunks.splice(at + 1, 0, chunk.splice(cut))
    }
  }

  /** To be called while `keyOf(id)` still answers. */
  remove(key: string): void {
    const { namespace } = splitObjectKey(key)
    const chunks = this.#chunksByNamespace.get(namespace) ?? []
    const at = this.#chunkAt(chunks, key)
    const chunk = chunks[at]
    if (chunk === undefined) return
    chunk.splice(this.#positionIn(chunk, key), 1)
    if (chunk.length > 0) return
    chunks.splice(at, 1)
    if (chunks.length === 0) {
      this.#chunksByNamespace.delete(namespace)
      this.#namespaces = undefined
    }
  }

  *ids(): IterableIterator<ObjectId> {
    for (const namespace of this.#sortedNamespaces()) {
      for (const chunk of this.#chunksByNamespace.get(namespace) ?? []) yield* chunk
    }
  }

  *idsAfter(key: string): IterableIterator<ObjectId> {
    const start = splitObjectKey(key).namespace
    for (const namespace of this.#sortedNamespaces()) {
      if (namespace < start) continue
      const chunks = this.#chunksByNamespace.get(namespace) ?? []
      if (namespace > start) {
        for (const chunk of chunks) yield* chunk
        continue
      }
      const at = this.#chunkAt(chunks, key)
      const first = chunks[at] ?? []
      let from = this.#positionIn(first, key)
      const found = first[from]
      if (found !== undefined && this.#keyOf(found) === key) from += 1
      yield* first.slice(from)
      for (const chunk of chunks.slice(at + 1)) yield* chunk
    }
  }

  #sortedNamespaces(): readonly string[] {
    this.#namespaces ??= [...this.#chunksByNamespace.keys()].toSorted()
    return this.#namespaces
  }

  /** The last chunk that begins at or before `key`; the first one where none does. */
  #chunkAt(chunks: readonly ObjectId[][], key: string): number {
    let low = 0
    let high = chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const first = chunks[middle]?.[0]
      if (first !== undefined && this.#keyOf(first) <= key) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  /** The position of the first id whose key is not below `key`. */
  #positionIn(chunk: readonly ObjectId[], key: string): number {
    const last = chunk.at(-1)
    if (last !== undefined && this.#keyOf(last) < key) return chunk.length
    let low = 0
    let high = chunk.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const id = chunk[middle]
      if (id !== undefined && this.#keyOf(id) < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

import { splitObjectKey } from '../../kubernetes/object.ts'
import { SortedList } from './sorted-list.ts'
import type { ObjectId } from './store-view.ts'

/**
 * The ids of a store in the order of namespace, then name. Whole keys do not sort so (`team-a/x` is before `team/x`), and
 * namespaces are few: so there is a sorted list for each, and one of the namespaces.
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

  /** To be called while `keyOf(id)` still answers. */
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

  /** Those behind `key`, which need not exist. */
  *idsAfter(key: string): IterableIterator<ObjectId> {
    const start = splitObjectKey(key).namespace
    for (const namespace of this.#namespaces.forwards(start)) {
      const ids = this.#idsIn(namespace)
      if (namespace === start) yield* this.#without(key, ids.forwards(key))
      else yield* ids.forwards()
    }
  }

  /** Those before `key`, which need not exist, or all; the last one first. */
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

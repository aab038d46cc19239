import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { IndexedStore } from './indexed-store.ts'
import type { ObjectId } from './store-view.ts'

/**
 * Reads a store by key and through its indexes, under the names of client-go's `Indexer`. Results come in no particular order.
 * Every method that names an index throws `UnknownIndexError`: nothing is ever scanned instead.
 */
export interface Indexer<T extends KubernetesObject = KubernetesObject> {
  /** Every object. */
  list(): T[]
  /** The key of every object. */
  listKeys(): string[]
  /** The object under a key, `namespace/name` or `name`; `undefined` where there is none. */
  getByKey(key: string): T | undefined
  /** The objects that have this value in the index. */
  byIndex(name: string, value: string): T[]
  /** Their keys. */
  indexKeys(name: string, value: string): string[]
  /** All values that at least one object has in the index. */
  listIndexFuncValues(name: string): string[]
  /**
   * The objects that share at least one value with `object`, which itself need not be stored. Throws
   * `IndexFunctionError` where the index function throws for it.
   */
  index(name: string, object: T): T[]
}

/** The indexer of a store. */
export function indexerOf<T extends KubernetesObject>(store: IndexedStore<T>): Indexer<T> {
  const idsOf = (name: string, value: string): readonly ObjectId[] => [
    ...(store.index(name).posting(value) ?? []),
  ]
  return {
    list: () => Array.from(store.ids(), (id) => store.object(id)),
    listKeys: () => [...store.keys()],
    getByKey: (key) => {
      const id = store.idOf(key)
      return id === undefined ? undefined : store.object(id)
    },
    byIndex: (name, value) => idsOf(name, value).map((id) => store.object(id)),
    indexKeys: (name, value) => idsOf(name, value).map((id) => store.keyOf(id)),
    listIndexFuncValues: (name) => [...store.index(name).values()],
    index: (name, object) => {
      const ids = new Set(store.indexValues(name, object).flatMap((value) => idsOf(name, value)))
      return Array.from(ids, (id) => store.object(id))
    },
  }
}

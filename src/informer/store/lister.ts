import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import {
  type LabelSelector,
  matchesLabels,
  parseLabelSelector,
} from '../../kubernetes/label-selector.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import type { ObjectId, StoreView } from './store-view.ts'
import type { IndexedStore } from './indexed-store.ts'

/** `get` did not find an object in the cache. */
export class ObjectNotFoundError extends CodedError {
  constructor(resource: string, key: string) {
    super('NOT_FOUND', `${resource} ${JSON.stringify(key)} is not in the cache`, { value: key })
  }
}

/** Reads a store by namespace, name and labels (client-go's listers). */
export interface Lister<T extends KubernetesObject = KubernetesObject> {
  /** Ordered by namespace, then name. `labelSelector` has kubectl's syntax; throws `LabelSelectorError`. */
  list(labelSelector?: string): T[]
  /** Throws {@link ObjectNotFoundError}. Cluster-scoped objects have no namespace. */
  get(name: string): T
  /** Returns `undefined` if there is no such object. */
  find(name: string): T | undefined
  namespaced(namespace: string): Lister<T>
}

export function listerOf<T extends KubernetesObject>(
  store: StoreView<T>,
  namespace?: string,
): Lister<T> {
  const keyOf = (name: string): string =>
    objectKey(namespace === undefined ? { name } : { namespace, name })
  return {
    list(labelSelector = '') {
      const selector = parseLabelSelector(labelSelector)
      const ids =
        namespace === undefined ? store.ids() : (store.index('namespace').posting(namespace) ?? [])
      const objects = selected(store, ids, selector).map((id) => store.object(id))
      return namespace === undefined
        ? objects
        : objects.toSorted((a, b) => compare(a.metadata.name, b.metadata.name))
    },
    get(name) {
      const key = keyOf(name)
      const id = store.idOf(key)
      if (id === undefined) throw new ObjectNotFoundError(groupResourceOf(store.resource), key)
      return store.object(id)
    },
    find(name) {
      const id = store.idOf(keyOf(name))
      return id === undefined ? undefined : store.object(id)
    },
    namespaced: (only) => listerOf(store, only),
  }
}

/** Uses the label indexes, so that only selected objects are decoded. */
function selected(
  store: StoreView,
  ids: Iterable<ObjectId>,
  selector: LabelSelector,
): readonly ObjectId[] {
  if (selector.length === 0) return [...ids]
  const indexes = selector.map(({ key }) => [key, store.label(key)] as const)
  return Array.from(ids).filter((id) => {
    const labels: Record<string, string> = Object.create(null)
    for (const [key, index] of indexes) {
      const [value] = index?.valuesOf(id) ?? []
      if (value !== undefined) labels[key] = value
    }
    return matchesLabels(selector, labels)
  })
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Reads a store by key and index, with the method names of client-go's `Indexer`. Results have no particular order.
 * Methods that name an index throw `UnknownIndexError`; none falls back to a scan.
 */
export interface Indexer<T extends KubernetesObject = KubernetesObject> {
  list(): T[]
  listKeys(): string[]
  /** The object under a key, `namespace/name` or `name`; `undefined` if there is none. */
  getByKey(key: string): T | undefined
  /** The objects with this value in the index. */
  byIndex(name: string, value: string): T[]
  /** The keys of the objects with this value in the index. */
  indexKeys(name: string, value: string): string[]
  /** All values in the index. */
  listIndexFuncValues(name: string): string[]
  /**
   * The objects that share at least one value with `object`, which need not be stored. Throws `IndexFunctionError` if
   * the index function throws for it.
   */
  index(name: string, object: T): T[]
}

export function indexerOf<T extends KubernetesObject>(store: IndexedStore<T>): Indexer<T> {
  const idsOf = (name: string, value: string): readonly ObjectId[] => [
    ...(store.index(name).posting(value) ?? []),
  ]
  return {
    list: () => Array.from(store.ids(), (id) => store.object(id)),
    listKeys: () => [...store.contents.ids.keys()],
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

import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import {
  type LabelSelector,
  matchesLabels,
  parseLabelSelector,
} from '../../kubernetes/label-selector.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import type { ObjectId, StoreView } from './store-view.ts'

/** `get` for an object that is not in the cache. */
export class ObjectNotFoundError extends CodedError {
  constructor(resource: string, key: string) {
    super('NOT_FOUND', `${resource} ${JSON.stringify(key)} is not in the cache`, { value: key })
  }
}

/** Reads a store by namespace, name and labels (client-go's listers). */
export interface Lister<T extends KubernetesObject = KubernetesObject> {
  /** In the order of namespace, then name. `labelSelector` is kubectl's syntax; throws `LabelSelectorError`. */
  list(labelSelector?: string): T[]
  /** Throws {@link ObjectNotFoundError}. Cluster-scoped objects have no namespace. */
  get(name: string): T
  /** The same, but `undefined` where there is none. */
  find(name: string): T | undefined
  /** The same, within one namespace. */
  namespaced(namespace: string): Lister<T>
}

/** A lister of the whole store. */
export function listerOf<T extends KubernetesObject>(store: StoreView<T>): Lister<T> {
  return lister(store, undefined)
}

function lister<T extends KubernetesObject>(
  store: StoreView<T>,
  namespace: string | undefined,
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
    namespaced: (only) => lister(store, only),
  }
}

/** Asks the label indexes: what is not selected is not decoded. */
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

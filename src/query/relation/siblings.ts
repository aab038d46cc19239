import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'

/** Tells whether others of a store are in the namespace of an object and have its labels; keys, which are spread over the memory, it does not read. */
export function siblingsOf(view: StoreView, one: ObjectId): (other: ObjectId) => boolean {
  const namespaces = view.index('namespace')
  return (other) => view.hasSameLabels(one, other) && namespaces.isSame(one, other)
}

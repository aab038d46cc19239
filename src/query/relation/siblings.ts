import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'

/** Whether two objects of a store are in one namespace and have the same labels. */
export function areSiblings(view: StoreView, one: ObjectId, other: ObjectId): boolean {
  if (!view.hasSameLabels(one, other)) return false
  const [key, otherKey] = [view.keyOf(one), view.keyOf(other)]
  const slash = key.indexOf('/')
  return slash === otherKey.indexOf('/') && key.startsWith(otherKey.slice(0, slash + 1))
}

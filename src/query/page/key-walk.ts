import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { compareKeys } from './key-comparison.ts'

/**
 * The objects of a store in the order of namespace, then name, or backwards: those of some namespaces (sorted), or all. Only
 * those behind `after`, which need not exist.
 */
export function* walkKeys(
  view: StoreView,
  namespaces: readonly string[] | undefined,
  after: string | undefined,
  backwards: boolean,
): IterableIterator<ObjectId> {
  if (namespaces === undefined) {
    if (backwards) yield* view.idsBefore(after)
    else yield* after === undefined ? view.ids() : view.idsAfter(after)
    return
  }
  const index = view.index('namespace')
  for (const namespace of backwards ? namespaces.toReversed() : namespaces) {
    if (index.posting(namespace) === undefined) continue
    const bound = backwards ? `${namespace}/${beyondAllNames}` : `${namespace}/`
    const isInside = after !== undefined && compareKeys(after, bound) > 0 !== backwards
    const from = isInside ? after : bound
    for (const id of backwards ? view.idsBefore(from) : view.idsAfter(from)) {
      if (!index.has(id, namespace)) break
      yield id
    }
  }
}

/** Sorts behind every name of an object, which are of ASCII. */
const beyondAllNames = '\uffff'

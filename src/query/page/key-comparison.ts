import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'

const slash = 0x2f

/**
 * Compares two object keys as stores order them: by namespace, then name, both by UTF-16 code units. Comparing whole keys
 * would not do: `team-a/x` sorts before `team/x`, since `-` sorts before `/`.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) {
      // Where one namespace has ended the other goes on.
      if (left === slash) return -1
      return right === slash ? 1 : left - right
    }
    // Within a namespace names are compared as they are, which the engine does faster.
    if (left === slash) break
  }
  return a < b ? -1 : a > b ? 1 : 0
}

/** Objects of a store in the order of their keys. Most are, as the store was filled: then nothing is sorted. */
export function inKeyOrder(ids: readonly ObjectId[], view: StoreView): readonly ObjectId[] {
  const compare = comparedIn(view)
  const keyed = ids.map((id) => ({ id, key: view.keyOf(id) }))
  let before: KeyedObject | undefined
  for (const next of keyed) {
    if (before !== undefined && compare(before, next) > 0) {
      return keyed.toSorted(compare).map(({ id }) => id)
    }
    before = next
  }
  return ids
}

interface KeyedObject {
  readonly id: ObjectId
  readonly key: string
}

/** Compares objects of a store by their keys: within a namespace as they are, which the engine does faster. */
function comparedIn(view: StoreView): (a: KeyedObject, b: KeyedObject) => number {
  const namespaces = view.index('namespace')
  return (a, b) => {
    if (!namespaces.isSame(a.id, b.id)) return compareKeys(a.key, b.key)
    return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
  }
}

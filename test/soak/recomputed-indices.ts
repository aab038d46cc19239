import type { IndexFunction, SharedInformer } from 'informerql/informer'

type Index = Record<string, string[]>

/**
 * Every index of a store, value to keys: as it is, and as it would be made anew from the decoded objects. `functions`
 * holds those that are not built in.
 */
export function recomputedIndices(
  { store }: SharedInformer,
  functions: Readonly<Record<string, IndexFunction>>,
): { readonly found: Record<string, Index>; readonly expected: Record<string, Index> } {
  const found: Record<string, Index> = {}
  const expected: Record<string, Index> = {}
  const add = (name: string, value: string, key: string): void => {
    const keys = ((expected[name] ??= {})[value] ??= [])
    if (!keys.includes(key)) keys.push(key)
  }
  const labels = new Set<string>()
  for (const id of store.ids()) {
    const object = store.object(id)
    const { namespace = '', name, uid = '', labels: own = {} } = object.metadata
    const key = store.keyOf(id)
    add('namespace', namespace, key)
    add('name', name, key)
    add('uid', uid, key)
    for (const [index, valuesOf] of Object.entries(functions)) {
      for (const value of valuesOf(object)) add(index, value, key)
    }
    for (const [label, value] of Object.entries(own)) {
      labels.add(label)
      add(`label ${label}`, value, key)
    }
  }
  const views = [
    ...store.indexNames().map((name) => [name, store.index(name)] as const),
    ...Array.from(labels, (label) => [`label ${label}`, store.label(label)] as const),
  ]
  for (const [name, view] of views) {
    for (const value of view?.values() ?? []) {
      const keys = Array.from(view?.posting(value) ?? [], (id) => store.keyOf(id))
      ;(found[name] ??= {})[value] = keys.toSorted()
    }
  }
  for (const index of Object.values(expected)) {
    for (const keys of Object.values(index)) keys.sort()
  }
  return { found, expected }
}

/** What {@link getOrInsert} needs of a `Map`, a `WeakMap` or an LRU cache. */
interface Keyed<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

/**
 * The value of a key. If there is none, makes it and keeps it, as `Map.prototype.getOrInsertComputed` does, which Node 22
 * does not have. `make` costs a closure: paths that run for each row write the three statements out.
 */
export function getOrInsert<K, V>(map: Keyed<K, V>, key: K, make: () => NoInfer<V>): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

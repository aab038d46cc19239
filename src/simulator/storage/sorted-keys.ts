/**
 * The keys of one resource in their order. Changes are noted and merged in one pass when the order is asked for, so
 * that a bulk load sorts once. An array that was handed out never changes afterwards.
 */
export class SortedKeys {
  #keys: readonly string[] = []
  readonly #added = new Set<string>()
  readonly #removed = new Set<string>()

  add(key: string): void {
    if (!this.#removed.delete(key)) this.#added.add(key)
  }

  remove(key: string): void {
    if (!this.#added.delete(key)) this.#removed.add(key)
  }

  sorted(): readonly string[] {
    if (this.#added.size > 0 || this.#removed.size > 0) {
      this.#keys = mergeSorted(this.#keys, [...this.#added].toSorted(), this.#removed)
      this.#added.clear()
      this.#removed.clear()
    }
    return this.#keys
  }
}

function mergeSorted(
  keys: readonly string[],
  added: readonly string[],
  removed: ReadonlySet<string>,
): string[] {
  const merged: string[] = []
  let next = 0
  for (const key of keys) {
    for (let extra = added[next]; extra !== undefined && extra < key; extra = added[++next])
      merged.push(extra)
    if (removed.size === 0 || !removed.has(key)) merged.push(key)
  }
  for (; next < added.length; next++) merged.push(added[next] ?? '')
  return merged
}

/** The position of the first key that is not below `bound`. */
export function lowerBound(keys: readonly string[], bound: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] ?? '') < bound) low = middle + 1
    else high = middle
  }
  return low
}

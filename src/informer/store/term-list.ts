import { SortedList } from './sorted-list.ts'

/** Terms in the order of their lower-case forms, so that terms with the same beginning stand together, whatever their case. */
export class TermList {
  readonly #keys: KeyGroup

  constructor(terms: Iterable<string>) {
    this.#keys = new KeyGroup(Array.from(terms, folded))
  }

  add(term: string): void {
    this.#keys.add(folded(term))
  }

  remove(term: string): void {
    this.#keys.remove(folded(term))
  }

  *startingWith(prefix: string): IterableIterator<string> {
    const start = prefix.toLowerCase()
    for (const key of this.#keys.from(start)) {
      if (!key.startsWith(start)) return
      yield key.slice(key.indexOf(separator) + 1)
    }
  }
}

const separator = '\u0000'

/** The key of a term in the order: unique, and for a term in lower case the term itself. */
export function folded(term: string): string {
  const lower = term.toLowerCase()
  return lower === term ? term : lower + separator + term
}

/** Larger groups are split before they are sorted. */
const largestSorted = 1_024
/** Letters behind the common beginning of a group by which it is split. */
const splitLetters = 2
/** Groups within so many others are sorted, however large they are. */
const deepestSplit = 8

/**
 * Keys in UTF-16 order. Sorting 100,000 of them takes a tenth of a second, in which the process answers no other request. So
 * a group sorts only the keys that are read: a large one splits into groups by first letters, and the other groups stay as
 * they are.
 */
class KeyGroup {
  readonly #depth: number
  /** In no order, until the group is read. */
  #unsorted: string[] | Set<string> | undefined
  #sorted: SortedList<string> | undefined
  #groups = new Map<string, KeyGroup>()
  /** The names of the groups in order; `undefined` once they have changed. */
  #names: readonly string[] | undefined
  /** The length of the names. A shorter key is a group by itself. */
  #length = 0

  constructor(keys: string[], depth = 0) {
    this.#unsorted = keys
    this.#depth = depth
  }

  get isEmpty(): boolean {
    if (this.#unsorted !== undefined) return sizeOf(this.#unsorted) === 0
    return this.#sorted?.isEmpty ?? this.#groups.size === 0
  }

  add(key: string): void {
    const unsorted = this.#unsorted
    if (unsorted instanceof Set) unsorted.add(key)
    else if (unsorted !== undefined) unsorted.push(key)
    else if (this.#sorted !== undefined) this.#sorted.insert(key, key)
    else this.#groupOf(key).add(key)
  }

  remove(key: string): void {
    if (this.#unsorted !== undefined) {
      if (Array.isArray(this.#unsorted)) this.#unsorted = new Set(this.#unsorted)
      this.#unsorted.delete(key)
    } else if (this.#sorted !== undefined) this.#sorted.remove(key)
    else {
      const name = key.slice(0, this.#length)
      const group = this.#groups.get(name)
      group?.remove(key)
      if (group?.isEmpty === true) {
        this.#groups.delete(name)
        this.#names = undefined
      }
    }
  }

  /** The keys in order, beginning with `start` or the first behind it. */
  *from(start: string): IterableIterator<string> {
    if (this.#unsorted !== undefined) this.#settle([...this.#unsorted])
    if (this.#sorted !== undefined) {
      yield* this.#sorted.forwards(start)
      return
    }
    const first = start.slice(0, this.#length)
    this.#names ??= [...this.#groups.keys()].toSorted()
    for (const name of this.#names) {
      if (name >= first) yield* this.#groups.get(name)?.from(name === first ? start : '') ?? []
    }
  }

  #settle(keys: readonly string[]): void {
    this.#unsorted = undefined
    if (keys.length <= largestSorted || this.#depth === deepestSplit) {
      this.#sorted = new SortedList((key) => key, keys.toSorted())
      return
    }
    this.#length = commonLength(keys) + splitLetters
    for (const key of keys) this.#groupOf(key).add(key)
  }

  #groupOf(key: string): KeyGroup {
    const name = key.slice(0, this.#length)
    let group = this.#groups.get(name)
    if (group === undefined) {
      this.#groups.set(name, (group = new KeyGroup([], this.#depth + 1)))
      this.#names = undefined
    }
    return group
  }
}

function sizeOf(keys: string[] | Set<string>): number {
  return Array.isArray(keys) ? keys.length : keys.size
}

/** The number of letters with which all keys begin. */
function commonLength(keys: readonly string[]): number {
  const [first = ''] = keys
  let { length } = first
  for (const key of keys) {
    let at = 0
    while (at < length && key.charCodeAt(at) === first.charCodeAt(at)) at += 1
    length = at
  }
  return length
}

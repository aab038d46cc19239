import { SortedList } from './sorted-list.ts'

/** Terms in the order of their lower-case forms, so that those with the same beginning stand together, whatever their case. */
export class TermList {
  readonly #sorted: SortedList<string>

  constructor(terms: Iterable<string>) {
    // The folded forms sort without a function to compare them, and end with the terms that they fold.
    const keys = Array.from(terms, folded).toSorted()
    const sorted = keys.map((key) => key.slice(key.indexOf(separator) + 1))
    this.#sorted = new SortedList(folded, sorted)
  }

  add(term: string): void {
    this.#sorted.insert(term, folded(term))
  }

  remove(term: string): void {
    this.#sorted.remove(folded(term))
  }

  *startingWith(prefix: string): IterableIterator<string> {
    const start = prefix.toLowerCase()
    for (const term of this.#sorted.forwards(start)) {
      if (!folded(term).startsWith(start)) return
      yield term
    }
  }
}

const separator = '\u0000'

/** The key of a term in the order: unique, and for a term in lower case the term itself. */
export function folded(term: string): string {
  const lower = term.toLowerCase()
  return lower === term ? term : lower + separator + term
}

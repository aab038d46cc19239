/** Compares two rows, as for `Array.prototype.sort`. */
export type Compare<Row> = (a: Row, b: Row) => number

interface Entry<Row> {
  readonly id: string
  readonly row: Row
  /** The order of arrival, which sorts rows that compare equal. */
  readonly number: number
}

/**
 * Sorted rows with an index by id. A change costs a binary search and a move within one array. The returned array is
 * built on access, once for all changes since the last access.
 */
export class SortedRows<Row> {
  readonly #compare: Compare<Entry<Row>>
  readonly #accepts: (row: Row) => boolean
  readonly #entries = new Map<string, Entry<Row>>()
  readonly #order: Entry<Row>[] = []
  #shown: readonly Row[] | undefined
  #count = 0

  /** Without `compare`, rows keep the order of arrival. Rows that `filter` rejects are left out. */
  constructor(compare: Compare<Row> | undefined, filter: ((row: Row) => boolean) | undefined) {
    this.#compare = (a, b) => compare?.(a.row, b.row) || a.number - b.number
    this.#accepts = filter ?? (() => true)
  }

  /** The same array until something changes. */
  get rows(): readonly Row[] {
    return (this.#shown ??= this.#order.map(({ row }) => row))
  }

  /** Returns whether the shown rows have changed. */
  set(id: string, row: Row): boolean {
    const known = this.#entries.get(id)
    if (!this.#accepts(row)) return this.delete(id)
    const entry = { id, row, number: known?.number ?? this.#count++ }
    if (known !== undefined) this.#remove(known)
    this.#entries.set(id, entry)
    this.#order.splice(this.#placeOf(entry), 0, entry)
    this.#shown = undefined
    return true
  }

  delete(id: string): boolean {
    const known = this.#entries.get(id)
    if (known === undefined) return false
    this.#remove(known)
    this.#entries.delete(id)
    this.#shown = undefined
    return true
  }

  /** Replaces all rows, with one sort. */
  replace(rows: Iterable<readonly [string, Row]>): void {
    this.#entries.clear()
    for (const [id, row] of rows) {
      if (this.#accepts(row)) this.#entries.set(id, { id, row, number: this.#count++ })
    }
    this.#order.length = 0
    for (const entry of this.#entries.values()) this.#order.push(entry)
    this.#order.sort(this.#compare)
    this.#shown = undefined
  }

  #remove(entry: Entry<Row>): void {
    const place = this.#placeOf(entry)
    // An inconsistent `compare` may have put it elsewhere.
    const at = this.#order[place] === entry ? place : this.#order.indexOf(entry)
    this.#order.splice(at, 1)
  }

  /** The position of an entry, present or not. */
  #placeOf(entry: Entry<Row>): number {
    let low = 0
    let high = this.#order.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#order[middle] as Entry<Row>
      if (this.#compare(other, entry) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/*
 * The first rows of a live list in an order, and some spare rows behind them. A change costs two binary searches and a move
 * within one array. All other rows sort behind the rows kept here, so the list is read again only when more rows have left
 * than there were spare ones.
 */

import { comparePositions, type OrderPosition, type OrderTerm } from './list-order.ts'

export interface WindowRow {
  readonly key: string
  readonly uid: string
  readonly position: OrderPosition
}

export class TopWindow<Row extends WindowRow = WindowRow> {
  readonly #size: number
  readonly #capacity: number
  readonly #order: { readonly terms: readonly OrderTerm[]; readonly backwards: false }
  readonly #byKey = new Map<string, Row>()
  #rows: Row[] = []
  /** Whether the window holds the whole list. */
  #isWhole = false

  /** `size`: the number of rows to show. `ready`: the number of spare rows. */
  constructor(terms: readonly OrderTerm[], size: number, ready: number) {
    this.#size = size
    this.#capacity = size + ready
    this.#order = { terms, backwards: false }
  }

  get capacity(): number {
    return this.#capacity
  }

  /** Whether rows are missing, so that {@link fill} is needed. */
  get isShort(): boolean {
    return !this.#isWhole && this.#rows.length < this.#size
  }

  first(): readonly Row[] {
    return this.#rows.slice(0, this.#size)
  }

  /**
   * Replaces all rows, in any order. They include the first {@link capacity} of the list; `isWhole`: they are the whole list.
   */
  fill(rows: readonly Row[], isWhole: boolean): void {
    const ordered = rows.toSorted((a, b) => comparePositions(a.position, b.position, this.#order))
    this.#rows = ordered.slice(0, this.#capacity)
    this.#isWhole = isWhole && ordered.length <= this.#capacity
    this.#byKey.clear()
    for (const row of this.#rows) this.#byKey.set(row.key, row)
  }

  put(row: Row): void {
    this.delete(row.key)
    const place = this.#placeOf(row)
    if (place === this.#rows.length && !this.#isWhole) return
    this.#rows.splice(place, 0, row)
    this.#byKey.set(row.key, row)
    if (this.#rows.length <= this.#capacity) return
    const last = this.#rows.pop()
    if (last !== undefined) this.#byKey.delete(last.key)
    this.#isWhole = false
  }

  delete(key: string): void {
    const known = this.#byKey.get(key)
    if (known === undefined) return
    this.#byKey.delete(key)
    this.#rows.splice(this.#placeOf(known), 1)
  }

  /** The index of a row, or the index at which it would be. All positions differ, by their keys. */
  #placeOf({ position }: WindowRow): number {
    let [low, high] = [0, this.#rows.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#rows[middle]
      if (other !== undefined && comparePositions(other.position, position, this.#order) < 0) {
        low = middle + 1
      } else high = middle
    }
    return low
  }
}

import { comparePositions, type OrderPosition, type OrderTerm } from './list-order.ts'

/** An object and where it stands. */
export interface FrontRow {
  readonly key: string
  readonly uid: string
  readonly position: OrderPosition
}

/**
 * The first objects of a list in an order, and some more that stand ready behind them, kept while the list changes: a change costs
 * two binary searches and a move within one array. What is not here stands behind all that is, so only when more have left than
 * stood ready is the list to be read again.
 */
export class TopWindow {
  readonly #size: number
  readonly #capacity: number
  readonly #order: { readonly terms: readonly OrderTerm[]; readonly backwards: false }
  readonly #byKey = new Map<string, FrontRow>()
  #rows: FrontRow[] = []
  /** Whether there are no others. */
  #isWhole = false

  /** `size` rows are wanted; `ready` more are kept behind them. */
  constructor(terms: readonly OrderTerm[], size: number, ready: number) {
    this.#size = size
    this.#capacity = size + ready
    this.#order = { terms, backwards: false }
  }

  /** How many rows {@link fill} is to be given, if there are as many. */
  get capacity(): number {
    return this.#capacity
  }

  /** Whether too few are known: then it is to be filled. */
  get isShort(): boolean {
    return !this.#isWhole && this.#rows.length < this.#size
  }

  /** The first rows, as many as are wanted or as there are. */
  first(): readonly FrontRow[] {
    return this.#rows.slice(0, this.#size)
  }

  /** These are the first of the list, in order, and whether they are all of it. */
  fill(rows: readonly FrontRow[], isWhole: boolean): void {
    this.#rows = [...rows]
    this.#isWhole = isWhole
    this.#byKey.clear()
    for (const row of rows) this.#byKey.set(row.key, row)
  }

  /** An object of the list stands here now, wherever it stood before. */
  put(row: FrontRow): void {
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

  /** An object is in the list no more. */
  delete(key: string): void {
    const known = this.#byKey.get(key)
    if (known === undefined) return
    this.#byKey.delete(key)
    this.#rows.splice(this.#placeOf(known), 1)
  }

  /** Where a row stands, or would: keys make all positions different. */
  #placeOf({ position }: FrontRow): number {
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

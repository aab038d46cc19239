/** Keeps the first `limit` of what it is given, in an order, without sorting the rest. */
export class FirstRows<T> {
  readonly #limit: number
  readonly #capacity: number
  readonly #compare: (a: T, b: T) => number
  #rows: T[] = []
  /** Once `limit` are found, the last of them: whatever comes after it is out. */
  #last: T | undefined

  /** `limit` is at least 1. */
  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit
    this.#capacity = Math.max(64, 2 * limit)
    this.#compare = compare
  }

  /** The last of the first `limit`, as far as is known: what comes behind it need not be added. */
  get last(): T | undefined {
    return this.#last
  }

  add(row: T): void {
    if (this.#last !== undefined && this.#compare(row, this.#last) >= 0) return
    this.#rows.push(row)
    if (this.#rows.length >= this.#capacity) this.#cut()
  }

  /** In order; at most `limit`. */
  rows(): readonly T[] {
    this.#cut()
    return this.#rows
  }

  #cut(): void {
    this.#rows.sort(this.#compare)
    if (this.#rows.length < this.#limit) return
    this.#rows.length = this.#limit
    this.#last = this.#rows.at(-1)
  }
}

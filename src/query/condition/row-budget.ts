import { CodedError } from '../../lib/coded-error.ts'

/** An operation that would examine or produce more rows than it may. It is never answered by a shorter list instead. */
export class QueryTooCostlyError extends CodedError {
  constructor(maxRows: number) {
    super('QUERY_TOO_COSTLY', `the operation examines more than ${maxRows} objects`, {
      value: maxRows,
      hint: 'narrow it by namespace, labelSelector or where, or ask for smaller pages',
    })
  }
}

/** Two walks through 100,000 objects, which is some 50 to 100 ms. */
export const defaultMaxRows = 200_000

/**
 * The rows that one operation may examine (test against a condition) or produce, over all of its lists and relations. It
 * bounds how long the synchronous half of an operation keeps everyone else waiting.
 */
export class RowBudget {
  readonly maxRows: number
  #spent = 0

  constructor(maxRows: number = defaultMaxRows) {
    this.maxRows = maxRows
  }

  get spent(): number {
    return this.#spent
  }

  /** Throws {@link QueryTooCostlyError} when the budget is passed. */
  spend(rows: number): void {
    this.#spent += rows
    if (this.#spent > this.maxRows) throw new QueryTooCostlyError(this.maxRows)
  }
}

import type { FieldNode } from 'graphql'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { maxAlike } from './bounded-errors.ts'

/**
 * The errors of the fields of one answer. Each pays before it is made, because making one takes long: its stack becomes
 * text, and the lines of the document are counted. Of errors with the same field and message, only as many are made as
 * an answer shows. The last of them stands for the others, which are counted.
 */
export class AlikeErrors<T> {
  readonly #budget: WorkBudget
  readonly #fieldPrice: number
  readonly #alike = new Map<FieldNode | undefined, Map<string, { made: number; last: T }>>()

  /** `fieldPrice`: the price of a written field, more than 1 if fields are written faster than errors are made. */
  constructor(budget: WorkBudget, fieldPrice = 1) {
    this.#budget = budget
    this.#fieldPrice = fieldPrice
  }

  /** The error to report for a field: a new one, or the last one like it. Throws `QueryTooCostlyError`. */
  take(thrown: unknown, node: FieldNode | undefined, make: () => T): T {
    this.#budget.spend('fields', alikeFields * this.#fieldPrice)
    const ofField = this.#alike.get(node) ?? new Map<string, { made: number; last: T }>()
    const message = thrown instanceof Error ? thrown.message : ''
    const alike = ofField.get(message)
    if (alike !== undefined && alike.made >= maxAlike) return alike.last
    this.#budget.spend('fields', fieldsToMake(node) * this.#fieldPrice)
    const last = make()
    this.#alike.set(node, ofField.set(message, { made: (alike?.made ?? 0) + 1, last }))
    return last
  }
}

/** The cost of throwing an error and comparing it with others, in written fields. */
const alikeFields = 4
/** The further cost of making it. */
const madeFields = 25
/** One field more for each so many lines and characters before its place, which are counted to locate it. */
const linesOfField = 30
const charactersOfField = 1_000

function fieldsToMake(node: FieldNode | undefined): number {
  const loc = node?.loc
  if (loc === undefined) return madeFields
  const { startToken, start } = loc
  return Math.ceil(madeFields + startToken.line / linesOfField + start / charactersOfField)
}

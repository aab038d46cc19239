import type { FieldNode } from 'graphql'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { maxAlike } from './bounded-errors.ts'

/**
 * The errors of the fields of one answer, paid for before they are made. To make one takes long: its stack is written as text, and
 * the lines of the document are counted. So of those that say the same of the same field only as many are made as an answer shows;
 * the last of them stands for the others, which are counted.
 */
export class AlikeErrors<T> {
  readonly #budget: WorkBudget
  readonly #fieldPrice: number
  readonly #alike = new Map<FieldNode | undefined, Map<string, { made: number; last: T }>>()

  /** `fieldPrice`: what a written field costs of the budget, more than 1 where fields are written faster than errors are made. */
  constructor(budget: WorkBudget, fieldPrice = 1) {
    this.#budget = budget
    this.#fieldPrice = fieldPrice
  }

  /** What stands for an error of a field: made now, or the last one alike. Throws `QueryTooCostlyError`. */
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

/** Throwing an error and finding that it is like others takes as long as writing so many fields, */
const alikeFields = 4
/** making it so many more, */
const madeFields = 25
/** and one more for so many lines and characters before its place, which are passed by to count them. */
const linesOfField = 30
const charactersOfField = 1_000

function fieldsToMake(node: FieldNode | undefined): number {
  const loc = node?.loc
  if (loc === undefined) return madeFields
  const { startToken, start } = loc
  return Math.ceil(madeFields + startToken.line / linesOfField + start / charactersOfField)
}

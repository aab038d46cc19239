import {
  type FieldNode,
  GraphQLError,
  locatedError,
  type ResponsePath,
  responsePathAsArray,
} from 'graphql'
import { QueryTooCostlyError, type WorkBudget } from '../../query/condition/work-budget.ts'
import { maxAlike } from './bounded-errors.ts'

/** The errors that say the same of the same field. */
interface AlikeErrors {
  readonly made: number
  readonly last: GraphQLError
}

/**
 * The errors of the fields of one execution, paid for before they are made. Making one takes long: its stack is written as text, and the
 * lines of the document are counted, once more each time that it is made another one on its way out. So of those that say the same of the
 * same field only as many are made as are told; the last of them stands for the others, which are counted.
 */
export class PricedErrors {
  readonly #budget: WorkBudget
  readonly #alike = new Map<FieldNode | undefined, Map<string, AlikeErrors>>()

  constructor(budget: WorkBudget) {
    this.#budget = budget
  }

  /** What has been thrown, with its place. Throws the one error of the answer where the budget is passed, by this or before. */
  located(
    thrown: unknown,
    details: readonly { readonly node: FieldNode }[],
    path: ResponsePath,
  ): GraphQLError {
    const node = details[0]?.node
    const { failure } = this.#budget
    try {
      if (failure !== undefined) throw failure
      this.#budget.spend('fields', alikeFields)
      const ofField = this.#alike.get(node) ?? new Map<string, AlikeErrors>()
      const message = thrown instanceof Error ? thrown.message : ''
      const alike = ofField.get(message)
      if (alike !== undefined && alike.made >= maxAlike) return alike.last
      this.#budget.spend('fields', fieldsToMake(node))
      const last = locatedError(thrown, node, responsePathAsArray(path))
      this.#alike.set(node, ofField.set(message, { made: (alike?.made ?? 0) + 1, last }))
      return last
    } catch (error) {
      if (!(error instanceof QueryTooCostlyError)) throw error
      if (thrown instanceof GraphQLError && thrown.originalError === error) throw thrown
      throw locatedError(error, node, responsePathAsArray(path))
    }
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

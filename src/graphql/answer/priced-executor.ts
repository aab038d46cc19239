import {
  type ExecutionResult,
  type FieldNode,
  GraphQLError,
  Kind as NodeKind,
  locatedError,
  responsePathAsArray,
  type ValidatedExecutionArgs,
  visit,
} from 'graphql'
import { ExecutorThrowingOnIncremental } from 'graphql/execution/ExecutorThrowingOnIncremental'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { AlikeErrors } from '../errors/priced-errors.ts'

type Base = ExecutorThrowingOnIncremental
type MaybePromise<T> = T | Promise<T>

/**
 * Executes a query, or one frame of a subscription; what it writes is paid for by the budget. Where that is passed, the answer
 * is one error and no data.
 */
export function executePriced(
  args: ValidatedExecutionArgs,
  budget: WorkBudget,
): MaybePromise<ExecutionResult> {
  const result = new PricedExecutor(args, budget).executeRootSelectionSet(false)
  return result instanceof Promise
    ? result.then((later) => onlyFailure(later, budget))
    : onlyFailure(result, budget)
}

/** Of an operation that was too costly, or has ended otherwise, nothing is told but that, whatever else had failed before. */
function onlyFailure(result: ExecutionResult, { failure }: WorkBudget): ExecutionResult {
  if (failure === undefined) return result
  const errors = result.errors?.filter(({ originalError }) => originalError === failure)
  return errors === undefined ? result : { ...result, errors }
}

/**
 * graphql-js's executor, with a price on what it writes. It resolves field after field within one tick and gives no
 * resolver a way to stop the others: what a resolver throws is one null and one error, and the next row goes on. Of ten
 * thousand rows each would find the budget spent, and say so. So some of its steps are taken here:
 *
 * - a field is paid for before it is resolved, `__typename` and introspection too, with the characters of its name in the
 *   answer, and with the literals of its arguments, which are coerced for each object anew
 * - a leaf is paid for by its characters, before the whole answer becomes one text, which may be longer than a string
 * - an error is paid for, with the lines of the document that are counted to say where it stands; of those that say the same of the
 *   same field only the first are made, since no more are told
 * - once the budget is passed, the error of a field is not collected but thrown on, from field to field up to the root
 *
 * The class is not documented, but exported; the tests of abuse fail where its steps are no longer taken.
 */
class PricedExecutor extends ExecutorThrowingOnIncremental {
  readonly #budget: WorkBudget
  /** Of JSON values, by identity: aliases answer the same object again. */
  readonly #lengths = new Map<object, number>()
  readonly #errors: AlikeErrors<GraphQLError>

  constructor(args: ValidatedExecutionArgs, budget: WorkBudget) {
    super(args)
    this.#budget = budget
    this.#errors = new AlikeErrors(budget)
  }

  override executeField(
    ...args: Parameters<Base['executeField']>
  ): ReturnType<Base['executeField']> {
    const [, , details, path] = args
    const node = details[0]?.node
    this.#budget.report?.at(placeOf(path))
    this.#budget.spend('fields', 1)
    this.#budget.spend('bytes', fieldPunctuation + String(path.key).length)
    if (node?.arguments?.length) this.#budget.spend('tests', literalsOf(node))
    return super.executeField(...args)
  }

  override completeLeafValue(...args: Parameters<Base['completeLeafValue']>): unknown {
    const value = super.completeLeafValue(...args)
    this.#budget.spend('bytes', this.#lengthOf(value))
    return value
  }

  override handleFieldError(...args: Parameters<Base['handleFieldError']>): void {
    const [error, type, details, path] = args
    super.handleFieldError(this.#located(error, details[0]?.node, path), type, details, path)
  }

  /** What has been thrown, with its place. Throws the one error of the answer where the budget is passed, by this or before. */
  #located(thrown: unknown, node: FieldNode | undefined, path: Path): GraphQLError {
    const { failure } = this.#budget
    try {
      if (failure !== undefined) throw failure
      return this.#errors.take(thrown, node, () =>
        locatedError(thrown, node, responsePathAsArray(path)),
      )
    } catch (error) {
      if (error !== this.#budget.failure) throw error
      if (thrown instanceof GraphQLError && thrown.originalError === error) throw thrown
      throw locatedError(error, node, responsePathAsArray(path))
    }
  }

  #lengthOf(value: unknown): number {
    if (typeof value === 'string') return value.length + 2
    if (typeof value !== 'object' || value === null) return plainLength
    const known = this.#lengths.get(value)
    if (known !== undefined) return known
    const length = valueLength + JSON.stringify(value).length
    this.#lengths.set(value, length)
    return length
  }
}

/** `"":,` */
const fieldPunctuation = 4
/** Finding and measuring a value of JSON takes as long as so many characters of it, however short it is. */
const valueLength = 100
/** Of a number or a boolean, about. */
const plainLength = 6

const literals = new WeakMap<FieldNode, number>()

/** How many values stand in the arguments of a field. */
function literalsOf(field: FieldNode): number {
  let count = literals.get(field)
  if (count !== undefined) return count
  count = 0
  for (const argument of field.arguments ?? []) {
    visit(argument.value, {
      enter(node) {
        if (node.kind !== NodeKind.NAME) count = (count ?? 0) + 1
      },
    })
  }
  literals.set(field, count)
  return count
}

type Path = Parameters<Base['handleFieldError']>[3]

/** Where a field stands, without the parts of connections and the places in lists: as a plan calls it. */
function placeOf(path: Path): string {
  const keys: (string | number)[] = []
  for (let step: Path | undefined = path; step !== undefined; step = step.prev) {
    const isPart = step.typename === undefined || connectionPart.test(step.typename)
    if (!isPart) keys.unshift(step.key)
  }
  return keys.join('.')
}

/** Names that no kind and no nested type has. */
const connectionPart = /(Connection|Edge)$/

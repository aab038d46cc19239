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
 * Executes a query. The budget pays for the answer. If the budget is exceeded, the answer is one error and no data.
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

/** If the budget has failed, the answer keeps only that error. */
function onlyFailure(result: ExecutionResult, { failure }: WorkBudget): ExecutionResult {
  if (failure === undefined) return result
  const errors = result.errors?.filter(({ originalError }) => originalError === failure)
  return errors === undefined ? result : { ...result, errors }
}

/**
 * The executor of graphql-js, with a price on the answer. graphql-js resolves field after field within one tick and
 * gives no resolver a way to stop the others: an error becomes one null, and the next row goes on. Each of ten thousand
 * rows would find the budget spent, and report it. So this class overrides some steps:
 *
 * - a field pays before it is resolved, `__typename` and introspection too: for the characters of its name in the
 *   answer, and for the literals of its arguments, which are coerced anew for each object
 * - a leaf pays for its characters, before the answer becomes one text, which could exceed the maximum length of a
 *   string
 * - an error pays, also for the lines of the document that are counted to locate it; of equal errors of a field only
 *   the first are made, since the answer shows no more
 * - once the budget is exceeded, the error of a field is not collected but thrown on, from field to field up to the
 *   root
 *
 * graphql-js exports the class without documenting it; the tests of abuse fail if its steps no longer run.
 */
class PricedExecutor extends ExecutorThrowingOnIncremental {
  readonly #budget: WorkBudget
  /** The lengths of JSON values, by identity: aliases answer the same object again. */
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

  /** The thrown error with its location. Throws the one error of the answer once the budget is exceeded. */
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
/** The time to find and measure a JSON value, even a short one, in characters. */
const valueLength = 100
/** The approximate length of a number or a boolean. */
const plainLength = 6

const literals = new WeakMap<FieldNode, number>()

/** The number of values in the arguments of a field. */
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

/** The place of a field as plans name it, without connections, edges and list positions. */
function placeOf(path: Path): string {
  const keys: (string | number)[] = []
  for (let step: Path | undefined = path; step !== undefined; step = step.prev) {
    const isPart = step.typename === undefined || connectionPart.test(step.typename)
    if (!isPart) keys.unshift(step.key)
  }
  return keys.join('.')
}

/** No kind and no nested type has such a name. */
const connectionPart = /(Connection|Edge)$/

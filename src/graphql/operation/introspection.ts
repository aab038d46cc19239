import {
  type ExecutionResult,
  type GraphQLSchema,
  Kind as NodeKind,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import {
  defaultWorkLimits,
  WorkBudget,
  type WorkLimits,
} from '../../query/condition/work-budget.ts'
import { executePriced } from './priced-executor.ts'

/**
 * The whole of a schema is more than any other operation may write, and every tool asks for it. So it may cost a few times
 * as much; and since it is the same for everybody until the schema changes, it is executed once for each document.
 */
const timesTheWork = 6
/** Tools ask in few words. */
const maxDocuments = 16
const known = new WeakMap<GraphQLSchema, LRUCache<string, ExecutionResult>>()

/**
 * Answers an operation that asks for the schema, once, and for nothing else; `undefined` for any other, and for one with
 * variables.
 */
export async function answerIntrospection(
  args: ValidatedExecutionArgs,
  work: Partial<WorkLimits>,
): Promise<ExecutionResult | undefined> {
  const { schema, document, operation } = args
  const source = document.loc?.source.body
  if (source === undefined || !isIntrospection(operation)) return undefined
  let answers = known.get(schema)
  if (answers === undefined) known.set(schema, (answers = new LRUCache({ max: maxDocuments })))
  const key = `${operation.name?.value ?? ''}\n${source}`
  let result = answers.get(key)
  if (result === undefined) {
    result = await executePriced(args, new WorkBudget(raised(work)))
    if (result.errors === undefined) answers.set(key, result)
  }
  return result
}

function isIntrospection({
  variableDefinitions = [],
  selectionSet,
}: OperationDefinitionNode): boolean {
  const names = selectionSet.selections.map((one) =>
    one.kind === NodeKind.FIELD ? one.name.value : '',
  )
  return (
    variableDefinitions.length === 0 &&
    names.filter((name) => name === '__schema').length === 1 &&
    names.every((name) => name === '__schema' || name === '__typename')
  )
}

function raised(work: Partial<WorkLimits>): Partial<WorkLimits> {
  const { fields, bytes, tests } = { ...defaultWorkLimits, ...work }
  return {
    ...work,
    fields: fields * timesTheWork,
    bytes: bytes * timesTheWork,
    tests: tests * timesTheWork,
  }
}

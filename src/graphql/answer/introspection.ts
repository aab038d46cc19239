import {
  type ExecutionResult,
  Kind as NodeKind,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
} from 'graphql'
import {
  defaultWorkLimits,
  WorkBudget,
  type WorkLimits,
} from '../../query/condition/work-budget.ts'
import type { OperationDocuments } from '../documents/operation-documents.ts'
import { executePriced } from './priced-executor.ts'

/**
 * A whole schema is longer than any other answer, and every tool reads it. So introspection may cost several times as
 * much. All callers get the same answer until the schema changes, so the server executes each document once.
 */
const timesTheWork = 6
const known = new WeakMap<OperationDefinitionNode, KnownAnswer>()
/** The memory of a field of an answer, besides its text. */
const bytesPerField = 100

interface KnownAnswer extends Pick<ValidatedExecutionArgs, 'schema'> {
  readonly result: ExecutionResult
}

/** The fields that answer the schema: that of introspection, and that of federation. */
const schemaFields = new Set(['__schema', '_service'])

/**
 * Answers an operation that selects `__schema` or `_service` once, and at most `__typename` besides, without variables.
 */
export async function answerIntrospection(
  args: ValidatedExecutionArgs,
  work: Partial<WorkLimits>,
  documents: OperationDocuments,
): Promise<ExecutionResult | undefined> {
  const { schema, document, operation } = args
  if (!isIntrospection(operation)) return undefined
  const answer = known.get(operation)
  if (answer?.schema === schema) return answer.result
  const budget = new WorkBudget(raised(work))
  const result = await executePriced(args, budget)
  if (result.errors === undefined) {
    known.set(operation, { schema, result })
    documents.grown(document, bytesPerField * budget.spent('fields') + 2 * budget.spent('bytes'))
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
    names.filter((name) => schemaFields.has(name)).length === 1 &&
    names.every((name) => schemaFields.has(name) || name === '__typename')
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

import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  type GraphQLError,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql'
import type { WriteResults } from '../prepare/write-results.ts'
import { maxCoercionErrors, variableError } from '../errors/argument-place.ts'
import { clientErrorOf, clientResult } from '../errors/client-error.ts'
import { problemOfVariables } from '../documents/document-bounds.ts'
import { inTime } from './operation-deadline.ts'
import { queryReport } from './operation-observer.ts'
import { checkPageSizes } from '../reads/page-rows.ts'
import {
  AskedOperation,
  type PlannedQueries,
  type QueryOptions,
  type QueryOrigin,
} from './planned-queries.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'

export interface ExecutionOptions extends QueryOptions {
  /** Answers. */
  readonly plans: PlannedQueries
  /** Absent: the schema has no mutations. */
  readonly mutations?: MutationSource | undefined
}

/** What the transports add to the `contextValue` of an operation. */
export interface OperationOptions extends QueryOrigin {
  /** Whether the answer explains itself in `extensions.explain`. */
  readonly explain?: boolean
  /** The start by `performance.now()`, if earlier than the start of execution. The deadline counts from it. */
  readonly beganMs?: number | undefined
  /** Whether a subscription may write, as `drain` does: not by GET. Default: false. */
  readonly mayWrite?: boolean
}

/** Makes the writes of mutations, before their answers are read. */
export interface MutationSource {
  /**
   * Rejects with `ClientError` if none may be made. `secretsRead` receives the Secrets whose values the results show, as
   * `cluster/namespace/name`.
   */
  write(
    served: ServedSchema,
    args: ValidatedExecutionArgs,
    origin: Pick<OperationOptions, 'viewer' | 'callerToken' | 'trace' | 'beganMs'>,
    secretsRead: Set<string>,
  ): Promise<WriteResults>
}

/** Answers subscriptions. Their documents are parsed and valid. */
export interface SubscriptionSource {
  /** Resolves to the frames, or to the errors of a refused subscription. Never rejects. */
  subscribe(
    request: {
      readonly document: DocumentNode
      readonly operationName: string | null | undefined
      readonly variables: Readonly<Record<string, unknown>> | null | undefined
      readonly explains: boolean
    },
    origin: Pick<OperationOptions, 'viewer' | 'callerToken' | 'trace' | 'beganMs'> & {
      readonly mayWrite: boolean
    },
  ): Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult>
}

/** The options of an operation; none if the caller of graphql-js gives no context. */
export function optionsOf({ contextValue }: ExecutionArgs): OperationOptions {
  return contextValue ?? {}
}

/** Answers a query or a mutation by its plan, within its deadline, and reports it. */
export async function executeQuery(
  served: ServedSchema,
  args: ExecutionArgs,
  options: ExecutionOptions,
): Promise<ExecutionResult> {
  const startedMs = performance.now()
  const asked = new AskedOperation()
  const { beganMs = startedMs, viewer, trace } = optionsOf(args)
  const deadline = { deadlineMs: options.limits.operationDeadlineMs, beganMs }
  const result = await inTime(answerOf(served, args, options, asked), deadline)
  const { observer } = options
  if (observer === undefined && trace?.follower === undefined) return result
  const { document, operationName } = args
  const ast = getOperationAST(document, operationName)
  const operation = ast?.operation === OperationTypeNode.MUTATION ? 'mutation' : 'query'
  const of = { operation, document, operationName: ast?.name?.value, viewer, trace } as const
  const { kinds, rows, secrets, logged } = asked
  const { errors } = result
  const report = queryReport({ ...of, kinds, rows, secrets, logged, startedMs, errors })
  observer?.answered(report)
  trace?.follower?.answered(report)
  return result
}

/**
 * The writes of a mutation are made first, one after the other. Then the answer is read: the kinds of the operation are
 * prepared, asynchronously, and the plan reads the stores within one tick, so that one answer sees one moment of all kinds.
 */
async function answerOf(
  served: ServedSchema,
  args: ExecutionArgs,
  { limits, unexpected, plans, mutations }: ExecutionOptions,
  asked: AskedOperation,
): Promise<ExecutionResult> {
  const { explain: explains = false, ...origin } = optionsOf(args)
  const { document } = args
  const refused = (errors: readonly GraphQLError[], data?: null): ExecutionResult => {
    const told = { errors: errors.map((error) => variableError(error, document)) }
    const result = data === undefined ? told : { ...told, data }
    return clientResult(result, unexpected, origin.trace?.requestId)
  }
  const validated = validatedArgs(served, limits, args)
  if ('errors' in validated) return refused(validated.errors)
  using held = new DisposableStack()
  let writes: WriteResults | undefined
  if (mutations !== undefined && validated.operation.operation === OperationTypeNode.MUTATION) {
    try {
      writes = held.use(await mutations.write(served, validated, optionsOf(args), asked.secrets))
    } catch (error) {
      return refused([clientErrorOf(error)])
    }
  }
  try {
    return await plans.result(served, args, { asked, origin, explains, writes })
  } catch (error) {
    return refused([clientErrorOf(error)], null)
  }
}

/** The operation with its variables coerced, once, or the errors that need no preparation. */
function validatedArgs(
  served: ServedSchema,
  limits: OperationLimits,
  args: ExecutionArgs,
): ValidatedExecutionArgs | { readonly errors: readonly GraphQLError[] } {
  const problem = problemOfVariables(args.variableValues ?? {})
  if (problem !== undefined) return { errors: [problem] }
  const options = { ...args.options, maxCoercionErrors }
  const validated = validateExecutionArgs({ ...args, options })
  if (!('schema' in validated)) return { errors: validated }
  const { document, operationName } = args
  const pages = { document, operationName, variables: validated.variableValues }
  const tooLarge = checkPageSizes(served, limits, pages)
  return tooLarge === undefined ? validated : { errors: [tooLarge] }
}

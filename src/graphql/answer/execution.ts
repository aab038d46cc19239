/*
 * Executes queries and mutations in the form of graphql-js. The arguments are checked and coerced first. Then a mutation
 * makes its writes, and the plan writes the answer, which is parsed into a result. The whole has a deadline, and is
 * reported to observers.
 */

import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  type GraphQLError,
  locatedError,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql'
import type { WriteResults } from '../plan/plan-run.ts'
import { maxCoercionErrors, variableError } from '../errors/argument-place.ts'
import { clientResult } from '../errors/client-error.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import { problemOfVariables } from '../documents/document-bounds.ts'
import { inTime } from './operation-deadline.ts'
import { queryReport } from './operation-observer.ts'
import { checkPageSizes } from '../reads/page-rows.ts'
import type { PlannedQueries, QueryOptions, QueryOrigin } from './planned-queries.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'

export interface ExecutionOptions extends QueryOptions {
  readonly plans: PlannedQueries
  /** Absent: the schema has no mutations. */
  readonly mutations?: MutationSource | undefined
}

/** The part of an operation's `contextValue` that the transports add. */
export interface OperationOptions extends QueryOrigin {
  /** Whether the answer explains itself in `extensions.explain`. */
  readonly explain?: boolean
  /** The start by `performance.now()`, if earlier than the start of execution. The deadline counts from it. */
  readonly beganMs?: number | undefined
  /** Whether a subscription may write, as `drain` does: not by GET. Default: false. */
  readonly mayWrite?: boolean
}

export interface MutationSource {
  /**
   * Makes all writes before the answer is read. Rejects with `ClientError` if no write may be made. `secretsRead`
   * receives the Secrets whose values the results show, as `cluster/namespace/name`.
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
  const record = { kinds: [] as readonly ClusterKind[], rows: 0 }
  const named = { secrets: new Set<string>(), logged: new Map() }
  const { beganMs = startedMs, viewer, trace } = optionsOf(args)
  const deadline = { deadlineMs: options.limits.operationDeadlineMs, beganMs }
  const answered: AnswerOptions['answered'] = (read) => Object.assign(record, read)
  const result = await inTime(answerOf(served, args, options, { ...named, answered }), deadline)
  const { document } = args
  const asked = getOperationAST(document, args.operationName)
  const query = {
    ...record,
    ...named,
    operation: asked?.operation === OperationTypeNode.MUTATION ? 'mutation' : 'query',
    document,
    operationName: asked?.name?.value,
    viewer,
    trace,
    startedMs,
    errors: result.errors,
  } as const
  if (options.observer !== undefined || trace?.follower !== undefined) {
    const report = queryReport(query)
    options.observer?.answered(report)
    trace?.follower?.answered(report)
  }
  return result
}

type AnswerOptions = Pick<
  Parameters<PlannedQueries['result']>[2],
  'secrets' | 'logged' | 'answered'
> & { readonly secrets: Set<string> }

/** The answer of the plan, or the errors of an operation that is refused as a whole. */
async function answerOf(
  served: ServedSchema,
  args: ExecutionArgs,
  { limits, unexpected, plans, mutations }: ExecutionOptions,
  answer: AnswerOptions,
): Promise<ExecutionResult> {
  const { explain: explains = false, ...origin } = optionsOf(args)
  const refused = (errors: readonly GraphQLError[]): ExecutionResult =>
    clientResult({ errors }, unexpected, origin.trace?.requestId)
  const validated = validatedArgs(served, limits, args)
  if ('errors' in validated) return refused(validated.errors)
  const isMutation = validated.operation.operation === OperationTypeNode.MUTATION
  const write =
    mutations === undefined || !isMutation
      ? undefined
      : async () => await mutations.write(served, validated, optionsOf(args), answer.secrets)
  try {
    return await plans.result(served, validated, { ...answer, origin, explains, write })
  } catch (error) {
    const { errors } = refused([locatedError(error, undefined)])
    return isMutation ? { errors: errors ?? [] } : { errors: errors ?? [], data: null }
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
  if (!('schema' in validated)) {
    return { errors: validated.map((error) => variableError(error, args.document)) }
  }
  const { document, operationName } = args
  const pages = { document, operationName, variables: validated.variableValues }
  const tooLarge = checkPageSizes(served, limits, pages)
  return tooLarge === undefined ? validated : { errors: [tooLarge] }
}

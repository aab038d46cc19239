import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql'
import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import { ReadReport } from '../../query/condition/read-report.ts'
import { ReportingBudget, WorkBudget } from '../../query/condition/work-budget.ts'
import type { ResolverContext, WriteResults } from '../schema/read-context.ts'
import { maxCoercionErrors, variableError } from '../errors/argument-place.ts'
import { clientErrorOf, clientResult } from '../errors/client-error.ts'
import { explain } from './explanation.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import { problemOfVariables } from '../documents/document-bounds.ts'
import type { LoggedObjects } from '../logs/log-request.ts'
import { inTime } from './operation-deadline.ts'
import { type OperationReport, queryReport } from './operation-observer.ts'
import { QueryValues } from '../reads/query-values.ts'
import { checkPageSizes } from '../reads/page-rows.ts'
import {
  type PlannedQueries,
  type QueryOptions,
  type QueryOrigin,
  runQuery,
} from './planned-queries.ts'
import { executePriced } from './priced-executor.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import { ReadRun } from '../reads/read-run.ts'
import { staleKinds } from '../reads/places.ts'
import { StoreReader } from './store-reader.ts'

export interface ExecutionOptions extends QueryOptions {
  /** Names the kinds of an operation. Answers first if the caller wants an explanation. */
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

/** What the report of an operation says about its answer. Filled while the server answers. */
interface AnswerRecord {
  by: OperationReport['by']
  kinds: readonly ClusterKind[]
  rows: number
  readonly secrets: Set<string>
  readonly logged: LoggedObjects
}

/** Answers a query by graphql-js within its deadline, and reports it. */
export async function executeQuery(
  served: ServedSchema,
  args: ExecutionArgs,
  options: ExecutionOptions,
): Promise<ExecutionResult> {
  const startedMs = performance.now()
  const named = { secrets: new Set<string>(), logged: new Map() }
  const record: AnswerRecord = { by: 'graphql-js', kinds: [], rows: 0, ...named }
  const { beganMs = startedMs, viewer, trace } = optionsOf(args)
  const deadline = { deadlineMs: options.limits.operationDeadlineMs, beganMs }
  const result = await inTime(answerOf(served, args, options, record), deadline)
  const { document } = args
  const { errors } = result
  const operationName = getOperationAST(document, args.operationName)?.name?.value
  const operation = isMutation(document, args.operationName) ? 'mutation' : 'query'
  const query = {
    ...record,
    operation,
    document,
    operationName,
    viewer,
    trace,
    startedMs,
    errors,
  } as const
  if (options.observer !== undefined || trace?.follower !== undefined) {
    const report = queryReport(query)
    options.observer?.answered(report)
    trace?.follower?.answered(report)
  }
  return result
}

/**
 * An answer has two halves. Prepare, asynchronous: acquire the kinds of the operation and wait for them. Execute,
 * synchronous: read the stores, so that one answer sees one moment of all kinds. If reads name further kinds, both
 * repeat.
 */
async function answerOf(
  served: ServedSchema,
  args: ExecutionArgs,
  { limits, unexpected, plans, logs, mutations }: ExecutionOptions,
  record: AnswerRecord,
): Promise<ExecutionResult> {
  const { explain: explains = false, ...origin } = optionsOf(args)
  const { secrets, logged } = record
  const masked = { unexpected, requestId: origin.trace?.requestId }
  const validated = validatedArgs(served, limits, args)
  if ('errors' in validated) return seen(validated, [], args.document, masked)
  const planned = await plans.result(served, args, { origin, secrets, logged, explains })
  if (planned !== undefined) {
    record.by = 'plan'
    return planned
  }
  using held = new DisposableStack()
  let writes: WriteResults | undefined
  if (mutations !== undefined && validated.operation.operation === OperationTypeNode.MUTATION) {
    try {
      writes = held.use(await mutations.write(served, validated, optionsOf(args), secrets))
    } catch (error) {
      return seen({ errors: [clientErrorOf(error)] }, [], args.document, masked)
    }
  }
  const kinds = plans.kinds(served, validated)
  record.kinds = kinds
  const query = { served, limits, kinds, origin, secrets, logged, logs }
  return await runQuery(query, async (parts, direct) => {
    const report = explains ? new ReadReport() : undefined
    const budget =
      report === undefined ? new WorkBudget(limits.work) : new ReportingBudget(limits.work, report)
    const failures: GraphQLError[] = []
    const run = new ReadRun({ served, limits, budget, parts, direct })
    const context: ResolverContext = {
      read: new StoreReader(run),
      ...(writes === undefined ? {} : { writes }),
      report: (error) => {
        if (!failures.some((known) => isSameFailure(known, error))) failures.push(error)
      },
    }
    const contextValue = { ...optionsOf(args), ...context }
    const rootValue = new QueryValues(run)
    const result = await executePriced({ ...validated, contextValue, rootValue }, budget)
    for (const error of [...(result.errors ?? []), ...failures]) {
      const index = missingIndexOf(error)
      if (index !== undefined) parts.missed(index)
    }
    // A run that lacks something is repeated.
    if (parts.isLacking) return result
    record.rows = budget.spent('rows')
    const { access } = parts
    const whole = seen(result, failures, args.document, masked)
    const stale = staleKinds(served, parts)
    const { incomplete } = parts
    const isPlain = report === undefined && stale === undefined && incomplete.length === 0
    if (isPlain) return whole
    const extensions = {
      ...whole.extensions,
      ...(stale && { stale }),
      ...(incomplete.length > 0 && { incomplete }),
      ...(report && { explain: explain({ served, report, access, kinds }) }),
    }
    return { ...whole, extensions }
  })
}

function isMutation(document: DocumentNode, operationName: string | null | undefined): boolean {
  return getOperationAST(document, operationName)?.operation === OperationTypeNode.MUTATION
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

/** A result as its client sees it. `failures`: the errors of fields that have a value all the same. */
function seen(
  result: ExecutionResult,
  failures: readonly GraphQLError[],
  document: DocumentNode,
  masked: Pick<QueryOptions, 'unexpected'> & { readonly requestId: string | undefined },
): ExecutionResult {
  const { errors = [], ...withoutErrors } = result
  const all = [...errors.map((error) => variableError(error, document)), ...failures]
  // The specification recommends errors first, so that readers notice them.
  const whole = all.length === 0 ? result : { errors: all, ...withoutErrors }
  return clientResult(whole, masked.unexpected, masked.requestId)
}

/** A failure of one row repeats for every row of a list. Only the first is reported. */
function isSameFailure(a: GraphQLError, b: GraphQLError): boolean {
  return a.originalError === b.originalError && a.nodes?.[0] === b.nodes?.[0]
}

/** The missing index that an error names, so that the next run can build it. */
function missingIndexOf(error: GraphQLError): UnknownIndexError | undefined {
  let inner: unknown = error
  while (inner instanceof GraphQLError) inner = inner.originalError
  return inner instanceof UnknownIndexError ? inner : undefined
}

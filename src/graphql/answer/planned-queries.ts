/*
 * From the text of a query to the text of its answer. The document is parsed and validated once, and its operation is
 * compiled once for each schema. A request coerces its variables, picks the plan's variation, and prepares the kinds that
 * it needs (`prepare/preparation.ts`). Then the plan writes the answer within one tick; a run that lacks something is
 * repeated. Operations that are no queries, or are refused as a whole, go to the pipeline (`execution.ts`).
 */

import {
  type DocumentNode,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  type VariableValues,
} from 'graphql'
import type { CallerToken, Credentials } from '../../access/authentication/authenticator.ts'
import type { Viewer } from '../../access/viewer.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { parseHeld } from '../../informer/codec/projection.ts'
import type { KindLogsArguments } from '../schema/gateway-types.ts'
import { makeTypes } from '../schema/lazy-schema.ts'
import { ReportingBudget, WorkBudget, type WorkLimits } from '../../query/condition/work-budget.ts'
import { ReadReport } from '../../query/condition/read-report.ts'
import {
  clientResult,
  withoutTransportDetails,
  ClientError,
  clientErrorOf,
} from '../errors/client-error.ts'
import { explain } from './explanation.ts'
import { readObjectId } from '../model/object-id.ts'
import { type ClusterKind, clustersNamed, isOverClusters } from '../prepare/kind-view.ts'
import { problemOfVariables, type OperationDocuments } from '../documents/operation-documents.ts'
import { type OperationObserver, type OperationReport, reportQuery } from './operation-observer.ts'
import { type OperationTrace, type PartDetails, within } from '../prepare/operation-trace.ts'
import { checkPageSizes } from '../reads/page-rows.ts'
import type { LoggedObjects } from '../logs/log-request.ts'
import type { PodLogs } from '../logs/pod-logs.ts'
import { queryLane, turns } from '../prepare/user-shares.ts'
import { prepareAndRun, type ReadSnapshot } from '../prepare/preparation.ts'
import { type OperationLimits, restrictedTo, type ServedSchema } from '../served/served-schema.ts'
import { ViewerAccess } from '../prepare/viewer-access.ts'
import { staleKinds } from '../reads/places.ts'
import { DirectReads, type ReadLogs } from '../reads/direct/direct-reads.ts'
import { OperationExtensions } from '../extensions/extension-calls.ts'
import type { FragmentCache } from '../plan/fragment-cache.ts'
import { Plan, PlanVariation } from '../plan/plan.ts'
import { PlanRun, type WriteResults } from '../plan/plan-run.ts'

export interface QueryRequest {
  readonly query: string
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  /** The clusters that it is about, of those that it means: see `restrictedTo`. Absent: all of them. */
  readonly clusters?: readonly string[] | undefined
}

export interface QueryOrigin {
  /** Absent: the server does not authenticate callers, who may see everything. */
  readonly viewer?: Viewer | undefined
  /** The caller's bearer token; absent if they have none. */
  readonly callerToken?: CallerToken | undefined
  /** What the caller has sent to be known as the viewer. Absent: the program has named the viewer, or there is none. */
  readonly sent?: Credentials | undefined
  /** Called when the answer contains data of a Secret, or lines of a log, so no browser may keep it. */
  readonly forbidKeeping?: (() => void) | undefined
  /** The request. Absent: the gateway itself asks. */
  readonly trace?: OperationTrace | undefined
  /** The start by `performance.now()`, if earlier than the call. The deadline counts from it. */
  readonly beganMs?: number | undefined
}

export interface QueryOptions {
  readonly served: () => ServedSchema
  readonly limits: OperationLimits
  readonly documents: OperationDocuments
  readonly observer?: OperationObserver | undefined
  /** Receives errors that clients see masked. */
  readonly unexpected: (error: GraphQLError, requestId?: string) => void
  /** Reads logs; absent: `podLogs` is not served. */
  readonly logs?: Pick<PodLogs, 'read'> | undefined
}

export interface PlannedQueriesOptions extends QueryOptions {
  readonly fragments: FragmentCache
}

interface KnownQuery {
  readonly served: ServedSchema
  readonly document: DocumentNode
  /** The name of the operation itself. */
  readonly name: string | undefined
  readonly plan: Plan<PlanVariation>
  /** Whether some variables may make its pages too large for one operation. */
  readonly mayBeTooLarge: boolean
}

export interface PreparedQuery {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly kinds: readonly ClusterKind[]
  readonly origin: QueryOrigin
  /** The Secrets whose data was read, `cluster/namespace/name`. */
  readonly secrets: Set<string>
  /** Receives the objects whose logs are read. */
  readonly logged?: LoggedObjects | undefined
  /** Absent: `podLogs` is not read. */
  readonly logs?: Pick<PodLogs, 'read'> | undefined
}

/** Prepares a query and runs it, as {@link prepareAndRun} does, with the access and the direct reads of its caller. */
export function runQuery<T>(
  { served, limits, kinds, origin, secrets, logged = new Map(), logs }: PreparedQuery,
  run: (parts: ReadSnapshot, direct: () => DirectReads) => T | Promise<T>,
): T | Promise<T> {
  const { viewer, callerToken: token, forbidKeeping, trace } = origin
  const access = viewer && new ViewerAccess(served, viewer)
  const read = (secret: string): void => {
    secrets.add(secret)
    forbidKeeping?.()
  }
  const held = new DisposableStack()
  const readLogs: ReadLogs | undefined =
    logs &&
    ((args, deadlineMs) => {
      forbidKeeping?.()
      const asked = served.whole === undefined ? args : restrictedLogs(served, args)
      return logs.read(asked, origin, { deadlineMs, held, logged })
    })
  /** Made when a run first reads directly. Most never do. */
  let direct: DirectReads | undefined
  const directReads = (): DirectReads => {
    if (direct !== undefined) return direct
    const extensions = served.isExtended
      ? new OperationExtensions({ served, limits, viewer, callerToken: token })
      : undefined
    const options = { served, limits, access, token, read, logs: readLogs, extensions }
    return (direct = new DirectReads(options))
  }
  const answer = prepareAndRun(kinds, {
    served,
    limits,
    access,
    direct: () => direct,
    lane: queryLane(viewer),
    trace,
    run: (parts) => run(parts, directReads),
  })
  return answer instanceof Promise ? answer.finally(() => held.dispose()) : answer
}

/** The logs of the clusters that an operation is about: their pods come from a subscription, which knows no restriction. */
function restrictedLogs(served: ServedSchema, args: KindLogsArguments): KindLogsArguments {
  const { ids = null, ...others } = args
  if (ids !== null) {
    const isMeant = (id: string): boolean => {
      const cluster = readObjectId(id)?.cluster
      return cluster === undefined || served.clusters.has(cluster)
    }
    return { ...others, ids: ids.filter(isMeant) }
  }
  if (!isOverClusters(args)) return args
  return { ...others, clusters: clustersNamed(served, args), clusterSelector: null }
}

/** Who asks, about which clusters, and what the report of the answer says they read. */
type Asker = Pick<PreparedQuery, 'origin' | 'secrets' | 'logged'> & Pick<QueryRequest, 'clusters'>

interface RunOptions<T> extends Asker {
  /** A new budget for each round, with the limits of the plan. */
  readonly budget: (work: Partial<WorkLimits>) => WorkBudget
  /** Called in the tick of the answer, before anything is read. */
  readonly started?: () => void
  /** The event that a subscription of an extension answers. */
  readonly event?: unknown
  /** The results of a mutation's writes. */
  readonly writes?: WriteResults | undefined
  readonly answered: (answer: WholeAnswer, run: PlanRun, kinds: readonly ClusterKind[]) => T
}

interface ResultOptions extends Asker {
  readonly explains: boolean
  readonly write: (() => Promise<WriteResults>) | undefined
  /** Receives the facts for the report of the operation. */
  readonly answered: (read: Pick<OperationReport, 'rows'> & Pick<PreparedQuery, 'kinds'>) => void
}

interface AskedPlan {
  readonly variation: PlanVariation
  readonly variables: VariableValues
}

interface WholeAnswer {
  readonly text: string
  readonly errors: readonly GraphQLError[]
}

type Parsed = ExecutionResult & { readonly data: Record<string, unknown> | null }

const noDetails: PartDetails = {}

/** Answers queries by their plans. */
export class PlannedQueries {
  readonly #options: PlannedQueriesOptions
  readonly #known = new WeakMap<OperationDefinitionNode, KnownQuery>()

  constructor(options: PlannedQueriesOptions) {
    this.#options = options
  }

  /**
   * The JSON text of the answer, with the errors of its fields. `undefined` if the pipeline has to answer: the operation
   * is not a query, or is refused as a whole. Never rejects. Returns a promise only if there is
   * something to wait for.
   */
  answer(
    request: QueryRequest,
    origin: QueryOrigin = {},
  ): string | undefined | Promise<string | undefined> {
    const find = (): KnownQuery | undefined =>
      within(origin.trace, 'plan', noDetails, () => this.#find(request))
    const { viewer, beganMs = performance.now() } = origin
    const begun = { ...origin, beganMs }
    if (this.#options.documents.has(request.query)) return this.#answer(find(), request, begun)
    // The document may be large, and the user may send many like it, so parsing waits for its turn.
    const lane = queryLane(viewer)
    const answer = () => this.#answer(turns.run(find, lane), request, begun)
    const turn = turns.enter(lane)
    return turn === undefined ? answer() : turn.then(answer)
  }

  /** The requested query; `undefined` if the document is invalid, or the operation is no query. */
  #find({ query, operationName }: QueryRequest): KnownQuery | undefined {
    try {
      const served = this.#options.served()
      const { documents } = this.#options
      const document = documents.parse(query)
      if (documents.validate(served.schema, document).length > 0) return undefined
      const operation = getOperationAST(document, operationName)
      if (operation?.operation !== OperationTypeNode.QUERY) return undefined
      return this.#knownOf(served, document, operation)
    } catch {
      return undefined
    }
  }

  #answer(
    known: KnownQuery | undefined,
    { variables, clusters }: QueryRequest,
    origin: QueryOrigin & Pick<OperationDeadline, 'beganMs'>,
  ): string | undefined | Promise<string | undefined> {
    if (known === undefined) return undefined
    const { limits, observer } = this.#options
    const { document, name: operationName } = known
    const { viewer, trace } = origin
    const startedMs = performance.now()
    const secrets = new Set<string>()
    const logged: LoggedObjects = new Map()
    let isOver = false
    try {
      const asked = this.#asked(known, variables ?? {})
      if (asked === undefined) return undefined
      const answering = this.#run(known, asked, {
        budget: (work) => new WorkBudget(work),
        origin,
        clusters,
        secrets,
        logged,
        answered: ({ text, errors }, { budget }, kinds) => {
          if (!isOver) {
            const query = { document, operationName, viewer, trace, kinds, secrets, logged }
            reportQuery(observer, { ...query, rows: budget.spent('rows'), startedMs, errors })
          }
          return text
        },
      })
      if (!(answering instanceof Promise)) return answering
      const restMs = restOf({ deadlineMs: limits.operationDeadlineMs, beganMs: origin.beganMs })
      return withDeadline('the operation', answering, restMs).catch(() => {
        isOver = true
        return undefined
      })
    } catch {
      // For example, an argument cannot be coerced.
      return undefined
    }
  }

  /**
   * The answer as a result, for a valid operation within its bounds whose variables are coerced. `write` makes the writes
   * of a mutation before anything is read. Rejects with the error of `write`, and with the `ClientError` of the
   * operation.
   */
  async result(
    served: ServedSchema,
    { document, operation, variableValues }: ValidatedExecutionArgs,
    { explains, write, answered, ...asker }: ResultOptions,
  ): Promise<ExecutionResult> {
    const known = this.#knownOf(served, document, operation)
    const variation = known.plan.variation(variableValues)
    using writes = await write?.()
    const cache = this.#options.fragments
    const before = { ...cache.counts }
    let report = new ReadReport()
    return await this.#run(
      known,
      { variation, variables: variableValues },
      {
        ...asker,
        writes,
        budget: (work) =>
          explains ? new ReportingBudget(work, (report = new ReadReport())) : new WorkBudget(work),
        started: () => Object.assign(before, cache.counts),
        answered({ text, errors }, { budget, parts: { access } }, kinds) {
          answered({ kinds, rows: budget.spent('rows') })
          const { data, extensions } = parseHeld(text) as Parsed
          const result = {
            ...(errors.length > 0 && { errors }),
            data,
            ...(extensions && { extensions }),
          }
          if (!explains) return result
          const { hits, misses } = cache.counts
          const fragments = { hits: hits - before.hits, misses: misses - before.misses }
          const explanation = explain({ served, report, access, kinds, fragments })
          return { ...result, extensions: { ...extensions, explain: explanation } }
        },
      },
    )
  }

  /**
   * The JSON text of the answer to one event of a subscription of an extension. Rejects with `ClientError`.
   */
  async answerEvent(
    {
      served,
      document,
      operation,
    }: Pick<KnownQuery, 'served' | 'document'> & { readonly operation: OperationDefinitionNode },
    inputs: Readonly<Record<string, unknown>>,
    event: unknown,
    origin: QueryOrigin,
  ): Promise<string> {
    const known = this.#knownOf(served, document, operation)
    const { limits } = this.#options
    const asked = this.#asked(known, inputs)
    // The subscription began with these variables.
    if (asked === undefined) throw new TypeError('the variables of an event cannot be coerced')
    const answering = this.#run(known, asked, {
      budget: (work) => new WorkBudget(work),
      origin,
      secrets: new Set(),
      event,
      answered: ({ text }) => text,
    })
    const answered = await inTime(() => Promise.resolve(answering), {
      deadlineMs: limits.operationDeadlineMs,
      beganMs: performance.now(),
    })
    if (typeof answered === 'string') return answered
    return JSON.stringify({ errors: answered.errors.map(withoutTransportDetails), data: null })
  }

  /**
   * The plan's variation for a request; `undefined` if the request is refused as a whole. Throws as `Plan.variation`
   * does.
   */
  #asked(
    { served, plan, document, name, mayBeTooLarge }: KnownQuery,
    inputs: Readonly<Record<string, unknown>>,
  ): AskedPlan | undefined {
    if (problemOfVariables(inputs) !== undefined) return undefined
    const coerced = plan.coerce(inputs)
    if ('errors' in coerced) return undefined
    const { variableValues: variables } = coerced
    if (mayBeTooLarge) {
      const pages = { document, operationName: name, variables }
      if (checkPageSizes(served, this.#options.limits, pages) !== undefined) return undefined
    }
    return { variation: plan.variation(variables), variables }
  }

  #run<T extends string | ExecutionResult>(
    known: KnownQuery,
    asked: AskedPlan,
    options: RunOptions<T>,
  ): T | Promise<T> {
    const { clusters } = options
    const served = clusters === undefined ? known.served : restrictedTo(known.served, clusters)
    const { variation, variables } = asked
    const making = variation.readsSchema ? makeTypes(served.schema) : undefined
    if (making !== undefined) return making.then(() => this.#run(known, asked, options))
    const { budget, origin, secrets, logged, started, event, writes, answered } = options
    const { limits, fragments, logs } = this.#options
    const work = variation.work(served, limits.work)
    const kinds = variation.kinds(served, variables, new WorkBudget(work))
    const query = { served, limits, kinds, origin, secrets, logged, logs }
    const answer = runQuery<T | undefined>(query, (parts, direct) => {
      const means = {
        served,
        limits,
        variables,
        budget: budget(work),
        fragments,
        parts,
        direct,
        event,
        writes,
      }
      const run = new PlanRun(means)
      started?.()
      const data = variation.write(run)
      // A run that lacks something is repeated.
      return parts.isLacking
        ? undefined
        : answered(this.#whole(data, run, origin, parts), run, kinds)
    })
    return answer as T | Promise<T>
  }

  /** The answer with the errors of its fields, the kinds that may be out of date, and the kinds with partial caches. */
  #whole(data: string, run: PlanRun, { trace }: QueryOrigin, parts: ReadSnapshot): WholeAnswer {
    const failed = run.errors.all()
    const stale = staleKinds(run.served, parts)
    const { incomplete } = parts
    const isWhole = stale === undefined && incomplete.length === 0
    const extensions = { ...(stale && { stale }), ...(incomplete.length > 0 && { incomplete }) }
    const end = isWhole ? '}' : `,"extensions":${JSON.stringify(extensions)}}`
    if (failed.length === 0) return { text: `{"data":${data}${end}`, errors: [] }
    const { unexpected } = this.#options
    const result = clientResult({ data, errors: failed }, unexpected, trace?.requestId)
    const errors = (result.errors ?? []).map(withoutTransportDetails)
    return { text: `{"errors":${JSON.stringify(errors)},"data":${data}${end}`, errors }
  }

  #knownOf(
    served: ServedSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): KnownQuery {
    let known = this.#known.get(operation)
    if (known?.served === served) return known
    const { documents, limits } = this.#options
    const grown = (bytes: number): void => documents.grown(document, bytes)
    const plan = new Plan(
      served,
      { document, operation, grown },
      (node, compiler) => new PlanVariation(node, compiler),
    )
    const name = operation.name?.value
    const pages = { document, operationName: name, variables: undefined }
    const mayBeTooLarge = checkPageSizes(served, limits, pages) !== undefined
    known = { served, document, name, plan, mayBeTooLarge }
    this.#known.set(operation, known)
    return known
  }
}

/** Over HTTP, the status reports the deadline, too. */
const http = { status: 504 }

/** The time that an operation may take, and its start by `performance.now()`. */
export interface OperationDeadline {
  readonly deadlineMs: number
  readonly beganMs: number
}

function restOf({ deadlineMs, beganMs }: OperationDeadline): number {
  return Math.max(0, beganMs + deadlineMs - performance.now())
}

/**
 * Waits for an answer until its deadline, then answers DEADLINE_EXCEEDED. `late` receives the late answer. An operation whose
 * deadline has passed is not begun.
 */
export async function inTime<T>(
  begin: () => Promise<T>,
  { deadlineMs, beganMs }: OperationDeadline,
  late: (answer: T) => void = () => {},
): Promise<T | { readonly errors: readonly [GraphQLError] }> {
  const passed = new ClientError(
    'DEADLINE_EXCEEDED',
    `the operation took longer than ${deadlineMs} ms`,
    { value: deadlineMs, hint: 'ask for less, or try again in a moment', retryAfterMs: 1_000 },
  )
  const restMs = restOf({ deadlineMs, beganMs })
  const answering = restMs > 0 ? begin() : Promise.reject(passed)
  try {
    return await withDeadline('the operation', answering, restMs, undefined, () => passed)
  } catch (error) {
    if (error !== passed) throw error
    answering.then(late, () => {})
    const { message, extensions } = clientErrorOf(passed)
    return { errors: [new GraphQLError(message, { extensions: { ...extensions, http } })] }
  }
}

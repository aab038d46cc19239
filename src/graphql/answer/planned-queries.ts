import {
  type DocumentNode,
  getOperationAST,
  type GraphQLError,
  type OperationDefinitionNode,
} from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { ReportingBudget, WorkBudget } from '../../query/condition/work-budget.ts'
import { ReadReport } from '../../query/condition/read-report.ts'
import { clientResult, withoutTransportDetails } from '../errors/client-error.ts'
import { explain, type Explanation } from './explanation.ts'
import type { OperationOptions, OperationRequest } from './execution.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import { problemOfVariables } from '../documents/document-bounds.ts'
import type { OperationObserver } from './operation-observer.ts'
import type { OperationDocuments } from '../documents/operation-documents.ts'
import { checkPageSizes } from '../reads/page-rows.ts'
import { queryLane, turns } from '../prepare/operation-turns.ts'
import { prepareAndRun } from '../prepare/preparation.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import { ViewerAccess } from '../prepare/viewer-access.ts'
import { DirectReads } from '../reads/direct/direct-reads.ts'
import type { FragmentCache } from '../plan/fragment-cache.ts'
import { plannedWork } from '../plan/planned-work.ts'
import { compilePlan, type Plan } from '../plan/plan.ts'
import { PlanRun } from '../plan/plan-run.ts'

/** One query of a request. */
export interface QueryRequest {
  readonly query: string
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
}

/** The caller of a query. */
export type QueryOrigin = Pick<OperationOptions, 'viewer' | 'callerToken' | 'secretRead'>

export interface PlannedQueriesOptions {
  /** Returns the schema that is served now. */
  readonly served: () => ServedSchema
  readonly limits: OperationLimits
  readonly documents: OperationDocuments
  readonly fragments: FragmentCache
  readonly observer?: OperationObserver | undefined
  /** Receives errors that clients see masked. */
  readonly unexpected: (error: GraphQLError) => void
}

/** A known operation. */
interface KnownOperation {
  readonly served: ServedSchema
  /** `undefined`: no plan covers the operation. */
  readonly plan: KnownPlan | undefined
}

/** A plan. Some variables may make its pages too large for one operation. */
interface KnownPlan {
  readonly plan: Plan
  readonly document: DocumentNode
  /** The name of the operation itself. */
  readonly name: string | undefined
  readonly mayBeTooLarge: boolean
}

/** An answer by a plan, for the observer. */
interface PlannedAnswer {
  readonly known: KnownPlan
  readonly viewer: Viewer | undefined
  readonly kinds: readonly ClusterKind[]
  readonly budget: WorkBudget
  readonly startedMs: number
  readonly errors: readonly GraphQLError[]
  readonly secrets: readonly string[]
}

/** An answer with its explanation. */
export interface ExplainedText extends WholeAnswer {
  readonly explanation: Explanation
}

/** How one run is paid for, and what becomes of its text. */
interface RunOptions<T> {
  /** A new budget for each round. */
  readonly budget: () => WorkBudget
  readonly origin: QueryOrigin
  /** Receives each Secret whose data was read. */
  readonly secretRead: (secret: string) => void
  /** Called in the tick of the answer, before anything is read. */
  readonly started?: () => void
  readonly answered: (answer: WholeAnswer, kinds: readonly ClusterKind[], budget: WorkBudget) => T
}

/** The JSON text of an answer, with its errors. */
interface WholeAnswer {
  readonly text: string
  readonly errors: readonly GraphQLError[]
}

/** Answers queries by their plans: compiled once per schema, document and operation, run within one tick. */
export class PlannedQueries {
  readonly #options: PlannedQueriesOptions
  readonly #operations = new WeakMap<OperationDefinitionNode, KnownOperation>()

  constructor(options: PlannedQueriesOptions) {
    this.#options = options
  }

  /**
   * The JSON text of the answer, with the errors of its fields. `undefined` if graphql-js has to answer: the operation
   * is not a query, is not covered, or is refused as a whole. Never rejects. Returns a promise only if there is
   * something to wait for.
   */
  answer(
    request: QueryRequest,
    origin: QueryOrigin = {},
  ): string | undefined | Promise<string | undefined> {
    const find = (): KnownOperation | undefined => this.#find(request)
    if (this.#options.documents.has(request.query)) return this.#answer(find(), request, origin)
    // The document may be large, and the user may send many like it, so parsing waits for its turn.
    const lane = queryLane(origin.viewer)
    const answer = () => this.#answer(turns.run(find, lane), request, origin)
    const turn = turns.enter(lane)
    return turn === undefined ? answer() : turn.then(answer)
  }

  /** The requested operation; `undefined` if the document is not valid. */
  #find({ query, operationName }: QueryRequest): KnownOperation | undefined {
    try {
      const served = this.#options.served()
      const { documents } = this.#options
      const document = documents.parse(query)
      if (documents.validate(served.schema, document).length > 0) return undefined
      return this.#operationOf(served, document, operationName)
    } catch {
      return undefined
    }
  }

  #answer(
    operation: KnownOperation | undefined,
    request: QueryRequest,
    origin: QueryOrigin,
  ): string | undefined | Promise<string | undefined> {
    if (operation?.plan === undefined) return undefined
    const { served, plan: known } = operation
    try {
      const startedMs = performance.now()
      const { viewer } = origin
      const secrets: string[] = []
      let isOver = false
      const answering = this.#run(served, known, request.variables ?? {}, {
        budget: () => new WorkBudget(plannedWork(this.#options.limits.work)),
        origin,
        secretRead: (secret) => {
          secrets.push(secret)
          origin.secretRead?.()
        },
        answered: ({ text, errors }, kinds, budget) => {
          if (!isOver) this.#tell({ known, viewer, kinds, budget, startedMs, errors, secrets })
          return text
        },
      })
      if (!(answering instanceof Promise)) return answering
      const { operationDeadlineMs } = this.#options.limits
      return withDeadline('the operation', answering, operationDeadlineMs).catch(() => {
        isOver = true
        return undefined
      })
    } catch {
      // For example, an argument cannot be coerced.
      return undefined
    }
  }

  /** Answers as {@link answer} does, with an explanation. Never rejects. */
  async explain(
    served: ServedSchema,
    { document, operationName, variableValues }: OperationRequest,
    { secretRead, ...origin }: QueryOrigin & { readonly secretRead: (secret: string) => void },
  ): Promise<ExplainedText | undefined> {
    try {
      const known = this.#operationOf(served, document, operationName)?.plan
      if (known === undefined) return undefined
      let report = new ReadReport()
      const access = origin.viewer && new ViewerAccess(served, origin.viewer)
      const { limits, fragments: cache } = this.#options
      const budget = () =>
        new ReportingBudget(plannedWork(limits.work), (report = new ReadReport()))
      const before = { ...cache.counts }
      return await this.#run(served, known, variableValues ?? {}, {
        budget,
        origin,
        secretRead,
        started: () => Object.assign(before, cache.counts),
        answered: ({ text, errors }, kinds) => {
          const { hits, misses } = cache.counts
          const fragments = { hits: hits - before.hits, misses: misses - before.misses }
          return {
            text,
            errors,
            explanation: explain({ served, report, access, kinds, fragments }),
          }
        },
      })
    } catch {
      return undefined
    }
  }

  #tell({ known, viewer, kinds, budget, startedMs, errors, secrets }: PlannedAnswer): void {
    const { observer } = this.#options
    observer?.answered({
      operation: 'query',
      document: known.document,
      operationName: known.name,
      viewer,
      by: 'plan',
      kinds: () => kinds,
      codes: [...new Set(errors.map(({ extensions }) => String(extensions['code'])))],
      secrets,
      rows: budget.spent('rows'),
      durationMs: performance.now() - startedMs,
    })
  }

  #run<T extends string | ExplainedText>(
    served: ServedSchema,
    { plan, document, name, mayBeTooLarge }: KnownPlan,
    inputs: Readonly<Record<string, unknown>>,
    { budget, origin, secretRead, started, answered }: RunOptions<T>,
  ): T | undefined | Promise<T | undefined> {
    const { limits, fragments } = this.#options
    if (problemOfVariables(inputs) !== undefined) return undefined
    const coerced = plan.coerce(inputs)
    if ('errors' in coerced) return undefined
    const { variableValues: variables } = coerced
    if (mayBeTooLarge) {
      const pages = { document, operationName: name, variables }
      if (checkPageSizes(served, limits, pages) !== undefined) return undefined
    }
    const variation = plan.variation(variables)
    const kinds = variation.kinds(served, variables)
    const access = origin.viewer && new ViewerAccess(served, origin.viewer)
    const secrets = { access, token: origin.callerToken, read: secretRead }
    const direct = new DirectReads({ served, limits, access, secrets })
    return prepareAndRun<T | undefined>({ served, limits }, kinds, {
      access,
      direct,
      lane: queryLane(origin.viewer),
      run: (parts) => {
        const paid = budget()
        const all = { served, limits, variables, budget: paid, fragments, parts, direct }
        const run = new PlanRun(all)
        started?.()
        const data = variation.write(run)
        // A run that lacks something is repeated.
        return parts.isLacking ? undefined : answered(this.#whole(data, run), kinds, paid)
      },
    })
  }

  /** The answer with the errors of its fields. */
  #whole(data: string, run: PlanRun): WholeAnswer {
    const failed = run.errors.all()
    if (failed.length === 0) return { text: `{"data":${data}}`, errors: [] }
    const result = clientResult({ data, errors: failed }, this.#options.unexpected)
    const errors = (result.errors ?? []).map(withoutTransportDetails)
    return { text: `{"errors":${JSON.stringify(errors)},"data":${data}}`, errors }
  }

  #operationOf(
    served: ServedSchema,
    document: DocumentNode,
    operationName: string | null | undefined,
  ): KnownOperation | undefined {
    const operation = getOperationAST(document, operationName)
    // An unknown operation name is not cached.
    if (operation === null || operation === undefined) return undefined
    let known = this.#operations.get(operation)
    if (known?.served !== served) {
      known = { served, plan: this.#compiled(served, document, operation) }
      this.#operations.set(operation, known)
    }
    return known
  }

  #compiled(
    served: ServedSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): KnownPlan | undefined {
    const { documents, limits } = this.#options
    const grown = (bytes: number): void => documents.grown(document, bytes)
    const plan = compilePlan(served, { document, operation, grown })
    if (plan === undefined) return undefined
    const name = operation.name?.value
    const pages = { document, operationName: name, variables: undefined }
    const problem = checkPageSizes(served, limits, pages)
    return { plan, document, name, mayBeTooLarge: problem !== undefined }
  }
}

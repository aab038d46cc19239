import { type DocumentNode, getOperationAST } from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import { nextTurn } from '../../lib/next-turn.ts'
import {
  defaultWorkLimits,
  QueryTooCostlyError,
  WorkBudget,
  type WorkLimits,
} from '../../query/condition/work-budget.ts'
import { ReadReport } from '../../query/condition/read-report.ts'
import { ReportingBudget } from '../../query/condition/reporting-budget.ts'
import { explain, type Explanation } from '../operation/explanation.ts'
import type { OperationRequest } from '../operation/execution.ts'
import type { KindAt } from '../operation/kind-part.ts'
import { problemOfVariables } from '../operation/document-bounds.ts'
import { documentCache } from '../operation/document-cache.ts'
import type { OperationObserver } from '../operation/operation-observer.ts'
import type { OperationDocuments } from '../operation/operation-documents.ts'
import { problemOfPages } from '../operation/page-rows.ts'
import { queryLane, turns } from '../operation/operation-turns.ts'
import { settleKinds, type SettledParts } from '../operation/preparation.ts'
import type { OperationLimits, ServedSchema } from '../operation/served-schema.ts'
import { ViewerAccess } from '../operation/viewer-access.ts'
import type { FragmentCache } from './fragment-cache.ts'
import { compilePlan, type Plan } from './plan.ts'
import { PlanRun } from './plan-run.ts'

/** One query, as a request asks for it. */
export interface QueryRequest {
  readonly query: string
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
}

/** Where a request came from, as far as that matters. */
export interface QueryOrigin {
  /** Who asks; absent where nobody is asked who they are, and everything may be seen. */
  readonly viewer?: Viewer | undefined
}

export interface PlannedQueriesOptions {
  /** What is served at the moment. */
  readonly served: () => ServedSchema
  readonly limits: OperationLimits
  readonly documents: OperationDocuments
  readonly fragments: FragmentCache
  readonly observer?: OperationObserver | undefined
}

/** A document that has been asked: its plans, by the name of the operation. */
interface KnownDocument {
  readonly served: ServedSchema
  /** `undefined`: it is not valid, so the pipeline says why. */
  readonly document: DocumentNode | undefined
  readonly plans: Map<string, KnownPlan | undefined>
}

/** A plan, and whether its pages may be too large for one operation, as the variables of a request will tell. */
interface KnownPlan {
  readonly plan: Plan
  readonly document: DocumentNode
  readonly operationName: string | null | undefined
  /** The operation's own. */
  readonly name: string | undefined
  readonly mayBeTooLarge: boolean
}

/** What is known of an answer by a plan. */
interface PlannedAnswer {
  readonly known: KnownPlan
  readonly viewer: Viewer | undefined
  readonly kinds: readonly KindAt[]
  readonly budget: WorkBudget
  readonly startedMs: number
}

/** An answer, and how it was come by. */
export interface ExplainedText {
  readonly text: string
  readonly explanation: Explanation
}

/** What one run is paid from, and what becomes of its text. */
interface RunOptions<T> {
  /** One for each round. */
  readonly budget: () => WorkBudget
  /** Who asks; `undefined` where everything may be seen. */
  readonly viewer: Viewer | undefined
  /** Called in the tick of the answer, before anything is read. */
  readonly started?: () => void
  readonly answered: (text: string, kinds: readonly KindAt[], budget: WorkBudget) => T
}

/** Answers queries by their plans: compiled once per schema, document and operation, run within one tick. */
export class PlannedQueries {
  readonly #options: PlannedQueriesOptions
  readonly #documents = documentCache<KnownDocument>()

  constructor(options: PlannedQueriesOptions) {
    this.#options = options
  }

  /**
   * The JSON text of the answer; `undefined` where graphql-js has to answer: what is no query, is not covered, or has an
   * error to tell. Never rejects. A promise only where a kind has to be waited for.
   */
  answer(
    request: QueryRequest,
    { viewer }: QueryOrigin = {},
  ): string | undefined | Promise<string | undefined> {
    try {
      const served = this.#options.served()
      const known = this.#planOf(served, request)
      if (known === undefined) return undefined
      const startedMs = performance.now()
      return this.#run(served, known, request.variables ?? {}, {
        budget: () => new WorkBudget(plannedWork(this.#options.limits.work)),
        viewer,
        answered: (text, kinds, budget) => {
          this.#tell({ known, viewer, kinds, budget, startedMs })
          return text
        },
      })
    } catch {
      // Such as an argument that cannot be coerced.
      return undefined
    }
  }

  /** Answers as {@link answer} does, and tells how. Never rejects. */
  async explain(
    served: ServedSchema,
    { document, operationName, variableValues }: OperationRequest,
    viewer: Viewer | undefined,
  ): Promise<ExplainedText | undefined> {
    try {
      const known = this.#compiled(served, document, operationName)
      if (known === undefined) return undefined
      let report = new ReadReport()
      const access = viewer && new ViewerAccess(served, viewer)
      const { limits, fragments: cache } = this.#options
      const budget = () =>
        new ReportingBudget(plannedWork(limits.work), (report = new ReadReport()))
      const before = { ...cache.counts }
      return await this.#run(served, known, variableValues ?? {}, {
        budget,
        viewer,
        started: () => Object.assign(before, cache.counts),
        answered: (text, kinds) => {
          const { hits, misses } = cache.counts
          const fragments = { hits: hits - before.hits, misses: misses - before.misses }
          return { text, explanation: explain({ served, report, access, kinds, fragments }) }
        },
      })
    } catch {
      return undefined
    }
  }

  #tell({ known, viewer, kinds, budget, startedMs }: PlannedAnswer): void {
    const { observer } = this.#options
    observer?.answered({
      operation: 'query',
      document: known.document,
      operationName: known.name,
      viewer,
      by: 'plan',
      kinds: () => kinds,
      codes: [],
      rows: budget.spent('rows'),
      durationMs: performance.now() - startedMs,
    })
  }

  #run<T extends string | ExplainedText>(
    served: ServedSchema,
    { plan, document, operationName, mayBeTooLarge }: KnownPlan,
    inputs: Readonly<Record<string, unknown>>,
    { budget, viewer, started, answered }: RunOptions<T>,
  ): T | undefined | Promise<T | undefined> {
    const { limits, fragments } = this.#options
    if (problemOfVariables(inputs) !== undefined) return undefined
    const coerced = plan.coerce(inputs)
    if ('errors' in coerced) return undefined
    const { variableValues: variables } = coerced
    if (mayBeTooLarge) {
      const pages = { document, operationName, variables }
      if (problemOfPages(served, limits, pages) !== undefined) return undefined
    }
    const variation = plan.variation(variables)
    const kinds = variation.kinds(served, variables)
    const answer = (parts: SettledParts): T | undefined | Promise<T | undefined> => {
      const paid = budget()
      const run = new PlanRun({ served, limits, variables, budget: paid, fragments, parts })
      let next: ReturnType<SettledParts['more']>
      try {
        started?.()
        const text = variation.write(run)
        if (!parts.isLacking) return answered(text, kinds, paid)
        next = parts.more()
        if (next === undefined) return undefined
      } catch (error) {
        next = parts.more()
        // Whatever it is, graphql-js finds it too, and says which field it belongs to. Where that is as costly as this was
        // whoever waits comes first.
        if (next === undefined) {
          return error instanceof QueryTooCostlyError ? nextTurn().then(() => undefined) : undefined
        }
      } finally {
        if (next === undefined) parts.release()
      }
      // The kinds of owners, for one, are known by what is read.
      return next instanceof Promise ? next.then(inTurn) : answer(next)
    }
    const lane = queryLane(viewer)
    const inTurn = (parts: SettledParts): T | undefined | Promise<T | undefined> => {
      const turn = turns.enter(lane)
      const work = () => turns.run(() => answer(parts))
      return turn === undefined ? work() : turn.then(work)
    }
    const settled = settleKinds({ served, limits }, kinds, viewer)
    return settled instanceof Promise ? settled.then(inTurn) : inTurn(settled)
  }

  #planOf(served: ServedSchema, { query, operationName }: QueryRequest): KnownPlan | undefined {
    let known = this.#documents.get(query)
    if (known?.served !== served) {
      known = { served, document: this.#validDocument(served, query), plans: new Map() }
      this.#documents.set(query, known)
    }
    const { document, plans } = known
    if (document === undefined) return undefined
    const name = operationName ?? ''
    if (!plans.has(name)) plans.set(name, this.#compiled(served, document, operationName))
    return plans.get(name)
  }

  #compiled(
    served: ServedSchema,
    document: DocumentNode,
    operationName: string | null | undefined,
  ): KnownPlan | undefined {
    const plan = compilePlan(served, document, operationName)
    if (plan === undefined) return undefined
    const pages = { document, operationName, variables: undefined }
    const problem = problemOfPages(served, this.#options.limits, pages)
    const name = getOperationAST(document, operationName)?.name?.value
    return { plan, document, operationName, name, mayBeTooLarge: problem !== undefined }
  }

  #validDocument(served: ServedSchema, query: string): DocumentNode | undefined {
    try {
      const { documents } = this.#options
      const document = documents.parse(query)
      return documents.validate(served.schema, document).length === 0 ? document : undefined
    } catch {
      return undefined
    }
  }
}

/**
 * What a plan may do in the time that its limits stand for: a row whose texts are kept is joined in a twentieth of the time that
 * graphql-js takes for one, a field that is missed is written in a fifth, and a character of the answer in half.
 */
export function plannedWork(work: Partial<WorkLimits>): WorkLimits {
  const limits = { ...defaultWorkLimits, ...work }
  const { rows, fields, bytes } = limits
  return { ...limits, rows: rows * 15, fields: fields * 5, bytes: bytes * 2 }
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DocumentNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import {
  defaultWorkLimits,
  QueryTooCostlyError,
  WorkBudget,
  type WorkLimits,
} from '../../query/condition/work-budget.ts'
import type { KindAt, KindPart } from '../operation/kind-part.ts'
import {
  parseDocument,
  problemOfVariables,
  validateDocument,
} from '../operation/document-bounds.ts'
import { settleKinds, type SettledParts, turns } from '../operation/preparation.ts'
import type { OperationLimits, ServedSchema } from '../operation/served-schema.ts'
import type { FragmentCache } from './fragment-cache.ts'
import { compilePlan, type Plan } from './plan.ts'
import { PlanRun } from './plan-run.ts'

/** One query, as a request asks for it. */
export interface QueryRequest {
  readonly query: string
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
}

export interface PlannedQueriesOptions {
  /** What is served at the moment. */
  readonly served: () => ServedSchema
  readonly limits: OperationLimits
  readonly fragments: FragmentCache
}

/** The documents that have been asked, in UTF-16 units; what they become takes some thirty times as much. */
const maxDocumentUnits = 1_000_000
const maxDocuments = 1_000

/** A document that has been asked: its plans, by the name of the operation. */
interface KnownDocument {
  readonly served: ServedSchema
  /** `undefined`: it is not valid, so the pipeline says why. */
  readonly document: DocumentNode | undefined
  readonly plans: Map<string, Plan | undefined>
}

/** Answers queries by their plans: compiled once per schema, document and operation, run within one tick. */
export class PlannedQueries {
  readonly #options: PlannedQueriesOptions
  readonly #documents = new LRUCache<string, KnownDocument>({
    max: maxDocuments,
    maxSize: maxDocumentUnits,
    sizeCalculation: (_, source) => source.length + 1,
  })

  constructor(options: PlannedQueriesOptions) {
    this.#options = options
  }

  /**
   * The JSON text of the answer; `undefined` where graphql-js has to answer: what is no query, is not covered, or has an
   * error to tell. Never rejects. A promise only where a kind has to be waited for.
   */
  answer(request: QueryRequest): string | undefined | Promise<string | undefined> {
    try {
      const served = this.#options.served()
      const plan = this.#planOf(served, request)
      if (problemOfVariables(request.variables ?? {}) !== undefined) return undefined
      const variables = plan?.coerce(request.variables ?? {})
      if (plan === undefined || variables === undefined || 'errors' in variables) return undefined
      const { variableValues } = variables
      const variation = plan.variation(variableValues)
      const { limits, fragments } = this.#options
      const answer = (parts: SettledParts): string | undefined | Promise<undefined> => {
        const budget = new WorkBudget(plannedWork(limits.work))
        const part = (at: KindAt): KindPart => parts.part(at)
        const run = new PlanRun({
          served,
          limits,
          variables: variableValues,
          budget,
          fragments,
          part,
        })
        try {
          return variation.write(run)
        } catch (error) {
          // Whatever it is, graphql-js finds it too, and says which field it belongs to. Where that is as costly as this was
          // whoever waits comes first.
          return error instanceof QueryTooCostlyError ? nextTurn().then(() => undefined) : undefined
        } finally {
          parts.release()
        }
      }
      const inTurn = (parts: SettledParts) => {
        const turn = turns.enter()
        const work = () => turns.run(() => answer(parts))
        return turn === undefined ? work() : turn.then(work)
      }
      const settled = settleKinds({ served, limits }, variation.kinds(served, variableValues))
      return settled instanceof Promise ? settled.then(inTurn) : inTurn(settled)
    } catch {
      // Such as an argument that cannot be coerced.
      return undefined
    }
  }

  #planOf(served: ServedSchema, { query, operationName }: QueryRequest): Plan | undefined {
    let known = this.#documents.get(query)
    if (known?.served !== served) {
      known = { served, document: this.#validDocument(served, query), plans: new Map() }
      this.#documents.set(query, known)
    }
    const { document, plans } = known
    if (document === undefined) return undefined
    const name = operationName ?? ''
    if (!plans.has(name)) plans.set(name, compilePlan(served, document, operationName))
    return plans.get(name)
  }

  #validDocument(served: ServedSchema, query: string): DocumentNode | undefined {
    try {
      const document = parseDocument(query, this.#options.limits.maxTokens)
      return validateDocument(served.schema, document).length === 0 ? document : undefined
    } catch {
      return undefined
    }
  }
}

/**
 * What a plan may do in the time that its limits stand for: a row whose texts are kept is joined in a twentieth of the time that
 * graphql-js takes for one, a field that is missed is written in a fifth, and a character of the answer in half.
 */
function plannedWork(work: Partial<WorkLimits>): WorkLimits {
  const limits = { ...defaultWorkLimits, ...work }
  const { rows, fields, bytes } = limits
  return { ...limits, rows: rows * 15, fields: fields * 5, bytes: bytes * 2 }
}

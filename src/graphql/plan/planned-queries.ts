import { type DocumentNode, validate } from 'graphql'
import { LRUCache } from 'lru-cache'
import {
  defaultWorkLimits,
  WorkBudget,
  type WorkLimits,
} from '../../query/condition/work-budget.ts'
import type { KindAt, KindParts } from '../operation/kind-part.ts'
import type { SettledParts } from '../operation/preparation.ts'
import type { OperationLimits, ServedSchema } from '../operation/served-schema.ts'
import type { FragmentCache } from './fragment-cache.ts'
import { compilePlan, type Plan, type PlanVariation } from './plan.ts'
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
  /** Parses within bounds; throws the GraphQLError of a document that is none. */
  readonly parse: (source: string) => DocumentNode
  /** Starts what is needed and waits for it; a promise only where there is something to wait for. */
  readonly settle: (
    served: ServedSchema,
    kinds: readonly KindAt[],
  ) => SettledParts | Promise<SettledParts>
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
  readonly #budget: Partial<WorkLimits>
  readonly #documents = new LRUCache<string, KnownDocument>({
    max: maxDocuments,
    maxSize: maxDocumentUnits,
    sizeCalculation: (_, source) => source.length + 1,
  })

  constructor(options: PlannedQueriesOptions) {
    this.#options = options
    this.#budget = plannedWork()
  }

  /**
   * The JSON text of the answer; `undefined` where graphql-js has to answer: what is no query, is not covered, or has an
   * error to tell. Never rejects. A promise only where a kind has to be waited for.
   */
  answer(request: QueryRequest): string | undefined | Promise<string | undefined> {
    try {
      const served = this.#options.served()
      const plan = this.#planOf(served, request)
      const variables = plan?.coerce(request.variables ?? {})
      if (plan === undefined || variables === undefined || 'errors' in variables) return undefined
      const variation = plan.variation(variables.variableValues)
      const run = (parts: KindParts): PlanRun =>
        new PlanRun({
          served,
          limits: this.#options.limits,
          variables: variables.variableValues,
          budget: new WorkBudget(this.#budget),
          fragments: this.#options.fragments,
          part: (at) => parts.part(at),
        })
      const kinds = variation.kinds(run(nothingSettled))
      const settled = this.#options.settle(served, kinds)
      return settled instanceof Promise
        ? settled.then((parts) => write(variation, run(parts), parts)).catch(() => undefined)
        : write(variation, run(settled), settled)
    } catch {
      // Whatever it is, graphql-js finds it too, and says which field it belongs to.
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
      const document = this.#options.parse(query)
      return validate(served.schema, document).length === 0 ? document : undefined
    } catch {
      return undefined
    }
  }
}

function write(variation: PlanVariation, run: PlanRun, parts: SettledParts): string | undefined {
  try {
    return variation.write(run)
  } catch {
    return undefined
  } finally {
    parts.release()
  }
}

const nothingSettled: KindParts = {
  part() {
    throw new TypeError('nothing has been settled')
  },
}

/** Plans write a row in a fifth, and a field in a quarter, of the time that graphql-js takes. */
function plannedWork(): Partial<WorkLimits> {
  const { rows, fields } = defaultWorkLimits
  return { rows: rows * 5, fields: fields * 4 }
}

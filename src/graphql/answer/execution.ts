import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql'
import type { CallerToken } from '../../access/authentication/authenticator.ts'
import type { Viewer } from '../../access/viewer.ts'
import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import { parseExact } from '../../lib/json.ts'
import { ReadReport } from '../../query/condition/read-report.ts'
import { ReportingBudget, WorkBudget } from '../../query/condition/work-budget.ts'
import type { ResolverContext } from '../schema/read-context.ts'
import { maxCoercionErrors, variableError } from '../errors/argument-place.ts'
import { clientResult } from '../errors/client-error.ts'
import { explain, type Explanation } from './explanation.ts'
import { operationKinds, type OperationToRead } from '../reads/operation-kinds.ts'
import { queryLane } from '../prepare/operation-turns.ts'
import { problemOfVariables } from '../documents/document-bounds.ts'
import { fleetOf } from '../reads/fleet-state.ts'
import { DirectReads } from '../reads/direct/direct-reads.ts'
import { answerIntrospection } from './introspection.ts'
import type { OperationDocuments } from '../documents/operation-documents.ts'
import type { OperationRecord } from './operation-record.ts'
import { permissionsOf } from '../reads/permissions.ts'
import { checkPageSizes } from '../reads/page-rows.ts'
import { prepareAndRun } from '../prepare/preparation.ts'
import { executePriced } from './priced-executor.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import type { SecretReader } from '../reads/direct/direct-secrets.ts'
import { ReadRun } from '../reads/read-run.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import { StoreReader } from './store-reader.ts'
import { ViewerAccess } from '../prepare/viewer-access.ts'

export interface ExecutionOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly documents: OperationDocuments
  /** Receives errors that clients see masked. */
  readonly unexpected: (error: GraphQLError) => void
  /** Answers first if the caller wants an explanation. */
  readonly plans?: ExplainingPlans | undefined
}

/** An operation as it was sent: parsed and validated, its variables not yet coerced. */
export type OperationRequest = Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>

/** Answers by plans, with an explanation. */
export interface ExplainingPlans {
  /** `undefined` if no plan answers. Never rejects. */
  explain(
    served: ServedSchema,
    request: OperationRequest,
    origin: Pick<OperationOptions, 'viewer' | 'callerToken'> & {
      /** Receives each Secret whose data was read. */
      readonly secretRead: (secret: string) => void
    },
  ): Promise<
    | {
        readonly text: string
        readonly errors: readonly GraphQLError[]
        readonly explanation: Explanation
      }
    | undefined
  >
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
    origin: Pick<OperationOptions, 'viewer' | 'beganMs'>,
  ): Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult>
}

/** What the transports add to the `contextValue` of an operation. */
export interface OperationOptions {
  /** Whether the answer explains itself in `extensions.explain`. */
  readonly explain?: boolean
  /** Absent: the server does not authenticate callers, and everything may be seen. */
  readonly viewer?: Viewer | undefined
  /** The caller's bearer token; absent if they have none. */
  readonly callerToken?: CallerToken | undefined
  /** The start by `performance.now()`, if earlier than the start of execution. The deadline counts from it. */
  readonly beganMs?: number | undefined
  /** Called when the answer contains data of a Secret, so it must not be cached. */
  readonly secretRead?: (() => void) | undefined
}

/**
 * An operation has two halves. Prepare, asynchronous: acquire its kinds and wait for them. Execute, synchronous: read
 * the stores, so that one answer sees one moment of all kinds. If the kinds depend on data, both repeat.
 */
export class Execution {
  readonly #options: ExecutionOptions

  constructor(options: ExecutionOptions) {
    this.#options = options
  }

  /** Answers a query. */
  async execute(args: ExecutionArgs, record?: OperationRecord): Promise<ExecutionResult> {
    const validated = this.#validated(args)
    const seen = (result: ExecutionResult): ExecutionResult =>
      this.#seen({ result, failures: [] }, args.document)
    if ('errors' in validated) return seen(validated)
    const planned = isExplained(args) ? await this.#explainedPlan(args, record) : undefined
    if (planned !== undefined) {
      record?.planned()
      return planned
    }
    const { limits, documents } = this.#options
    const introspected = await answerIntrospection(validated, limits.work, documents)
    if (introspected !== undefined) return seen(introspected)
    record?.reads(() => operationKinds(this.#options.served, validated))
    const access = this.#accessOf(args)
    const options = args.contextValue as OperationOptions | undefined
    const direct = this.#directReads(access, {
      access,
      token: options?.callerToken,
      read: (secret) => this.#secretRead(secret, options, record),
    })
    const { served } = this.#options
    const lane = queryLane(access?.viewer)
    const answered = await prepareAndRun(this.#options, operationKinds(served, validated), {
      access,
      direct,
      lane,
      run: async (snapshot) => {
        const { contextValue, failures, budget } = this.#context({ args, snapshot, direct })
        const result = await executePriced({ ...validated, contextValue }, budget)
        noteMissed(snapshot, result, failures)
        record?.spent(budget)
        return { result: this.#explained(result, validated, { budget, access }), failures }
      },
    })
    return this.#seen(answered, args.document)
  }

  #secretRead(
    secret: string,
    options: OperationOptions | undefined,
    record: OperationRecord | undefined,
  ): void {
    record?.readSecret(secret)
    options?.secretRead?.()
  }

  async #explainedPlan(
    args: ExecutionArgs,
    record: OperationRecord | undefined,
  ): Promise<ExecutionResult | undefined> {
    const { plans, served } = this.#options
    const options = args.contextValue as OperationOptions | undefined
    const planned = await plans?.explain(served, args, {
      ...options,
      secretRead: (secret) => this.#secretRead(secret, options, record),
    })
    if (planned === undefined) return undefined
    const { data } = parseExact(planned.text) as Required<ExecutionResult>
    const { errors, explanation } = planned
    return { ...(errors.length > 0 && { errors }), data, extensions: { explain: explanation } }
  }

  #explained(
    result: ExecutionResult,
    operation: OperationToRead,
    {
      budget,
      access,
    }: Pick<ExecutionContext, 'budget'> & { readonly access: ViewerAccess | undefined },
  ): ExecutionResult {
    const { report } = budget
    if (report === undefined) return result
    const { served } = this.#options
    const explanation = explain({
      served,
      report,
      access,
      kinds: operationKinds(served, operation),
    })
    return { ...result, extensions: { ...result.extensions, explain: explanation } }
  }

  /** The operation with its variables coerced, once, or the errors that need no preparation. */
  #validated(args: ExecutionArgs): ValidatedExecutionArgs | Refused {
    const problem = problemOfVariables(args.variableValues ?? {})
    if (problem !== undefined) return { errors: [problem] }
    const options = { ...args.options, maxCoercionErrors }
    const validated = validateExecutionArgs({ ...args, options })
    if (!('schema' in validated)) return { errors: validated }
    const { document, operationName } = args
    const { served, limits } = this.#options
    const pages = { document, operationName, variables: validated.variableValues }
    const tooLarge = checkPageSizes(served, limits, pages)
    return tooLarge === undefined ? validated : { errors: [tooLarge] }
  }

  /** The access of the viewer; `undefined`: everything may be seen. */
  #accessOf(args: ExecutionArgs): ViewerAccess | undefined {
    const viewer = viewerOf(args)
    return viewer === undefined ? undefined : new ViewerAccess(this.#options.served, viewer)
  }

  /** The direct reads of one answer, shared by its fields. */
  #directReads(access: ViewerAccess | undefined, secrets?: SecretReader): DirectReads {
    const { served, limits } = this.#options
    return new DirectReads({ served, limits, access, secrets })
  }

  /** The context of the resolvers, and the failures that they report besides those that they throw. */
  #context({ args, snapshot, direct }: ContextParts): ExecutionContext {
    const { contextValue } = args
    const { served, limits } = this.#options
    const budget = isExplained(args)
      ? new ReportingBudget(limits.work, new ReadReport())
      : new WorkBudget(limits.work)
    const failures: GraphQLError[] = []
    const context: ResolverContext = {
      read: new StoreReader(new ReadRun({ served, limits, budget, parts: snapshot, direct })),
      fleet: fleetOf(served, snapshot),
      permissions: permissionsOf(served, { parts: snapshot, budget }),
      report: (error) => {
        if (!failures.some((known) => isSameFailure(known, error))) failures.push(error)
      },
    }
    const all = { ...(contextValue as object | undefined), ...context }
    return { contextValue: all, failures, budget }
  }

  #seen({ result, failures }: Answered, document: DocumentNode): ExecutionResult {
    const { errors = [], ...withoutErrors } = result
    const all = [...errors.map((error) => variableError(error, document)), ...failures]
    // The specification recommends errors first, so that readers notice them.
    const whole = all.length === 0 ? result : { errors: all, ...withoutErrors }
    return clientResult(whole, this.#options.unexpected)
  }
}

function viewerOf({ contextValue }: ExecutionArgs): Viewer | undefined {
  return (contextValue as OperationOptions | undefined)?.viewer
}

function isExplained({ contextValue }: ExecutionArgs): boolean {
  return (contextValue as OperationOptions | undefined)?.explain === true
}

/** An operation that is refused before it is prepared. */
interface Refused {
  readonly errors: readonly GraphQLError[]
}

/** The parts that make the context of one execution. */
interface ContextParts {
  readonly args: ExecutionArgs
  readonly snapshot: ReadSnapshot
  readonly direct: DirectReads
}

/** The context of one execution: the reads of the resolvers, their failures, and the budget. */
interface ExecutionContext {
  readonly contextValue: ResolverContext & object
  readonly failures: GraphQLError[]
  readonly budget: WorkBudget
}

/** A result, and the errors of fields that have a value all the same. */
interface Answered {
  readonly result: ExecutionResult
  readonly failures: readonly GraphQLError[]
}

/** A failure of one row repeats for every row of a list. Only the first is reported. */
function isSameFailure(a: GraphQLError, b: GraphQLError): boolean {
  return a.originalError === b.originalError && a.nodes?.[0] === b.nodes?.[0]
}

/** Notes the missing indexes that errors name, so that the next run can build them. */
function noteMissed(
  snapshot: ReadSnapshot,
  { errors = [] }: ExecutionResult,
  failures: readonly GraphQLError[] = [],
): void {
  for (const error of [...errors, ...failures]) {
    let inner: unknown = error
    while (inner instanceof GraphQLError) inner = inner.originalError
    if (inner instanceof UnknownIndexError) snapshot.missed(inner)
  }
}

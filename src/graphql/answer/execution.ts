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
  /** Told of errors that clients see masked. */
  readonly unexpected: (error: GraphQLError) => void
  /** Asked first where an answer is to be explained. */
  readonly plans?: ExplainingPlans | undefined
}

/** An operation as it was sent: parsed and validated, its variables not yet coerced. */
export type OperationRequest = Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>

/** Answers by plans, and tells how. */
export interface ExplainingPlans {
  /** `undefined` where no plan answers; never rejects. */
  explain(
    served: ServedSchema,
    request: OperationRequest,
    origin: Pick<OperationOptions, 'viewer' | 'callerToken'> & {
      /** Is told of each Secret whose data was read. */
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

/** Answers subscriptions whose documents have been parsed and validated. */
export interface SubscriptionSource {
  /** Resolves to the frames, or to why there are none. Never rejects. */
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

/** What the transports say of an operation in its `contextValue`, besides what is theirs. */
export interface OperationOptions {
  /** Whether the answer is to say in `extensions.explain` how it was come by. */
  readonly explain?: boolean
  /** Who asks; absent where nobody is asked who they are, and everything may be seen. */
  readonly viewer?: Viewer | undefined
  /** What they have shown; absent where it is no bearer token. */
  readonly callerToken?: CallerToken | undefined
  /** When it began, as `performance.now()` told, where that was before it came here: its deadline counts from then. */
  readonly beganMs?: number | undefined
  /** Told when the answer holds what a Secret holds: nobody may keep it. */
  readonly secretRead?: (() => void) | undefined
}

/**
 * The two halves of an operation. Prepare, asynchronous: acquire its kinds and wait for them. Execute, synchronous: read
 * the stores, so that one answer sees one moment of all kinds. Where the kinds depend on data, both are done again.
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

  /** The operation with its variables coerced, which is done once; or what can be told before anything is prepared. */
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

  /** What whoever asks may see; `undefined`: everything. */
  #accessOf(args: ExecutionArgs): ViewerAccess | undefined {
    const viewer = viewerOf(args)
    return viewer === undefined ? undefined : new ViewerAccess(this.#options.served, viewer)
  }

  /** One for each answer, whose fields share what is read directly. */
  #directReads(access: ViewerAccess | undefined, secrets?: SecretReader): DirectReads {
    const { served, limits } = this.#options
    return new DirectReads({ served, limits, access, secrets })
  }

  /** What the resolvers read, and what they report besides what they throw. */
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
    // The specification wants errors first, so that they are seen.
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

/** What is refused before anything is prepared. */
interface Refused {
  readonly errors: readonly GraphQLError[]
}

/** What the context of one execution is made of. */
interface ContextParts {
  readonly args: ExecutionArgs
  readonly snapshot: ReadSnapshot
  readonly direct: DirectReads
}

/** What one execution is given: what its resolvers read, where they report to, and what it may cost. */
interface ExecutionContext {
  readonly contextValue: ResolverContext & object
  readonly failures: GraphQLError[]
  readonly budget: WorkBudget
}

/** A result, and the errors of its fields that did not end them. */
interface Answered {
  readonly result: ExecutionResult
  readonly failures: readonly GraphQLError[]
}

/** What fails for one row of a list fails for all of them: it is told once, at the first. */
function isSameFailure(a: GraphQLError, b: GraphQLError): boolean {
  return a.originalError === b.originalError && a.nodes?.[0] === b.nodes?.[0]
}

/** Collects the missing indexes that errors name, so that they are made before the next run. */
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

/*
 * The steps of every operation, over HTTP, WebSocket or within the process: parse, validate, then execute or subscribe.
 * Refused documents are reported here. An operation without a viewer is refused if viewers are required. A query or a
 * mutation is executed in the form of graphql-js: its arguments are checked and coerced first; a mutation makes its
 * writes; the plan writes the answer, which is parsed into a result. The whole has a deadline, and is reported to
 * observers. The plugin at the end gives these steps to graphql-yoga.
 */

import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FormattedExecutionResult,
  getOperationAST,
  GraphQLError,
  locatedError,
  OperationTypeNode,
  print,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
  type GraphQLSchema,
  Kind as NodeKind,
  type Source,
} from 'graphql'
import { parseHeld } from '../../informer/codec/projection.ts'
import type { WriteResults } from '../plan/plan-run.ts'
import {
  maxCoercionErrors,
  variableError,
  clientResult,
  ClientError,
  clientErrorOf,
  refusalOf,
  requestError,
} from '../errors/client-error.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import { problemOfVariables } from '../documents/operation-documents.ts'
import {
  inTime,
  type PlannedQueries,
  type QueryOptions,
  type QueryOrigin,
  type QueryRequest,
} from './planned-queries.ts'
import { refusedDocument, reportQuery } from './operation-observer.ts'
import { checkPageSizes } from '../reads/page-rows.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import { noViewer, isOfCaller } from '../../access/authentication/authenticator.ts'
import type { SchemaHistory } from '../served/schema-history.ts'
import type { LoggedObjects } from '../logs/log-request.ts'
import type { Plugin } from 'graphql-yoga'
import { getOrInsert } from '../../lib/get-or-insert.ts'

/** The part of an operation's `contextValue` that the transports add. */
export interface OperationOptions extends QueryOrigin {
  /** Whether the answer explains itself in `extensions.explain`. */
  readonly explain?: boolean
  /** The clusters that it is about, of those that it means. Absent: all of them. */
  readonly clusters?: readonly string[] | undefined
  /** Whether this gateway answers by itself, whatever other gateways hold. */
  readonly isOwn?: boolean
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

export interface OperationStepsOptions extends QueryOptions {
  readonly plans: PlannedQueries
  /**
   * The answer, JSON text, if other gateways hold clusters that the operation is about; `undefined` if this gateway has to
   * answer. Never rejects. Absent: this gateway holds all clusters.
   */
  readonly elsewhere?:
    | ((
        request: QueryRequest & { readonly explains: boolean },
        origin: OperationOptions,
      ) => Promise<string | undefined>)
    | undefined
  readonly live: SubscriptionSource
  /** Absent: the schema has no mutations. */
  readonly mutations?: MutationSource | undefined
  /** Earlier states of the schema. */
  readonly history: SchemaHistory
  /** Whether an operation without a viewer is refused. */
  readonly requireViewer: boolean
}

type Asker = Pick<OperationOptions, 'viewer' | 'trace'>

export class OperationSteps {
  readonly #options: OperationStepsOptions

  constructor(options: OperationStepsOptions) {
    this.#options = options
  }

  get served(): ServedSchema {
    return this.#options.served()
  }

  /** Throws a GraphQLError for a text that is no document, or too large. */
  parse(text: string, asker: Asker): DocumentNode {
    try {
      return this.#options.documents.parse(text)
    } catch (error) {
      if (error instanceof GraphQLError) this.#rejected(text, [error], asker)
      throw error
    }
  }

  /** The first errors of a document, as a client sees them. */
  validate(schema: GraphQLSchema, document: DocumentNode, asker: Asker): readonly GraphQLError[] {
    const { documents, history } = this.#options
    const isMutation = document.definitions.some(
      (one) =>
        one.kind === NodeKind.OPERATION_DEFINITION && one.operation === OperationTypeNode.MUTATION,
    )
    const errors =
      isMutation && !schema.getMutationType()
        ? [
            clientErrorOf(
              new ClientError('UNSUPPORTED', 'this gateway serves no mutations', {
                hint: 'its operator allows writes with --allow-writes (docs/writes.md)',
              }),
            ),
          ]
        : documents
            .validate(schema, document)
            .map((error) => requestError(error, document, history.hint(schema, document, error)))
    if (errors.length > 0) this.#rejected(document.loc?.source.body ?? '', errors, asker)
    return errors
  }

  /**
   * Answers a query or a mutation by its plan, within its deadline, and reports it. The answer is UNAUTHENTICATED if a
   * required viewer is missing.
   */
  async execute(served: ServedSchema, args: ExecutionArgs): Promise<ExecutionResult> {
    if (this.#lacksViewer(args)) return { errors: [refusalOf(noViewer())] }
    const far = await this.#answerElsewhere(args)
    if (far !== undefined) return far
    const startedMs = performance.now()
    const { limits, observer } = this.#options
    const record: AnswerRecord = { kinds: [], rows: 0, secrets: new Set(), logged: new Map() }
    const { beganMs = startedMs, viewer, trace } = optionsOf(args)
    const asked = { ...args, hideSuggestions: !limits.introspection }
    const deadline = { deadlineMs: limits.operationDeadlineMs, beganMs }
    const result = await inTime(() => this.#answer(served, asked, record), deadline)
    const { document } = args
    const node = getOperationAST(document, args.operationName)
    const operation = node?.operation === OperationTypeNode.MUTATION ? 'mutation' : 'query'
    const operationName = node?.name?.value
    const query = { ...record, operation, document, operationName, viewer, trace } as const
    const { data = null, errors } = result as ExecutionResult
    reportQuery(observer, { ...query, startedMs, errors, failed: data === null })
    return result
  }

  /** The answer of other gateways, if the operation is about clusters that they hold. */
  async #answerElsewhere(args: ExecutionArgs): Promise<ExecutionResult | undefined> {
    const { elsewhere } = this.#options
    const { explain: explains = false, isOwn = false, clusters, ...origin } = optionsOf(args)
    if (elsewhere === undefined || isOwn) return undefined
    const { document, operationName, variableValues: variables } = args
    const asked = { query: textOf(document), operationName, variables, clusters, explains }
    // A mutation by GET does not come here.
    const text = await elsewhere(asked, { ...origin, mayWrite: true })
    if (text === undefined) return undefined
    const { errors, ...result } = parseHeld(text) as FormattedExecutionResult
    const { source } = document.loc ?? {}
    const seen = errors?.map(({ message, path, locations, extensions }) => {
      const positions =
        source && locations?.map(({ line, column }) => positionOf(source, line, column))
      return new GraphQLError(message, { source, positions, path, extensions })
    })
    return { ...(result as ExecutionResult), ...(seen && { errors: seen }) }
  }

  /** The answer of the plan, or the errors of an operation that is refused as a whole. */
  async #answer(
    served: ServedSchema,
    args: ExecutionArgs,
    record: AnswerRecord,
  ): Promise<ExecutionResult> {
    const { limits, unexpected, plans, mutations } = this.#options
    const { explain: explains = false, clusters, ...origin } = optionsOf(args)
    const refused = (errors: readonly GraphQLError[]): ExecutionResult =>
      clientResult({ errors }, unexpected, origin.trace?.requestId)
    const validated = validatedArgs(served, limits, args)
    if ('errors' in validated) return refused(validated.errors)
    const { secrets, logged } = record
    const isMutation = validated.operation.operation === OperationTypeNode.MUTATION
    const write =
      mutations === undefined || !isMutation
        ? undefined
        : async () => await mutations.write(served, validated, optionsOf(args), secrets)
    const answered = (read: Pick<AnswerRecord, 'kinds' | 'rows'>): void =>
      void Object.assign(record, read)
    try {
      const asked = { secrets, logged, answered, origin, clusters, explains, write }
      return await plans.result(served, validated, asked)
    } catch (error) {
      const { errors } = refused([locatedError(error, undefined)])
      return isMutation ? { errors: errors ?? [] } : { errors: errors ?? [], data: null }
    }
  }

  /** The frames of a subscription, or its errors, as in {@link execute}. */
  async subscribe(args: ExecutionArgs): ReturnType<SubscriptionSource['subscribe']> {
    if (this.#lacksViewer(args)) return { errors: [refusalOf(noViewer())] }
    const { document, operationName, variableValues: variables } = args
    const { viewer, callerToken, trace, beganMs, ...wishes } = optionsOf(args)
    const { mayWrite = false, explain: explains = false } = wishes
    const request = { document, operationName, variables, explains }
    return this.#options.live.subscribe(request, { viewer, callerToken, trace, beganMs, mayWrite })
  }

  #lacksViewer(args: ExecutionArgs): boolean {
    return this.#options.requireViewer && optionsOf(args).viewer === undefined
  }

  #rejected(text: string, errors: readonly GraphQLError[], asker: Asker): void {
    this.#options.observer?.rejected?.(refusedDocument(text, errors, asker))
  }
}

const texts = new WeakMap<DocumentNode, string>()

/** The text of a document, also of one that a `gql` tag has made. */
export function textOf(document: DocumentNode): string {
  return getOrInsert(texts, document, () => document.loc?.source.body ?? print(document))
}

/** The place of a line and a column, both from 1, in a text. */
function positionOf({ body }: Source, line: number, column: number): number {
  const before = body.split(/(?<=\n|\r(?!\n))/).slice(0, line - 1)
  return before.reduce((sum, { length }) => sum + length, column - 1)
}

/** What the report of an operation says about its answer. */
interface AnswerRecord {
  readonly kinds: readonly ClusterKind[]
  readonly rows: number
  readonly secrets: Set<string>
  readonly logged: LoggedObjects
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

/**
 * The steps of an operation as a plugin, the only place where HTTP and WebSocket meet. It also works in a program's own
 * server, which masks and logs unknown errors. So an error that the program's context throws for an unknown caller
 * becomes the answer here. No signature names yoga's type, so that programs compile without the types of yoga.
 */
export function operationPlugin(steps: OperationSteps): object {
  const bySchema = new WeakMap<GraphQLSchema, ServedSchema>()
  return {
    onPluginInit({ registerContextErrorHandler }) {
      registerContextErrorHandler(({ error, setError }) => {
        if (isOfCaller(error)) setError(refusalOf(error))
      })
    },
    onEnveloped({ setSchema }) {
      const now = steps.served
      bySchema.set(now.schema, now)
      setSchema(now.schema)
    },
    onParse({ setParseFn, context }) {
      setParseFn((source: string | Source) => {
        const text = typeof source === 'string' ? source : source.body
        return steps.parse(text, context as OperationOptions)
      })
    },
    onValidate({ setValidationFn, context }) {
      setValidationFn((schema: GraphQLSchema, document: DocumentNode) =>
        steps.validate(schema, document, context as OperationOptions),
      )
    },
    onExecute({ setExecuteFn }) {
      setExecuteFn((args: ExecutionArgs) =>
        steps.execute(bySchema.get(args.schema) ?? steps.served, args),
      )
    },
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn((args: ExecutionArgs) => steps.subscribe(args))
    },
  } satisfies Plugin
}

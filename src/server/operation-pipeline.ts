import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FormattedExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLErrorExtensions,
} from 'graphql'
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga'
import type { Authenticator, CallerToken } from '../access/authentication/authenticator.ts'
import type { Viewer } from '../access/viewer.ts'
import {
  type AnsweredResult,
  clientErrorOf,
  clientResult,
  isUnexpected,
  withRequestId,
  withoutTransportDetails,
} from '../graphql/errors/client-error.ts'
import type { OperationOptions } from '../graphql/answer/execution.ts'
import type { OperationTrace } from '../graphql/prepare/operation-trace.ts'
import { isRecord } from '../lib/json.ts'
import { present } from '../lib/options.ts'
import { quoted } from '../lib/text.ts'
import { asksForExplanation } from './guard/operation-request.ts'
import type { OriginCheck } from './guard/origin-check.ts'
import type { UserQuotas } from './guard/user-quotas.ts'
import type { PlannedQueries } from './http/query-fast-path.ts'
import { type DocumentSource, observedDocument } from './document-source.ts'
import type { LongLivedConnections } from './long-lived-connections.ts'
import {
  graphqlPath,
  type MakeContext,
  type OperationContext,
  type OperationOrigin,
  type OperationTracer,
  type ServerLog,
  type ServerObserver,
  type ServerPlugin,
} from './operation-options.ts'
import type { ServerOptions } from './server-options.ts'
import type { UnsentBytes } from './unsent-bytes.ts'

/** The context that a transport passes to the pipeline. For HTTP, yoga's node adapter fills it in. */
export interface TransportContext {
  readonly req: IncomingMessage
  readonly res?: ServerResponse
  /** Set by transports that are neither yoga's HTTP nor a WebSocket. */
  readonly transport?: OperationOrigin['transport']
  readonly connectionParams?: Readonly<Record<string, unknown>> | undefined
  /** The context or its error, if it has been made already. */
  readonly made?: MadeContext | undefined
  readonly viewer?: Viewer | undefined
  readonly callerToken?: CallerToken | undefined
  readonly trace?: OperationTrace | undefined
  readonly forbidKeeping?: OperationOptions['forbidKeeping']
  readonly beganMs?: OperationOptions['beganMs']
  readonly params?: {
    readonly operationName?: string | null | undefined
    readonly extensions?: Readonly<Record<string, unknown>> | null | undefined
  }
}

export type MadeContext = { readonly context: OperationContext } | { readonly error: unknown }

/** Yoga with all checks that both transports share. */
export type OperationPipeline = YogaServerInstance<TransportContext, object>

/** What the transports of one server share. */
export interface ServerParts {
  readonly limits: ServerOptions
  /** See `GraphQLServerOptions`. */
  readonly isStarted: () => boolean
  readonly pipeline: OperationPipeline
  readonly documents: DocumentSource
  readonly origins: OriginCheck
  /** Authenticates callers; `undefined` for no authentication. */
  readonly authenticator: Authenticator | undefined
  readonly quotas: UserQuotas
  readonly unsent: UnsentBytes
  readonly connections: LongLivedConnections
  /** Makes the context of an operation, with its viewer. */
  readonly contextOf: MakeContext
  /** Answers operations that have a plan. The pipeline answers the others. */
  readonly planned: PlannedQueries | undefined
  readonly observer: ServerObserver | undefined
  /** `undefined`: operations are not followed. */
  readonly tracer: OperationTracer | undefined
  readonly log: ServerLog
}

/** Makes a minimal yoga, without CORS, forms, pages and body streams. Guards check requests before it. */
export function createOperationPipeline(
  plugins: readonly ServerPlugin[],
  {
    documents,
    contextOf,
    observer,
    log,
  }: Pick<ServerParts, 'documents' | 'contextOf' | 'observer' | 'log'>,
): OperationPipeline {
  return createYoga<TransportContext, object>({
    graphqlEndpoint: graphqlPath,
    cors: false,
    multipart: false,
    batching: false,
    graphiql: false,
    landingPage: false,
    maxRequestBodySize: false,
    maskedErrors: {
      isDev: false,
      maskError: (error) => clientErrorOf(error),
    },
    // The gateway's plugin caches documents.
    parserAndValidationCache: false,
    logging: {
      debug: () => {},
      info: () => {},
      warn: (...details: unknown[]) => log.warn(details.map(String).join(' ')),
      // Yoga also logs errors of the caller. Logs only unexpected errors.
      error: (error: unknown) => void loggedError(error, undefined, log),
    },
    context: async (initial: TransportContext) => {
      const { callerToken, trace, forbidKeeping, beganMs, made } = initial
      const making = async (): Promise<OperationContext> => {
        if (made !== undefined && 'error' in made) throw made.error
        return made?.context ?? (await contextOf(originOf(initial)))
      }
      const context = await making().catch((error: unknown) => {
        throw isUnexpected(clientErrorOf(error)) ? loggedError(error, trace, log) : error
      })
      const { viewer } = context
      const wishes: OperationOptions = {
        explain: isExplained(initial),
        viewer,
        callerToken,
        trace,
        forbidKeeping,
        beganMs,
      }
      return { ...context, ...wishes }
    },
    plugins: [
      documentsByName(documents, observer),
      operationsByName(),
      subscriptionsNeedWebSocket(),
      ...(plugins as readonly Plugin[]),
      codedErrors(),
    ],
  })
}

/**
 * An error as its client sees it. An unexpected one is logged, once: with the id of its request, which it has from then
 * on.
 */
export function loggedError(
  error: unknown,
  trace: OperationTrace | undefined,
  log: ServerLog,
): GraphQLError {
  const seen = clientErrorOf(error)
  if (!isUnexpected(seen) || seen.extensions['requestId'] !== undefined) return seen
  const { requestId } = trace ?? {}
  log.error('an operation failed unexpectedly', { ...present({ requestId }), error })
  return withRequestId(seen, requestId)
}

/** The operation with what its transport knows of it. */
export function withOptions<Args extends ExecutionArgs>(
  args: Args,
  wishes: Pick<OperationOptions, 'beganMs' | 'mayWrite'>,
): Args {
  return { ...args, contextValue: { ...(args.contextValue as object), ...wishes } }
}

function isExplained({ req, params }: TransportContext): boolean {
  return params?.extensions?.['explain'] === true || asksForExplanation(req)
}

function originOf(context: TransportContext): OperationOrigin {
  return {
    transport: context.transport ?? (context.res === undefined ? 'websocket' : 'http'),
    headers: context.req.headers,
    connectionParams: context.connectionParams,
    viewer: context.viewer,
  }
}

function documentsByName(
  documents: DocumentSource,
  observer: ServerObserver | undefined,
): Plugin<object, TransportContext> {
  return {
    onParams({ params, setParams, request, context: { viewer, trace } }) {
      const isPost = request.method === 'POST'
      const asked = { learns: isPost, viewer, trace, observer }
      const { idMembers } = documents
      let query: string | undefined
      try {
        const ids = isPost || idMembers.length === 0 ? {} : searchedIds(request.url, idMembers)
        query = observedDocument(documents, { ...params, ...ids }, asked)
      } catch (error) {
        const { message, extensions } = clientErrorOf(error)
        throw requestError(message, extensions)
      }
      // Yoga refuses parameters that are not an object.
      if (query === undefined && isRecord(params)) throw noDocument(params)
      if (query === undefined || query === params.query) return
      const others = Object.entries(params).filter(([name]) => !idMembers.includes(name))
      setParams({ ...Object.fromEntries(others), query })
    },
  }
}

/** The error of a request without a document. It names the members that do not name one here. */
export function noDocument(request: object): GraphQLError {
  const unknown = Object.keys(request).filter((name) => !requestMembers.has(name))
  const names = unknown.map(quoted).join(', ')
  const besides = unknown.length === 0 ? '' : `, and the gateway does not know its ${names}`
  return requestError(`the request has no query${besides}`, {
    code: 'BAD_USER_INPUT',
    argument: 'query',
    hint: 'send the text of the document as `query`',
  })
}

const requestMembers: ReadonlySet<string> = new Set([
  'query',
  'operationName',
  'variables',
  'extensions',
])

/** Refuses unknown operation names. Yoga treats an empty name in the URL of a GET as absent. */
function operationsByName(): Plugin {
  return {
    onParams({ params, setParams, request }) {
      if (request.method !== 'GET') return
      const { searchParams } = new URL(request.url)
      if (searchParams.get('operationName') !== '') return
      setParams({ ...params, operationName: '' })
    },
    onParse() {
      return ({ result, context }) => {
        const { operationName } = (context as Partial<TransportContext>).params ?? {}
        if (typeof operationName !== 'string' || !isDocument(result)) return
        if (getOperationAST(result, operationName) !== null) return
        const message = `Unknown operation named ${quoted(operationName)}.`
        throw requestError(message, { code: 'BAD_USER_INPUT' })
      }
    },
  }
}

function isDocument(parsed: unknown): parsed is DocumentNode {
  return typeof parsed === 'object' && parsed !== null && 'definitions' in parsed
}

/** An error with status 400, or 200 for clients of application/json. */
function requestError(message: string, extensions: GraphQLErrorExtensions): GraphQLError {
  return new GraphQLError(message, {
    extensions: { ...extensions, http: { spec: true, status: 400 } },
  })
}

/** The ids in the URL of a GET, which yoga does not read. */
function searchedIds(url: string, names: readonly string[]): Readonly<Record<string, string>> {
  const { searchParams } = new URL(url)
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = searchParams.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}

/** Event streams do not use yoga's HTTP. */
function subscriptionsNeedWebSocket(): Plugin {
  return {
    onSubscribe({ args, setResultAndStopExecution }) {
      const { res } = args.contextValue as Partial<TransportContext>
      if (res === undefined) return
      const error = new GraphQLError(
        'subscriptions are served by WebSocket, and as server-sent events',
        {
          extensions: {
            code: 'UNSUPPORTED',
            hint: `open a WebSocket on ${graphqlPath} with the sub-protocol graphql-transport-ws, or accept text/event-stream`,
            http: { spec: true, status: 400 },
          },
        },
      )
      setResultAndStopExecution({ errors: [error] })
    },
  }
}

function codedErrors(): Plugin<object, TransportContext> {
  return {
    onResultProcess(process) {
      const { result, serverContext } = process
      if (Array.isArray(result) || Symbol.asyncIterator in result) return
      const { requestId } = serverContext.trace ?? {}
      const seen = clientResult(result as AnsweredResult, undefined, requestId)
      process.setResult(seen as ExecutionResult)
    },
  }
}

/** A result for a message: with errors as clients see them, without HTTP details. */
export function sentResult(result: AnsweredResult): FormattedExecutionResult {
  const { errors, ...rest } = clientResult(result)
  if (errors === undefined) return rest as FormattedExecutionResult
  const formatted = errors.map((error) => withoutTransportDetails(error).toJSON())
  return { ...rest, errors: formatted } as FormattedExecutionResult
}

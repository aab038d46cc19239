/*
 * The pipeline: graphql-yoga without its own HTTP. Guards check a request first, and the transports read the operation.
 * The program gives the plugins. The pipeline answers operations without a plan; with further plugins, whose hooks it has
 * to call, it answers all. Both transports share `ServerParts`.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type DocumentNode,
  type ExecutionResult,
  type FormattedExecutionResult,
  getOperationAST,
  GraphQLError,
} from 'graphql'
import { createYoga, type GraphQLParams, type Plugin, type YogaServerInstance } from 'graphql-yoga'
import type { Authenticator } from '../access/authentication/authenticator.ts'
import {
  type AnsweredResult,
  ClientError,
  clientErrorOf,
  clientResult,
  isUnexpected,
  withRequestId,
  withoutTransportDetails,
} from '../graphql/errors/client-error.ts'
import type { OperationOptions } from '../graphql/answer/execution.ts'
import type { OperationTrace } from '../graphql/prepare/operation-trace.ts'
import { present } from '../lib/options.ts'
import { quoted } from '../lib/text.ts'
import { asksForExplanation, type OriginCheck } from './guard/request-guard.ts'
import type { UnsentBytes, UserQuotas } from './user-limits.ts'
import { clustersAsked, type DocumentSource } from './document-source.ts'
import type { SentOperation } from './http/http-operation.ts'
import type { LongLivedConnections } from './long-lived-connections.ts'
import {
  graphqlPath,
  type MakeContext,
  type OperationContext,
  type OperationOrigin,
  type OperationTracer,
  type ServerLog,
  type ServerObserver,
  type PlannedQueries,
  type ServerPlugin,
} from './operation-options.ts'
import type { ServerOptions } from './server-options.ts'

/** The context that a transport passes to the pipeline. For HTTP, yoga's node adapter fills it in. */
export interface TransportContext extends Pick<
  OperationOptions,
  'viewer' | 'callerToken' | 'sent' | 'trace' | 'forbidKeeping' | 'beganMs'
> {
  readonly req: IncomingMessage
  readonly res?: ServerResponse
  /** The operation that the HTTP transport has read, with its document. */
  readonly asked?: SentOperation
  /** Set by transports that are neither yoga's HTTP nor a WebSocket. */
  readonly transport?: OperationOrigin['transport']
  readonly connectionParams?: Readonly<Record<string, unknown>> | undefined
  /** The context or its error, if it is already made. */
  readonly made?: MadeContext | undefined
  readonly params?: {
    readonly operationName?: string | null | undefined
    readonly extensions?: Readonly<Record<string, unknown>> | null | undefined
  }
}

export type MadeContext = { readonly context: OperationContext } | { readonly error: unknown }

/** Yoga with the checks that both transports share. */
export type OperationPipeline = YogaServerInstance<TransportContext, object>

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
  readonly tracer: OperationTracer | undefined
  readonly log: ServerLog
}

/** Makes a minimal yoga, without CORS, forms, pages and bodies. */
export function createOperationPipeline(
  plugins: readonly ServerPlugin[],
  { contextOf, log }: Pick<ServerParts, 'contextOf' | 'log'>,
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
      // Logs only unexpected errors. Yoga would also log errors of the caller.
      error: (error: unknown) => void loggedError(error, undefined, log),
    },
    context: async (initial: TransportContext) => {
      const { callerToken, trace, forbidKeeping, beganMs, made, req, res, params } = initial
      const making = async (): Promise<OperationContext> => {
        if (made !== undefined && 'error' in made) throw made.error
        if (made !== undefined) return made.context
        const { transport = res === undefined ? 'websocket' : 'http', connectionParams } = initial
        const origin = { transport, headers: req.headers, connectionParams }
        return await contextOf({ ...origin, viewer: initial.viewer })
      }
      const context = await making().catch((error: unknown) => {
        throw isUnexpected(clientErrorOf(error)) ? loggedError(error, trace, log) : error
      })
      const { viewer } = context
      const wishes: OperationOptions = {
        explain: params?.extensions?.['explain'] === true || asksForExplanation(req),
        clusters: clustersAsked(params ?? {}),
        viewer,
        callerToken,
        // The program may have named another viewer.
        sent: viewer === initial.viewer ? initial.sent : undefined,
        trace,
        forbidKeeping,
        beganMs,
      }
      return { ...context, ...wishes }
    },
    plugins: [
      operationsAsRead,
      operationsByName,
      subscriptionsNeedWebSocket,
      ...(plugins as readonly Plugin[]),
      codedErrors,
    ],
  })
}

/** The form of an error for the client. Logs an unexpected error, once, and adds the id of the request to it. */
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

/** Gives Yoga the operations that the HTTP transport has read, or the errors of unreadable ones. */
const operationsAsRead: Plugin<object, TransportContext> = {
  onRequestParse({ serverContext: { asked }, setRequestParser }) {
    setRequestParser(() => {
      if (asked === undefined || 'error' in asked) throw asked?.error
      return asked.params as GraphQLParams
    })
  },
}

/** Refuses unknown operation names. */
const operationsByName: Plugin = {
  onParse() {
    return ({ result, context }) => {
      const { operationName } = (context as Partial<TransportContext>).params ?? {}
      const isDocument = typeof result === 'object' && result !== null && 'definitions' in result
      if (typeof operationName !== 'string' || !isDocument) return
      if (getOperationAST(result as DocumentNode, operationName) !== null) return
      const message = `Unknown operation named ${quoted(operationName)}.`
      throw requestError(new ClientError('BAD_USER_INPUT', message))
    }
  },
}

/** An error of the request with status 400. With `spec` (GraphQL over HTTP), clients of application/json get 200. */
export function requestError(error: unknown, spec = true): GraphQLError {
  const { message, extensions } = clientErrorOf(error)
  return new GraphQLError(message, { extensions: { ...extensions, http: { spec, status: 400 } } })
}

/** Event streams do not use yoga's HTTP. */
const subscriptionsNeedWebSocket: Plugin = {
  onSubscribe({ args, setResultAndStopExecution }) {
    const { res } = args.contextValue as Partial<TransportContext>
    if (res === undefined) return
    const error = new GraphQLError(
      'subscriptions are served over WebSocket, and as server-sent events',
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

const codedErrors: Plugin<object, TransportContext> = {
  onResultProcess(process) {
    const { result, serverContext } = process
    if (Array.isArray(result) || Symbol.asyncIterator in result) return
    const { requestId } = serverContext.trace ?? {}
    const seen = clientResult(result as AnsweredResult, undefined, requestId)
    process.setResult(seen as ExecutionResult)
  },
}

/** A result for a message, with the errors in their form for clients, and without HTTP details. */
export function sentResult(result: AnsweredResult): FormattedExecutionResult {
  const { errors, ...rest } = clientResult(result)
  if (errors === undefined) return rest as FormattedExecutionResult
  const formatted = errors.map((error) => withoutTransportDetails(error).toJSON())
  return { ...rest, errors: formatted } as FormattedExecutionResult
}

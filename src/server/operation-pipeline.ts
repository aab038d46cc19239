import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLErrorExtensions,
} from 'graphql'
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga'
import type { CallerToken } from '../access/authentication/caller-token.ts'
import type { Viewer } from '../access/viewer.ts'
import {
  type AnsweredResult,
  clientErrorOf,
  clientResult,
  isUnexpected,
} from '../graphql/errors/client-error.ts'
import type { OperationOptions } from '../graphql/answer/execution.ts'
import { quoted } from '../lib/shortened.ts'
import { asksForExplanation } from './guard/operation-request.ts'
import { type DocumentSource, observedDocument } from './document-source.ts'
import {
  graphqlPath,
  type MakeContext,
  type OperationContext,
  type OperationOrigin,
  type OperationPipelineOptions,
} from './operation-options.ts'
import type { ServerObserver } from './server-observer.ts'

/** What a transport hands to the pipeline. HTTP's is filled in by yoga's node adapter. */
export interface TransportContext {
  readonly req: IncomingMessage
  readonly res?: ServerResponse
  /** Said by what is neither yoga's HTTP nor a WebSocket. */
  readonly transport?: OperationOrigin['transport']
  readonly connectionParams?: Readonly<Record<string, unknown>> | undefined
  /** The context where it has been made already, or what it has failed with. */
  readonly made?: MadeContext | undefined
  /** Who asks, as the authenticator has found; absent where there is none. */
  readonly viewer?: Viewer | undefined
  /** What they have shown; absent where it is no bearer token. */
  readonly callerToken?: CallerToken | undefined
  readonly secretRead?: OperationOptions['secretRead']
  readonly beganMs?: OperationOptions['beganMs']
  /** The operation as it was sent. */
  readonly params?: {
    readonly operationName?: string | null | undefined
    readonly extensions?: Readonly<Record<string, unknown>> | null | undefined
  }
}

export type MadeContext = { readonly context: OperationContext } | { readonly error: unknown }

/** Yoga with all checks that both transports share. */
export type OperationPipeline = YogaServerInstance<TransportContext, object>

export interface PipelineParts extends Pick<OperationPipelineOptions, 'plugins' | 'log'> {
  readonly documents: DocumentSource
  /** Makes the context of an operation, which says who asks. */
  readonly contextOf: MakeContext
  readonly observer: ServerObserver | undefined
}

/** Sets yoga up so that it does the least: no CORS, forms, pages or body stream; what guards it stands before it. */
export function createOperationPipeline({
  plugins,
  documents,
  contextOf,
  observer,
  log,
}: PipelineParts): OperationPipeline {
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
    // The gateway's plugin remembers documents, within its bound.
    parserAndValidationCache: false,
    logging: {
      debug: () => {},
      info: () => {},
      warn: (...details: unknown[]) => log.warn(details.map(String).join(' ')),
      // Yoga tells of every error that it says in other words, what is the caller's too.
      error: (error: unknown) => {
        if (isUnexpected(clientErrorOf(error))) {
          log.error('an operation failed unexpectedly', { error })
        }
      },
    },
    context: async (initial: TransportContext) => {
      const { callerToken, secretRead, beganMs, made } = initial
      if (made !== undefined && 'error' in made) throw made.error
      const context = made?.context ?? (await contextOf(originOf(initial)))
      const { viewer } = context
      const wishes: OperationOptions = {
        explain: isExplained(initial),
        viewer,
        callerToken,
        secretRead,
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

/** The same operation, whose deadline counts from before it comes to the pipeline, as something else has been tried first. */
export function begunAt<Args extends ExecutionArgs>(args: Args, beganMs: number): Args {
  const wishes: OperationOptions = { beganMs }
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
    onParams({ params, setParams, request, context: { viewer } }) {
      const isPost = request.method === 'POST'
      const asked = { learns: isPost, viewer, observer }
      const { idMembers } = documents
      let query: string | undefined
      try {
        const ids = isPost || idMembers.length === 0 ? {} : searchedIds(request.url, idMembers)
        query = observedDocument(documents, { ...params, ...ids }, asked)
      } catch (error) {
        const { message, extensions } = clientErrorOf(error)
        throw requestError(message, extensions)
      }
      if (query === undefined || query === params.query) return
      const others = Object.entries(params).filter(([name]) => !idMembers.includes(name))
      setParams({ ...Object.fromEntries(others), query })
    },
  }
}

/** Refuses a name that no operation of the document has. Yoga takes an empty one in the address of a GET for none. */
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

/** Answered with 400, or with 200 to clients of application/json. */
function requestError(message: string, extensions: GraphQLErrorExtensions): GraphQLError {
  return new GraphQLError(message, {
    extensions: { ...extensions, http: { spec: true, status: 400 } },
  })
}

/** The ids in the address of a GET, which yoga does not read. */
function searchedIds(url: string, names: readonly string[]): Readonly<Record<string, string>> {
  const { searchParams } = new URL(url)
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = searchParams.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}

/** Events have a way of their own, past yoga's HTTP. */
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

function codedErrors(): Plugin {
  return {
    onResultProcess(process) {
      const { result } = process
      if (Array.isArray(result) || Symbol.asyncIterator in result) return
      process.setResult(clientResult(result as AnsweredResult) as ExecutionResult)
    },
  }
}

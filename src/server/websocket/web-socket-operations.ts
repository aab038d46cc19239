import type { IncomingMessage } from 'node:http'
import { type ExecutionArgs, type ExecutionResult, GraphQLError } from 'graphql'
import { type Context, makeServer, type Server } from 'graphql-ws'
import { followedGenerator } from '../../lib/followed-generator.ts'
import type { Viewer } from '../../access/viewer.ts'
import {
  type ClientErrorCode,
  clientErrorOf,
  clientResult,
  isUnexpected,
  withoutTransportDetails,
} from '../../graphql/operation/client-error.ts'
import type { DocumentSource } from '../document-source.ts'
import type { OperationWishes } from '../../graphql/operation/execution.ts'
import { turns } from '../../graphql/operation/operation-turns.ts'
import type { PlannedQueries } from '../http/planned-edge.ts'
import { plannedResults, type PlannedStream, type StreamEnd } from '../planned-stream.ts'
import { sentResult } from '../sent-result.ts'
import { begunAt, type OperationPipeline } from '../operation-pipeline.ts'
import type { ServerLog } from '../operation-options.ts'
import type { UserQuotas } from '../guard/user-quotas.ts'
import type { ServerObserver } from '../server-observer.ts'
import type { SocketIdentity } from './socket-identity.ts'

export interface WebSocketOperationsOptions {
  readonly pipeline: OperationPipeline
  readonly documents: DocumentSource
  readonly connectionInitDeadlineMs: number
  readonly maxOperationsPerSocket: number
  readonly quotas: UserQuotas
  /** Answers the subscriptions that have a plan. */
  readonly planned: PlannedQueries | undefined
  readonly observer: ServerObserver | undefined
  readonly log: ServerLog
}

/** What is known of a WebSocket besides its messages. */
export interface OpenedBy {
  /** The request that was upgraded. */
  readonly request: IncomingMessage
  readonly identity: SocketIdentity
}

/** The same, and how frames are sent over it. */
export interface OpenWebSocket extends OpenedBy {
  /** Sends what a stream has as messages of the operation with this id. Resolves when it has ended. */
  readonly sendFrames: (id: string, stream: PlannedStream) => Promise<StreamEnd>
}

type Answers = AsyncGenerator<ExecutionResult, void, void>
type Connection = Context<Record<string, unknown> | undefined, OpenWebSocket>
type Enveloped = ReturnType<OperationPipeline['getEnveloped']>

/** The arguments of one operation, with the pipeline's functions for it. */
interface EnvelopedArgs extends ExecutionArgs {
  readonly enveloped: Enveloped
  readonly viewer: Viewer | undefined
  /** The document as it was sent, or as its hash names it. */
  readonly query: string
}

/** Stands for the result of a subscription until its WebSocket is known, which may send it itself. */
const toBePlanned: ExecutionResult = {}

/** The graphql-transport-ws protocol on top of the pipeline that HTTP uses too. */
export function createWebSocketOperations(
  options: WebSocketOperationsOptions,
): Server<OpenWebSocket> {
  const { pipeline, planned, documents, maxOperationsPerSocket, quotas, observer, log } = options

  const prepare = async (
    connection: Connection,
    payload: {
      query: string
      operationName?: string | null | undefined
      variables?: Record<string, unknown> | null | undefined
      extensions?: Record<string, unknown> | null | undefined
    },
  ): Promise<EnvelopedArgs | readonly GraphQLError[]> => {
    const { request, identity } = connection.extra
    const viewer = await identity.confirm()
    const enveloped = pipeline.getEnveloped({
      req: request,
      viewer,
      callerToken: identity.callerToken,
      connectionParams: connection.connectionParams,
      params: payload,
    })
    const query = documents.documentOf(payload, true) ?? payload.query
    // Many that arrive at once do not make everybody wait until all of them have been read.
    await turns.enter(connection.extra)
    const { document, errors } = turns.run(() => {
      const parsed = enveloped.parse(query)
      const found = enveloped.validate(enveloped.schema, parsed) as readonly GraphQLError[]
      return { document: parsed, errors: found }
    })
    if (errors.length > 0) return errors
    return {
      schema: enveloped.schema,
      document,
      operationName: payload.operationName,
      variableValues: payload.variables ?? undefined,
      contextValue: await enveloped.contextFactory(),
      enveloped,
      viewer,
      query,
    }
  }

  const streamOf = async (
    { extra, connectionParams }: Connection,
    { query, operationName, variableValues, viewer }: EnvelopedArgs,
  ): Promise<PlannedStream | undefined> => {
    const { headers } = extra.request
    const variables = variableValues ?? {}
    const origin = { transport: 'websocket', headers, connectionParams, viewer } as const
    return await planned?.subscribe?.({ query, operationName, variables }, origin)
  }

  /** Answers what is one of those that a user may have so many of; `ended` gives it back, and so does a failure. */
  const counted = async <T>(
    what: Parameters<UserQuotas['take']>[0],
    viewer: Viewer | undefined,
    answer: (ended: () => void) => Promise<T>,
  ): Promise<T | ExecutionResult> => {
    let ended: () => void
    try {
      ended = quotas.take(what, viewer)
    } catch (error) {
      const code = 'TOO_MANY_OPERATIONS' satisfies ClientErrorCode
      observer?.refused({ transport: 'websocket', code, viewer, address: undefined })
      return { errors: [clientErrorOf(error)] }
    }
    try {
      return await answer(ended)
    } catch (error) {
      ended()
      throw error
    }
  }

  return makeServer<Record<string, unknown> | undefined, OpenWebSocket>({
    connectionInitWaitTimeout: options.connectionInitDeadlineMs,
    onConnect: ({ extra, connectionParams }) => extra.identity.begin(connectionParams),
    async onSubscribe(connection, _id, payload) {
      const operations = Object.keys(connection.subscriptions).length
      if (operations > maxOperationsPerSocket) return [tooManyOperations(maxOperationsPerSocket)]
      try {
        return await prepare(connection, payload)
      } catch (error) {
        const seen = clientErrorOf(error)
        if (isUnexpected(seen)) log.error('an operation failed unexpectedly', { error })
        return [seen]
      }
    },
    async execute(args) {
      const { viewer, enveloped } = args as EnvelopedArgs
      return await counted('operations', viewer, async (ended) => {
        const result = (await enveloped.execute(args)) as ExecutionResult
        ended()
        return result
      })
    },
    // Its WebSocket is not known yet, over which its frames may go as they are.
    subscribe: () => toBePlanned,
    async onOperation(connection, id, _payload, args, result) {
      if (result !== toBePlanned) return undefined
      const { viewer, enveloped } = args as EnvelopedArgs
      return await counted<Answers | ExecutionResult>('subscriptions', viewer, async (ended) => {
        const beganMs = performance.now()
        const answer = async (asked = args) =>
          (await enveloped.subscribe(asked)) as Answers | ExecutionResult
        const stream = isExplained(args)
          ? undefined
          : await streamOf(connection, args as EnvelopedArgs)
        const answers =
          stream === undefined
            ? await answer(begunAt(args, beganMs))
            : plannedResults({
                stream,
                send: (one) => connection.extra.sendFrames(id, one),
                answer: () => answer(),
              })
        if (Symbol.asyncIterator in answers) return followedGenerator(answers, { ended })
        ended()
        return answers
      })
    },
    onNext: (_connection, _id, _payload, _args, result) => sentResult(result),
    onError(_connection, _id, _payload, errors) {
      const coded = clientResult({ errors }).errors
      return coded.map((error) => withoutTransportDetails(error).toJSON())
    },
  })
}

function isExplained({ contextValue }: ExecutionArgs): boolean {
  return (contextValue as OperationWishes | undefined)?.explain === true
}

function tooManyOperations(limit: number): GraphQLError {
  return new GraphQLError(`more than ${limit} operations are under way on this WebSocket`, {
    extensions: {
      code: 'TOO_MANY_OPERATIONS' satisfies ClientErrorCode,
      value: limit,
      hint: 'complete some of them, or open another WebSocket',
    },
  })
}

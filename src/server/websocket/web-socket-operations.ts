import type { IncomingMessage } from 'node:http'
import { type ExecutionArgs, type ExecutionResult, getOperationAST, GraphQLError } from 'graphql'
import { type Context, makeServer, type Server, type ServerOptions } from 'graphql-ws'
import { interruptible, observedGenerator } from '../../lib/generators.ts'
import type { Viewer } from '../../access/viewer.ts'
import {
  type ClientErrorCode,
  clientErrorOf,
  clientResult,
  isUnexpected,
  withoutTransportDetails,
} from '../../graphql/errors/client-error.ts'
import type { OperationOptions } from '../../graphql/answer/execution.ts'
import { queryLane, turns } from '../../graphql/prepare/operation-turns.ts'
import { type DocumentSource, observedDocument } from '../document-source.ts'
import type { UserQuotas } from '../guard/user-quotas.ts'
import type { PlannedQueries } from '../http/query-fast-path.ts'
import type { ServerLog } from '../operation-options.ts'
import { begunAt, type OperationPipeline, sentResult } from '../operation-pipeline.ts'
import { oneFrame, type PlannedStream, type StreamEnd, streamedResults } from '../planned-stream.ts'
import type { ServerObserver } from '../server-observer.ts'
import type { SocketIdentity } from './socket-identity.ts'

export interface WebSocketOperationsOptions {
  readonly pipeline: OperationPipeline
  readonly documents: DocumentSource
  readonly connectionInitDeadlineMs: number
  readonly maxOperationsPerSocket: number
  readonly quotas: UserQuotas
  /** Answers operations that have a plan. */
  readonly planned: PlannedQueries | undefined
  readonly observer: ServerObserver | undefined
  readonly log: ServerLog
}

/** A WebSocket's request and caller. */
export interface OpenedBy {
  /** The upgraded request. */
  readonly request: IncomingMessage
  readonly identity: SocketIdentity
}

/** An open WebSocket: its request and caller, its frames, and its running operations. */
export interface OpenWebSocket extends OpenedBy {
  /** Sends the frames of a stream as messages of the operation with this id. Resolves when the stream has ended. */
  readonly sendFrames: (id: string, stream: PlannedStream) => Promise<StreamEnd>
  /** The running answers, of any id. All end with the WebSocket. */
  readonly begun: Set<Answers>
  /** Counts work as a running message. */
  readonly busyWith: (work: Promise<unknown>) => void
}

type Answers = AsyncGenerator<ExecutionResult, void, void>
type Connection = Context<Record<string, unknown> | undefined, OpenWebSocket>
type Enveloped = ReturnType<OperationPipeline['getEnveloped']>

/** The arguments of one operation, with the pipeline's functions. */
interface EnvelopedArgs extends ExecutionArgs {
  readonly enveloped: Enveloped
  readonly viewer: Viewer | undefined
  /** The document, as sent or as named by its hash. */
  readonly query: string
  /** Answers the operation. There are no answers if the client completes it, or its WebSocket closes, before it has begun. */
  readonly begin: () => Promise<Answers>
}

type Payload = Parameters<NonNullable<ServerOptions['onSubscribe']>>[2]

/** The graphql-transport-ws protocol on top of the pipeline that HTTP uses too. */
export function createWebSocketOperations(
  options: WebSocketOperationsOptions,
): Server<OpenWebSocket> {
  const { pipeline, planned, documents, maxOperationsPerSocket, quotas, observer, log } = options

  const prepare = async (
    connection: Connection,
    id: string,
    payload: Payload,
    left: Promise<undefined>,
  ): Promise<EnvelopedArgs | readonly GraphQLError[]> => {
    const { request, identity } = connection.extra
    const caller = await identity.confirm()
    const enveloped = pipeline.getEnveloped({
      req: request,
      viewer: caller,
      callerToken: identity.callerToken,
      connectionParams: connection.connectionParams,
      params: payload,
    })
    const contextValue = (await enveloped.contextFactory()) as OperationOptions
    const { viewer } = contextValue
    const asking = { learns: true, viewer, observer }
    const query = observedDocument(documents, payload, asking) ?? payload.query
    // Takes turns, so that many operations at once do not block the other users.
    const lane = viewer === undefined ? connection.extra : queryLane(viewer)
    await turns.enter(lane)
    const { document, errors } = turns.run(() => {
      const parsed = enveloped.parse(query)
      const found = enveloped.validate(enveloped.schema, parsed) as readonly GraphQLError[]
      return { document: parsed, errors: found }
    }, lane)
    if (errors.length > 0) return errors
    const args: EnvelopedArgs = {
      schema: enveloped.schema,
      document,
      operationName: payload.operationName,
      variableValues: payload.variables ?? undefined,
      contextValue,
      enveloped,
      viewer,
      query,
      begin: async () => begin(connection, id, args, left),
    }
    return args
  }

  /** The frames of an operation's plan; `undefined` if the pipeline has to answer. */
  const streamOf = async (
    { extra, connectionParams }: Connection,
    { query, operationName, variableValues, viewer, ...args }: EnvelopedArgs,
    isLive: boolean,
  ): Promise<PlannedStream | undefined> => {
    if (planned === undefined || isExplained(args)) return undefined
    const { headers } = extra.request
    const asked = { query, operationName, variables: variableValues ?? {} }
    const origin = { transport: 'websocket', headers, connectionParams, viewer } as const
    if (isLive) return await planned.subscribe?.(asked, origin)
    const { callerToken } = extra.identity
    const text = await planned.answer(asked, { ...origin, callerToken })
    return text === undefined ? undefined : oneFrame(text)
  }

  const answered = async (
    connection: Connection,
    id: string,
    args: EnvelopedArgs,
    isLive: boolean,
  ): Promise<Answers | ExecutionResult> => {
    const beganMs = performance.now()
    const stream = await streamOf(connection, args, isLive)
    if (stream !== undefined) {
      return streamedResults(stream, (one) => connection.extra.sendFrames(id, one))
    }
    const { subscribe, execute } = args.enveloped
    const begun = begunAt(args, beganMs)
    return (await (isLive ? subscribe(begun) : execute(begun))) as Answers | ExecutionResult
  }

  /** The answers of an operation. Counts against the user's quota until all have been sent. */
  const answersOf = async (
    connection: Connection,
    id: string,
    args: EnvelopedArgs,
  ): Promise<Answers> => {
    const { viewer, document, operationName } = args
    const isLive = getOperationAST(document, operationName)?.operation === 'subscription'
    let giveBack: () => void
    try {
      giveBack = quotas.take(isLive ? 'subscriptions' : 'operations', viewer)
    } catch (error) {
      const code = 'TOO_MANY_OPERATIONS' satisfies ClientErrorCode
      observer?.refused({ transport: 'websocket', code, viewer, address: undefined })
      return only({ errors: [clientErrorOf(error)] })
    }
    try {
      const answer = await answered(connection, id, args, isLive)
      const answers = Symbol.asyncIterator in answer ? answer : only(answer)
      return observedGenerator(answers, giveBack)
    } catch (error) {
      giveBack()
      throw error
    }
  }

  const begin = async (
    connection: Connection,
    id: string,
    args: EnvelopedArgs,
    left: Promise<undefined>,
  ): Promise<Answers> => {
    const { begun, busyWith } = connection.extra
    const answering = answersOf(connection, id, args)
    const answers = await Promise.race([answering, left])
    if (answers === undefined) {
      busyWith(answering.then((late) => late.return()))
      return none()
    }
    const followed = observedGenerator(answers, () => begun.delete(followed))
    begun.add(followed)
    return followed
  }

  return makeServer<Record<string, unknown> | undefined, OpenWebSocket>({
    connectionInitWaitTimeout: options.connectionInitDeadlineMs,
    onConnect: ({ extra, connectionParams }) => extra.identity.begin(connectionParams),
    async onSubscribe(connection, id, payload) {
      const operations = Object.keys(connection.subscriptions).length
      if (operations > maxOperationsPerSocket) return [tooManyOperations(maxOperationsPerSocket)]
      const { promise: left, resolve } = Promise.withResolvers<undefined>()
      // graphql-ws returns this generator on `complete`, which leaves an operation that is still starting.
      connection.subscriptions[id] = interruptible(none(), () => resolve(undefined))
      const prepared = prepare(connection, id, payload, left).catch((error: unknown) => {
        const seen = clientErrorOf(error)
        if (isUnexpected(seen)) log.error('an operation failed unexpectedly', { error })
        return [seen]
      })
      const args = await Promise.race([prepared, left])
      if (args !== undefined) return args
      connection.extra.busyWith(prepared)
      return [leftError]
    },
    execute: (args) => (args as EnvelopedArgs).begin(),
    subscribe: (args) => (args as EnvelopedArgs).begin(),
    onNext: (_connection, _id, _payload, _args, result) => sentResult(result),
    onError(_connection, _id, _payload, errors) {
      const coded = clientResult({ errors }).errors
      return coded.map((error) => withoutTransportDetails(error).toJSON())
    },
  })
}

async function* only(result: ExecutionResult): Answers {
  yield result
}

async function* none(): Answers {}

/** The error of an operation that was left; it is not sent. */
const leftError = new GraphQLError('the operation was completed before it had begun')

function isExplained({ contextValue }: ExecutionArgs): boolean {
  return (contextValue as OperationOptions | undefined)?.explain === true
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

import type { IncomingMessage } from 'node:http'
import { type ExecutionArgs, type ExecutionResult, getOperationAST, GraphQLError } from 'graphql'
import { type Context, makeServer, type Server, type ServerOptions } from 'graphql-ws'
import { followedGenerator } from '../../lib/followed-generator.ts'
import { interruptible } from '../../lib/interruptible.ts'
import type { Viewer } from '../../access/viewer.ts'
import {
  type ClientErrorCode,
  clientErrorOf,
  clientResult,
  isUnexpected,
  withoutTransportDetails,
} from '../../graphql/errors/client-error.ts'
import { type DocumentSource, observedDocument } from '../document-source.ts'
import type { OperationOptions } from '../../graphql/answer/execution.ts'
import { turns } from '../../graphql/prepare/operation-turns.ts'
import type { PlannedQueries } from '../http/query-fast-path.ts'
import { oneFrame, plannedResults, type PlannedStream, type StreamEnd } from '../planned-stream.ts'
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
  /** Answers the operations that have a plan. */
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

/** The same, how frames are sent over it, and what it has begun. */
export interface OpenWebSocket extends OpenedBy {
  /** Sends what a stream has as messages of the operation with this id. Resolves when it has ended. */
  readonly sendFrames: (id: string, stream: PlannedStream) => Promise<StreamEnd>
  /** The answers of operations that have begun and not ended, whatever their ids: all end with the WebSocket. */
  readonly begun: Set<Answers>
  /** Counts work as one of the messages that are being answered. */
  readonly busyWith: (work: Promise<unknown>) => void
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
  /** Resolves where the operation is completed, or its WebSocket closed, before there are answers. */
  readonly left: Promise<undefined>
}

type Payload = Parameters<NonNullable<ServerOptions['onSubscribe']>>[2]

/** Stands for the answers of an operation until its WebSocket is known, which may send frames itself. */
const toBegin: ExecutionResult = {}

/** The graphql-transport-ws protocol on top of the pipeline that HTTP uses too. */
export function createWebSocketOperations(
  options: WebSocketOperationsOptions,
): Server<OpenWebSocket> {
  const { pipeline, planned, documents, maxOperationsPerSocket, quotas, observer, log } = options

  const prepare = async (
    connection: Connection,
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
      contextValue,
      enveloped,
      viewer,
      query,
      left,
    }
  }

  /** What the plan of an operation sends; `undefined` where the pipeline has to answer. */
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
    const answer = async (asked: ExecutionArgs = args) => {
      const { subscribe, execute } = args.enveloped
      return (await (isLive ? subscribe(asked) : execute(asked))) as Answers | ExecutionResult
    }
    const stream = await streamOf(connection, args, isLive)
    if (stream === undefined) return answer(begunAt(args, beganMs))
    const send = (one: PlannedStream) => connection.extra.sendFrames(id, one)
    return plannedResults({ stream, send, answer })
  }

  /** What an operation is answered, as one of those that a user may have so many of, until all has been sent. */
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
      return followedGenerator(answers, { ended: giveBack })
    } catch (error) {
      giveBack()
      throw error
    }
  }

  return makeServer<Record<string, unknown> | undefined, OpenWebSocket>({
    connectionInitWaitTimeout: options.connectionInitDeadlineMs,
    onConnect: ({ extra, connectionParams }) => extra.identity.begin(connectionParams),
    async onSubscribe(connection, id, payload) {
      const operations = Object.keys(connection.subscriptions).length
      if (operations > maxOperationsPerSocket) return [tooManyOperations(maxOperationsPerSocket)]
      const { promise: left, resolve } = Promise.withResolvers<undefined>()
      // graphql-ws ends what stands here on `complete`: what the operation is still beginning is left then.
      connection.subscriptions[id] = interruptible(none(), () => resolve(undefined))
      const prepared = prepare(connection, payload, left).catch((error: unknown) => {
        const seen = clientErrorOf(error)
        if (isUnexpected(seen)) log.error('an operation failed unexpectedly', { error })
        return [seen]
      })
      const args = await Promise.race([prepared, left])
      if (args !== undefined) return args
      connection.extra.busyWith(prepared)
      return [leftError]
    },
    execute: () => toBegin,
    // Its WebSocket is not known yet, over which its frames may go as they are.
    subscribe: () => toBegin,
    async onOperation(connection, id, _payload, args) {
      const { left } = args as EnvelopedArgs
      const { begun, busyWith } = connection.extra
      const answering = answersOf(connection, id, args as EnvelopedArgs)
      const answers = await Promise.race([answering, left])
      if (answers === undefined) {
        busyWith(answering.then((late) => late.return()))
        return none()
      }
      const followed = followedGenerator(answers, { ended: () => begun.delete(followed) })
      begun.add(followed)
      return followed
    },
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

/** Of an operation that nobody waits for any more; it is not sent. */
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

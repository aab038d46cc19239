/*
 * The operations of a WebSocket, by the protocol graphql-transport-ws. graphql-ws reads the messages and calls the
 * functions here: `onConnect` authenticates, `onSubscribe` prepares an operation, and `begin` answers it. If the client
 * completes an operation before it has begun, it ends as soon as it begins, and returns the user's quota.
 */

import type { IncomingMessage } from 'node:http'
import { GraphQLError } from 'graphql'
import { type Context, makeServer, type Server } from 'graphql-ws'
import {
  ClientError,
  clientErrorOf,
  clientResult,
  withoutTransportDetails,
} from '../../graphql/errors/client-error.ts'
import { observedGenerator, interruptible } from '../../lib/generators.ts'
import { graphqlPath } from '../operation-options.ts'
import { loggedError, sentResult, type ServerParts } from '../operation-pipeline.ts'
import type { FrameStream, StreamEnd } from '../../lib/frame-stream.ts'
import {
  answerOperation,
  type Answers,
  only,
  prepareOperation,
  type StreamedOperation,
} from '../streamed-operation.ts'
import type { SocketIdentity } from './socket-identity.ts'

export interface OpenedBy {
  readonly request: IncomingMessage
  /** The id of the request. */
  readonly requestId: string
  readonly identity: SocketIdentity
}

/** An open WebSocket: its request and caller, its frames, and its running operations. */
export interface OpenWebSocket extends OpenedBy {
  /** Sends the frames of a stream as messages of the operation with this id. Resolves when the stream has ended. */
  readonly sendFrames: (id: string, stream: FrameStream) => Promise<StreamEnd>
  /** The running answers, of any id. All end with the WebSocket. */
  readonly begun: Set<Answers>
  /** Call when a subscription has begun, and the returned function when it has ended. */
  readonly follows: () => () => void
  /** The id of the next operation: the id of the request with a counter. */
  readonly nextRequestId: () => string
  /** Counts work as a running message. */
  readonly busyWith: (work: Promise<unknown>) => void
}

type Connection = Context<Record<string, unknown> | undefined, OpenWebSocket>

interface ReadyOperation extends StreamedOperation {
  /** Answers the operation. Resolves with no answers if it completes, or the WebSocket closes, before it has begun. */
  readonly begin: () => Promise<Answers>
}

/** The graphql-transport-ws protocol on top of the pipeline that HTTP also uses. */
export function createWebSocketOperations(parts: ServerParts): Server<OpenWebSocket> {
  const { limits, quotas, observer, log } = parts
  const { maxOperationsPerSocket } = limits

  /**
   * Takes the user's quota and begins the answer. Resolves with the answers, which return the quota at their end. If the
   * client leaves the operation first, resolves with no answers, and ends the operation as soon as it begins.
   */
  const begin = async (
    { extra }: Connection,
    id: string,
    operation: StreamedOperation,
    left: Promise<undefined>,
  ): Promise<Answers> => {
    const { viewer, isSubscription } = operation
    let giveBack: () => void
    try {
      giveBack = quotas.take(isSubscription ? 'subscriptions' : 'operations', viewer)
    } catch (error) {
      const seen = clientErrorOf(error)
      const code = String(seen.extensions['code'])
      const { requestId } = operation.asked.trace
      observer?.refused({ transport: 'websocket', code, viewer, address: undefined, requestId })
      return only({ errors: [seen] })
    }
    const { sendFrames, follows, begun, busyWith } = extra
    try {
      const answering = answerOperation(parts, operation, (one) => sendFrames(id, one))
      const answers = await Promise.race([answering, left])
      if (answers === undefined) {
        busyWith(answering.then((late) => late.return()).finally(giveBack))
        return none()
      }
      const ended = isSubscription ? follows() : undefined
      const followed = observedGenerator(answers, () => {
        begun.delete(followed)
        ended?.()
        giveBack()
      })
      begun.add(followed)
      return followed
    } catch (error) {
      giveBack()
      throw error
    }
  }

  return makeServer<Record<string, unknown> | undefined, OpenWebSocket>({
    connectionInitWaitTimeout: limits.connectionInitDeadlineMs,
    onConnect: ({ extra, connectionParams }) => extra.identity.begin(connectionParams),
    onPing: ({ extra }, payload) => extra.identity.renew(payload),
    async onSubscribe(connection, id, payload) {
      const operations = Object.keys(connection.subscriptions).length
      if (operations > maxOperationsPerSocket) {
        const message = `more than ${maxOperationsPerSocket} operations are running on this WebSocket`
        const hint = 'complete some of them, or open another WebSocket'
        const details = { value: maxOperationsPerSocket, hint }
        return [clientErrorOf(new ClientError('TOO_MANY_OPERATIONS', message, details))]
      }
      const { promise: left, resolve } = Promise.withResolvers<undefined>()
      // graphql-ws returns this generator on `complete`, which leaves an operation that is still starting.
      connection.subscriptions[id] = interruptible(none(), () => resolve(undefined))
      const { identity, request, nextRequestId } = connection.extra
      const requestId = nextRequestId()
      const traced = parts.tracer?.begin({
        method: 'GET',
        path: graphqlPath,
        requestId,
        carrier: () => ({
          ...request.headers,
          ...connection.connectionParams,
          ...payload.extensions,
        }),
      })
      const trace = { requestId, follower: traced?.follower }
      const prepare = async (): Promise<ReadyOperation | readonly GraphQLError[]> => {
        const operation = await prepareOperation(parts, {
          transport: 'websocket',
          request,
          connectionParams: connection.connectionParams,
          operation: payload,
          learns: true,
          viewer: await identity.confirm(),
          callerToken: identity.callerToken,
          trace,
        })
        if (!('document' in operation)) {
          traced?.end()
          return operation
        }
        const answers = (): Promise<Answers> => begin(connection, id, operation, left)
        if (traced === undefined) return { ...operation, begin: answers }
        return { ...operation, begin: () => traced.run(answers).finally(() => traced.end()) }
      }
      const preparing = traced === undefined ? prepare() : traced.run(prepare)
      const prepared = preparing.catch((error: unknown) => {
        traced?.end()
        return [loggedError(error, trace, log)]
      })
      const args = await Promise.race([prepared, left])
      if (args !== undefined) return args
      traced?.end()
      connection.extra.busyWith(prepared)
      return [leftError]
    },
    execute: (args) => (args as ReadyOperation).begin(),
    subscribe: (args) => (args as ReadyOperation).begin(),
    onNext: (_connection, _id, _payload, _args, result) => sentResult(result),
    onError(_connection, _id, _payload, errors) {
      const coded = clientResult({ errors }).errors
      return coded.map((error) => withoutTransportDetails(error).toJSON())
    },
  })
}

async function* none(): Answers {}

/** The error of an operation that was left; it is not sent. */
const leftError = new GraphQLError('the operation was completed before it had begun')

/*
 * Serves one WebSocket from its upgrade to its close. The checks of an upgrade are the same as for HTTP. The transport
 * reads one message per turn of the event loop, and pauses the socket while too many messages run. Frames of subscriptions
 * bypass the slow `socket.send`: `NextMessages` writes them straight to the connection. Pings find dead clients, a slow
 * reader is cut off, and a stop dismisses the socket once its running queries are answered.
 *
 * graphql-ws reads the messages by the protocol graphql-transport-ws, and calls the functions of
 * `createWebSocketOperations`: `onConnect` authenticates, `onSubscribe` prepares an operation, and `begin` answers it. If
 * the client completes an operation before it has begun, it ends as soon as it begins, and returns the user's quota.
 */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { GraphQLError } from 'graphql'
import { CloseCode, type Context, handleProtocols, makeServer, type Server } from 'graphql-ws'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import {
  ClientError,
  clientErrorOf,
  clientResult,
  withoutTransportDetails,
} from '../../graphql/errors/client-error.ts'
import { interruptible, observedGenerator } from '../../lib/generators.ts'
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
import { SocketIdentity } from './socket-identity.ts'
import {
  type AllowedOrigins,
  pathOf,
  type Refusal,
  refuseUpgrade,
  requestIdOf,
  startingRefusal,
} from '../guard/request-guard.ts'
import { sleep } from '../../lib/backoff.ts'
import { FrameSink, type Output } from '../user-limits.ts'

export type AnswerUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer) => void

export interface UpgradeOptions {
  readonly server: WebSocketServer
  /** The foreign origins that may open one. Absent: those that may send operations. */
  readonly allowed?: AllowedOrigins | undefined
  /** Why a request is refused that any server of this gateway would take. */
  readonly refusal: (request: IncomingMessage) => Refusal | undefined
  /** `connection`: that of the WebSocket, without compression. */
  readonly serve: (
    socket: WebSocket,
    openedBy: Pick<OpenedBy, 'request' | 'requestId'>,
    connection: Socket,
  ) => void
}

/** Answers upgrade requests by a WebSocket or a refusal. */
export function upgradesOf(
  { origins, isStarted, connections, observer }: ServerParts,
  { server, allowed, refusal: ownRefusal, serve }: UpgradeOptions,
): AnswerUpgrade {
  return (request, stream, head) => {
    const { headers } = request
    const stopping = { status: 503, reason: 'The gateway is stopping.' }
    const refusal =
      (connections.isClosed ? stopping : origins.refusal(headers, allowed)) ??
      (isStarted() ? undefined : startingRefusal) ??
      ownRefusal(request)
    if (refusal !== undefined) {
      refuseUpgrade(stream, refusal)
      return
    }
    server.handleUpgrade(request, stream, head, (socket) => {
      observer?.socketOpened?.()
      socket.once('close', () => observer?.socketClosed?.())
      // The server is one of node:http or node:https.
      serve(socket, { request, requestId: requestIdOf(headers) }, stream as Socket)
    })
  }
}

/**
 * Cuts off a WebSocket if a ping has no answer before the second one after it. `isDeaf`: no answers are read now. Returns a
 * function that ends it.
 */
export function followPings(
  socket: WebSocket,
  intervalMs: number,
  isDeaf: () => boolean = () => false,
): () => void {
  let unanswered = 0
  socket.on('pong', () => {
    unanswered = 0
  })
  const pings = setInterval(() => {
    if (isDeaf()) return
    unanswered += 1
    if (unanswered > 2) socket.terminate()
    else socket.ping()
  }, intervalMs)
  return () => clearInterval(pings)
}

/** GraphQL over WebSocket (graphql-transport-ws), on the path of the API. */
export function webSocketUpgrades(parts: ServerParts): AnswerUpgrade {
  const server = new WebSocketServer({
    noServer: true,
    handleProtocols,
    perMessageDeflate: false,
    maxPayload: parts.limits.maxBodyBytes,
    // Reads one message per socket and turn of the event loop: thousands may arrive at once.
    allowSynchronousEvents: false,
  })
  const operations = createWebSocketOperations(parts)
  const elsewhere = { status: 404, reason: `WebSockets are served at ${graphqlPath} only.` }
  return upgradesOf(parts, {
    server,
    refusal: (request) => (pathOf(request) === graphqlPath ? undefined : elsewhere),
    serve(socket, opened, connection) {
      const identity = new SocketIdentity(parts, opened, socket)
      const openedBy = { ...opened, identity }
      serveGraphQLSocket({ socket, connection, openedBy, operations, parts })
    },
  })
}

interface GraphQLSocketOptions {
  readonly socket: WebSocket
  /** The connection of the WebSocket, without compression. */
  readonly connection: Socket
  readonly openedBy: OpenedBy
  readonly operations: Server<OpenWebSocket>
  readonly parts: ServerParts
}

/** The close code for slow readers (RFC 6455: policy violation). */
const slowReaderCode = 1008
/** The close code for too many messages, after HTTP's 429. */
const tooManyMessagesCode = 4429
/** How long a WebSocket with too many running messages waits for the first to end. */
const pileUpMs = 1_000

/** The close code of a gateway that stops (IANA: service restart). Clients of graphql-transport-ws reconnect. */
const restartCode = 1012
/** How long a client may take to answer a close frame. */
const closeDeadlineMs = 2_000

/**
 * Serves one WebSocket until it closes. Sending waits until the bytes have left the process, so a slow reader delays
 * its own operations first.
 */
function serveGraphQLSocket(options: GraphQLSocketOptions): void {
  const { socket, connection, openedBy, operations, parts } = options
  const { unsent, limits, log } = parts
  // A completed operation may still be preparing, so messages may outnumber operations for a short time.
  const maxPending = 2 * limits.maxOperationsPerSocket + 10
  const output = unsent.open({
    transport: 'websocket',
    connection,
    viewer: () => openedBy.identity.viewer,
    waitingBytes: () => connection.writableLength,
    cutOff: () => cutOff(socket),
  })
  const sink = new FrameSink(output)
  connection.on('drain', () => sink.drained())
  const sendFrames: OpenWebSocket['sendFrames'] = (id, stream) =>
    sink.send(stream, (payload) => {
      // Bypasses the slow `socket.send`. Both write whole messages, since nothing is compressed.
      if (socket.readyState === socket.OPEN) messages.write(connection, id, payload)
    })
  let pending = 0
  let following = 0
  let isDismissed = false
  /** Closes a dismissed socket. Clients send again what was not answered, so a mutation under way is answered first. */
  const closeIfDismissed = (): void => {
    if (!isDismissed || pending > following || socket.readyState !== socket.OPEN) return
    socket.close(restartCode, 'Reconnect: the gateway stops')
    const timer = setTimeout(() => socket.terminate(), closeDeadlineMs)
    socket.once('close', () => clearTimeout(timer))
  }
  const follows: OpenWebSocket['follows'] = () => {
    following += 1
    closeIfDismissed()
    return () => {
      following -= 1
    }
  }
  /** Set while the socket waits for a message to end. */
  let someEnded: AbortController | undefined
  const busyWith = async (work: Promise<unknown>): Promise<void> => {
    pending += 1
    try {
      await work
    } catch (error) {
      log.error('a WebSocket message failed unexpectedly', { requestId: openedBy.requestId, error })
      socket.close(CloseCode.InternalServerError, 'Internal server error')
    } finally {
      pending -= 1
      someEnded?.abort()
      closeIfDismissed()
    }
  }
  const begun: OpenWebSocket['begun'] = new Set()
  const { requestId } = openedBy
  let operationCount = 0
  const nextRequestId = (): string => `${requestId}.${++operationCount}`

  const closed = operations.opened(
    {
      protocol: socket.protocol,
      send: (text) => send(socket, text, output),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (handle) => {
        const receive = async (message: RawData): Promise<void> => {
          if (socket.readyState !== socket.OPEN) return
          if (pending >= maxPending) {
            // Operations that messages of the same burst complete are about to end.
            someEnded = new AbortController()
            socket.pause()
            await sleep(pileUpMs, someEnded.signal)
            someEnded = undefined
            socket.resume()
          }
          if (pending >= maxPending) {
            socket.close(tooManyMessagesCode, 'Too many operations')
            return
          }
          // oxlint-disable-next-line typescript/no-base-to-string -- a Buffer, as binaryType is nodebuffer
          void busyWith(handle(message.toString()))
          // Lets the operations that a message completes end before the next message, which may reuse their id.
          await setImmediate()
        }
        let received = Promise.resolve()
        socket.on('message', (message) => {
          received = received.then(async () => receive(message))
        })
      },
    },
    {
      ...openedBy,
      sendFrames,
      begun,
      follows,
      nextRequestId,
      busyWith: (work) => void busyWith(work),
    },
  )

  const forget = parts.connections.add({
    dismiss() {
      isDismissed = true
      closeIfDismissed()
    },
    destroy: () => socket.terminate(),
  })
  const endPings = followPings(socket, limits.pingIntervalMs)
  // ws closes the socket itself. For errors of the client (a broken frame, a large message) it sends a close code. They are
  // not logged, so that clients cannot fill the log.
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code?.startsWith('WS_ERR_') === true) return
    log.warn('a WebSocket failed', { requestId, reason: error.message })
  })
  socket.once('close', (code, reason) => {
    endPings()
    forget()
    sink.close()
    openedBy.identity[Symbol.dispose]()
    for (const answers of begun) void answers.return()
    closed(code, reason.toString()).catch((error: unknown) => {
      log.error('the operations of a WebSocket could not be ended', { requestId, error })
    })
  })
}

function cutOff(socket: WebSocket): void {
  socket.close(slowReaderCode, 'Reader too slow')
  // The close frame follows all unread bytes and may never arrive.
  socket.terminate()
}

async function send(socket: WebSocket, text: string, output: Output): Promise<void> {
  if (socket.readyState !== socket.OPEN) return
  // An error closes the socket, which ends the operation.
  await new Promise<void>((resolve) => {
    socket.send(text, () => resolve())
    output.measure()
  })
  output.measure()
}

interface OpenedBy {
  readonly request: IncomingMessage
  /** The id of the request. */
  readonly requestId: string
  readonly identity: SocketIdentity
}

/** An open WebSocket: its request and caller, its frames, and its running operations. */
interface OpenWebSocket extends OpenedBy {
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
function createWebSocketOperations(parts: ServerParts): Server<OpenWebSocket> {
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
          sent: identity.credentials,
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

const behind = Buffer.from('}')

/** Payloads from this size on are not copied for each connection. */
const sharedFromBytes = 16_384
/** The usual number of ids with the same payload: clients count their operations, or use a UUID for each. */
const maxSharedIds = 16

/**
 * Writes the `next` messages of graphql-transport-ws for shared frames. Each message is one WebSocket frame (RFC 6455,
 * 5.2), neither masked nor compressed, so that operations with the same id share its bytes.
 */
class NextMessages {
  #payload: Buffer | undefined
  readonly #byId = new Map<string, Buffer>()

  /** Writes a message of operation `id` to an uncompressed connection between two messages. */
  write(connection: Duplex, id: string, payload: Buffer): void {
    if (payload.length < sharedFromBytes) {
      connection.write(this.#whole(id, payload))
      return
    }
    const ahead = aheadOf(id)
    connection.cork()
    connection.write(messageStart(ahead.length + payload.length + behind.length, [ahead]))
    connection.write(payload)
    connection.write(behind)
    connection.uncork()
  }

  #whole(id: string, payload: Buffer): Buffer {
    if (payload !== this.#payload) {
      this.#payload = payload
      this.#byId.clear()
    }
    const known = this.#byId.get(id)
    if (known !== undefined) return known
    const ahead = aheadOf(id)
    const length = ahead.length + payload.length + behind.length
    const whole = messageStart(length, [ahead, payload, behind])
    if (this.#byId.size < maxSharedIds) this.#byId.set(id, whole)
    return whole
  }
}

/** Shared by all WebSockets, which get the same messages. */
const messages = new NextMessages()

/**
 * The part of a message before its payload. It is made for each payload: a small buffer per connection would retain the
 * pool that it was cut from.
 */
function aheadOf(id: string): Buffer {
  return Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`)
}

const finalText = 0x81
const length16 = 126
const length64 = 127

/** The beginning of a message: the header of a WebSocket frame of this length, and parts of the message. */
function messageStart(length: number, parts: readonly Buffer[]): Buffer {
  const headerBytes = length < length16 ? 2 : length < 65_536 ? 4 : 10
  const size = parts.reduce((sum, part) => sum + part.length, headerBytes)
  const bytes = Buffer.allocUnsafe(size)
  bytes[0] = finalText
  if (headerBytes === 2) bytes[1] = length
  else if (headerBytes === 4) {
    bytes[1] = length16
    bytes.writeUInt16BE(length, 2)
  } else {
    bytes[1] = length64
    bytes.writeUInt32BE(0, 2)
    bytes.writeUInt32BE(length, 6)
  }
  let at = headerBytes
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { CloseCode, type Server } from 'graphql-ws'
import type { RawData, WebSocket } from 'ws'
import { sleep } from '../../lib/backoff.ts'
import type { ServerLog } from '../operation-options.ts'
import { FrameSink } from '../frame-sink.ts'
import type { Output, UnsentBytes } from '../unsent-bytes.ts'
import { NextMessages } from './next-messages.ts'
import type { OpenedBy, OpenWebSocket } from './web-socket-operations.ts'

export interface GraphQLSocketOptions {
  readonly socket: WebSocket
  /** The connection that the WebSocket was opened on, without compression. */
  readonly connection: Socket
  readonly openedBy: OpenedBy
  readonly operations: Server<OpenWebSocket>
  readonly maxOperationsPerSocket: number
  readonly unsent: UnsentBytes
  readonly pingIntervalMs: number
  readonly log: ServerLog
}

/** A reader that fell too far behind (RFC 6455: policy violation). */
const slowReaderCode = 1008
/** As in HTTP, 429. */
const tooManyMessagesCode = 4429
/** How long a WebSocket with too many messages under way may wait for the first of them to end. */
const pileUpMs = 1_000

/** Of all WebSockets: they are told the same one after the other. */
const messages = new NextMessages()

/**
 * Serves one WebSocket until it closes. Sending waits until the bytes have left the process, so a slow reader slows its
 * own operations down first.
 */
export function serveGraphQLSocket(options: GraphQLSocketOptions): void {
  const { socket, connection, openedBy, operations, unsent, log } = options
  // An operation that was completed may still be preparing; so messages may outnumber operations, but not for long.
  const maxPending = 2 * options.maxOperationsPerSocket + 10
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
      // Past `socket.send`, which takes as long as all the rest. That writes whole messages, too, as nothing is compressed.
      if (socket.readyState === socket.OPEN) messages.write(connection, id, payload)
    })
  let pending = 0
  /** There as long as the socket waits for one to end. */
  let someEnded: AbortController | undefined
  const busyWith = async (work: Promise<unknown>): Promise<void> => {
    pending += 1
    try {
      await work
    } catch (error) {
      log.error('a WebSocket message failed unexpectedly', { error })
      socket.close(CloseCode.InternalServerError, 'Internal server error')
    } finally {
      pending -= 1
      someEnded?.abort()
    }
  }
  const begun: OpenWebSocket['begun'] = new Set()

  const closed = operations.opened(
    {
      protocol: socket.protocol,
      send: (text) => send(socket, text, output),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (handle) => {
        const receive = async (message: RawData): Promise<void> => {
          if (socket.readyState !== socket.OPEN) return
          if (pending >= maxPending) {
            // Those that were completed in the same burst of messages are about to end.
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
          // What a message completes has ended before the next one is read, which may begin something of the same id.
          await setImmediate()
        }
        let received = Promise.resolve()
        socket.on('message', (message) => {
          received = received.then(async () => receive(message))
        })
      },
    },
    { ...openedBy, sendFrames, begun, busyWith: (work) => void busyWith(work) },
  )

  const stopPings = keepPinging(socket, options.pingIntervalMs)
  // ws closes the socket itself. What the other side has done wrong, a broken frame or a message that is too large, it is told by the
  // code for it; a log would only be what anybody could fill.
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code?.startsWith('WS_ERR_') === true) return
    log.warn('a WebSocket failed', { reason: error.message })
  })
  socket.once('close', (code, reason) => {
    stopPings()
    sink.close()
    openedBy.identity[Symbol.dispose]()
    for (const answers of begun) void answers.return()
    closed(code, reason.toString()).catch((error: unknown) => {
      log.error('the operations of a WebSocket could not be ended', { error })
    })
  })
}

function cutOff(socket: WebSocket): void {
  socket.close(slowReaderCode, 'Reader too slow')
  // The close frame is behind all that was not read: it may never get there.
  socket.terminate()
}

async function send(socket: WebSocket, text: string, output: Output): Promise<void> {
  if (socket.readyState !== socket.OPEN) return
  // An error closes the socket, and that ends the operation; there is nothing more to say to it.
  await new Promise<void>((resolve) => {
    socket.send(text, () => resolve())
    output.measure()
  })
  output.measure()
}

/** Pings until told to stop; cuts the socket off where a ping is not answered before the second one after it. */
function keepPinging(socket: WebSocket, intervalMs: number): () => void {
  let unanswered = 0
  socket.on('pong', () => {
    unanswered = 0
  })
  const timer = setInterval(() => {
    if (unanswered >= 2) {
      socket.terminate()
      return
    }
    unanswered += 1
    socket.ping()
  }, intervalMs)
  return () => clearInterval(timer)
}

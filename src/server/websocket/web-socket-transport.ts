import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { handleProtocols } from 'graphql-ws'
import { type WebSocket, WebSocketServer } from 'ws'
import { pathOf } from '../guard/operation-request.ts'
import { refuseUpgrade } from '../guard/refusal.ts'
import { graphqlPath } from '../operation-options.ts'
import { serveGraphQLSocket } from './graphql-socket.ts'
import { SocketIdentity } from './socket-identity.ts'
import { createWebSocketOperations } from './web-socket-operations.ts'
import type { ServerParts } from '../operation-pipeline.ts'

const goingAwayCode = 1001

/** GraphQL over WebSocket (graphql-transport-ws), on the path of the API. */
export class WebSocketTransport {
  readonly #parts: ServerParts
  readonly #server: WebSocketServer
  #stopping = false

  constructor(parts: ServerParts) {
    this.#parts = parts
    this.#server = new WebSocketServer({
      noServer: true,
      handleProtocols,
      perMessageDeflate: false,
      maxPayload: parts.limits.maxBodyBytes,
      // Reads one message per socket and turn of the event loop: thousands may arrive at once.
      allowSynchronousEvents: false,
    })
    const operations = createWebSocketOperations(parts)
    this.#server.on(
      'connection',
      (socket: WebSocket, request: IncomingMessage, connection: Socket) => {
        parts.observer?.socketOpened?.()
        socket.once('close', () => parts.observer?.socketClosed?.())
        const openedBy = { request, identity: new SocketIdentity(parts, request, socket) }
        serveGraphQLSocket({ socket, connection, openedBy, operations, parts })
      },
    )
  }

  /** Answers an upgrade request with a WebSocket or a refusal. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    if (this.#stopping) {
      refuseUpgrade(stream, { status: 503, reason: 'The gateway is stopping.' })
      return
    }
    const refusal = this.#parts.origins.refusal(request.headers)
    if (refusal !== undefined) {
      refuseUpgrade(stream, refusal)
      return
    }
    if (pathOf(request) !== graphqlPath) {
      refuseUpgrade(stream, { status: 404, reason: `There is a WebSocket on ${graphqlPath} only.` })
      return
    }
    this.#server.handleUpgrade(request, stream, head, (socket) => {
      // The server may have started to stop during the handshake.
      if (this.#stopping) socket.close(goingAwayCode, 'Going away')
      else this.#server.emit('connection', socket, request, stream)
    })
  }

  /** Refuses new WebSockets and closes all with 1001. Cuts off those that have not closed by the deadline. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true
    const { clients } = this.#server
    const closed = [...clients].map(
      (client) => new Promise<void>((resolve) => client.once('close', () => resolve())),
    )
    for (const client of clients) client.close(goingAwayCode, 'Going away')
    const timer = setTimeout(() => {
      for (const client of clients) client.terminate()
    }, deadlineMs)
    await Promise.all(closed)
    clearTimeout(timer)
    this.#server.close()
  }
}

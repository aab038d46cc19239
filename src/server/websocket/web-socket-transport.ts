import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { handleProtocols } from 'graphql-ws'
import { type WebSocket, WebSocketServer } from 'ws'
import { pathOf } from '../guard/operation-request.ts'
import { refuseUpgrade, startingRefusal, requestIdOf } from '../guard/refusal.ts'
import { graphqlPath } from '../operation-options.ts'
import { serveGraphQLSocket } from './graphql-socket.ts'
import { SocketIdentity } from './socket-identity.ts'
import { createWebSocketOperations } from './web-socket-operations.ts'
import type { ServerParts } from '../operation-pipeline.ts'

/** GraphQL over WebSocket (graphql-transport-ws), on the path of the API. */
export class WebSocketTransport {
  readonly #parts: ServerParts
  readonly #server: WebSocketServer

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
        const requestId = requestIdOf(request.headers)
        const identity = new SocketIdentity(parts, { request, requestId }, socket)
        const openedBy = { request, requestId, identity }
        serveGraphQLSocket({ socket, connection, openedBy, operations, parts })
      },
    )
  }

  /** Answers an upgrade request with a WebSocket or a refusal. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    if (this.#parts.connections.isClosed) {
      refuseUpgrade(stream, { status: 503, reason: 'The gateway is stopping.' })
      return
    }
    const { origins, isStarted } = this.#parts
    const refusal = origins.refusal(request.headers) ?? (isStarted() ? undefined : startingRefusal)
    if (refusal !== undefined) {
      refuseUpgrade(stream, refusal)
      return
    }
    if (pathOf(request) !== graphqlPath) {
      refuseUpgrade(stream, { status: 404, reason: `There is a WebSocket on ${graphqlPath} only.` })
      return
    }
    this.#server.handleUpgrade(request, stream, head, (socket) => {
      this.#server.emit('connection', socket, request, stream)
    })
  }
}

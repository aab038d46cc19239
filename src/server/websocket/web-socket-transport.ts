import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Authenticator } from '../../access/authentication/authenticator.ts'
import { handleProtocols } from 'graphql-ws'
import { type WebSocket, WebSocketServer } from 'ws'
import { serveGraphQLSocket } from './graphql-socket.ts'
import { graphqlPath } from '../operation-options.ts'
import type { DocumentSource } from '../document-source.ts'
import type { OperationPipeline } from '../operation-pipeline.ts'
import type { OriginCheck } from '../guard/origin-check.ts'
import { refuseUpgrade } from '../guard/refusal.ts'
import type { UserQuotas } from '../guard/user-quotas.ts'
import type { UnsentBytes } from '../unsent-bytes.ts'
import { pathOf } from '../guard/operation-request.ts'
import type { ServerLog } from '../operation-options.ts'
import type { ServerObserver } from '../server-observer.ts'
import type { ServerOptions } from '../server-options.ts'
import { SocketIdentity } from './socket-identity.ts'
import type { PlannedQueries } from '../http/query-fast-path.ts'
import { createWebSocketOperations } from './web-socket-operations.ts'

export interface WebSocketTransportOptions {
  readonly pipeline: OperationPipeline
  readonly documents: DocumentSource
  readonly origins: OriginCheck
  readonly limits: Pick<
    ServerOptions,
    | 'maxBodyBytes'
    | 'connectionInitDeadlineMs'
    | 'maxOperationsPerSocket'
    | 'pingIntervalMs'
    | 'reauthenticateMs'
  >
  /** Authenticates callers; `undefined` for no authentication. */
  readonly authenticator: Authenticator | undefined
  readonly quotas: UserQuotas
  readonly unsent: UnsentBytes
  /** Answers operations that have a plan. The pipeline answers the others. */
  readonly planned: PlannedQueries | undefined
  readonly observer: ServerObserver | undefined
  readonly log: ServerLog
}

const goingAwayCode = 1001

/** GraphQL over WebSocket (graphql-transport-ws), on the path of the API. */
export class WebSocketTransport {
  readonly #options: WebSocketTransportOptions
  readonly #server: WebSocketServer
  #stopping = false

  constructor(options: WebSocketTransportOptions) {
    const { pipeline, planned, documents, limits, authenticator, quotas, unsent, observer, log } =
      options
    this.#options = options
    this.#server = new WebSocketServer({
      noServer: true,
      handleProtocols,
      perMessageDeflate: false,
      maxPayload: limits.maxBodyBytes,
      // Reads one message per socket and turn of the event loop: thousands may arrive at once.
      allowSynchronousEvents: false,
    })
    const operations = createWebSocketOperations({
      pipeline,
      planned,
      documents,
      quotas,
      observer,
      log,
      ...limits,
    })
    this.#server.on(
      'connection',
      (socket: WebSocket, request: IncomingMessage, connection: Socket) => {
        observer?.socketOpened?.()
        socket.once('close', () => observer?.socketClosed?.())
        const identity = new SocketIdentity({
          request,
          authenticator,
          quotas,
          reauthenticateMs: limits.reauthenticateMs,
          close: (code, reason) => socket.close(code, reason),
          refused: (code, viewer) => {
            const address = request.socket.remoteAddress
            observer?.refused({ transport: 'websocket', code, viewer, address })
          },
          failed: (error) => log.error('the caller could not be authenticated', { error }),
        })
        serveGraphQLSocket({
          socket,
          connection,
          openedBy: { request, identity },
          operations,
          unsent,
          log,
          ...limits,
        })
      },
    )
  }

  /** Answers an upgrade request with a WebSocket or a refusal. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    if (this.#stopping) {
      refuseUpgrade(stream, { status: 503, reason: 'The gateway is stopping.' })
      return
    }
    const refusal = this.#options.origins.refusal(request.headers)
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

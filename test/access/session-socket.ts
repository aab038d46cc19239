import { WebSocket } from 'ws'
import type { GraphQLAnswer } from '../support/gateway.ts'

interface SocketMessage {
  readonly type: string
  readonly id?: string
  readonly payload?: unknown
}

/** A WebSocket of graphql-transport-ws, message by message, whose headers the test says. */
export interface SessionSocket extends Disposable {
  /** Resolves with the code when the WebSocket closes. */
  readonly closed: Promise<number>
  /** Resolves with whether the gateway has acknowledged the connection. */
  readonly opened: Promise<boolean>
  /** One operation; the first answer counts. */
  readonly ask: (query: string) => Promise<GraphQLAnswer>
  /** Sends a ping and waits for its pong. */
  readonly ping: (payload: object) => Promise<void>
}

export const openSessionSocket = (
  url: string,
  headers: Readonly<Record<string, string>>,
): SessionSocket => {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { headers })
  const waiting = new Map<string, (message: SocketMessage) => void>()
  const acknowledged = Promise.withResolvers<boolean>()
  const { promise: closed, resolve: closedBy } = Promise.withResolvers<number>()
  socket.once('close', closedBy)
  void closed.then(() => acknowledged.resolve(false))
  socket.on('error', () => acknowledged.resolve(false))
  socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init' })))
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as SocketMessage
    if (message.type === 'connection_ack') acknowledged.resolve(true)
    else waiting.get(message.type === 'pong' ? 'pong' : (message.id ?? ''))?.(message)
  })
  const next = async (id: string, sent: object): Promise<SocketMessage> => {
    const { promise, resolve } = Promise.withResolvers<SocketMessage>()
    waiting.set(id, resolve)
    socket.send(JSON.stringify(sent))
    return promise
  }
  let operations = 0
  return {
    closed,
    opened: acknowledged.promise,
    ask: async (query) => {
      operations += 1
      const id = String(operations)
      const { type, payload } = await next(id, { type: 'subscribe', id, payload: { query } })
      return type === 'error' ? ({ errors: payload } as GraphQLAnswer) : (payload as GraphQLAnswer)
    },
    ping: async (payload) => void (await next('pong', { type: 'ping', payload })),
    [Symbol.dispose]: () => socket.terminate(),
  }
}

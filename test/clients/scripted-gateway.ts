import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

/** What a scripted gateway does with one connection, or with the subscription that it brings. */
export type Reply =
  | { readonly form: 'refuse'; readonly closing: number }
  | { readonly form: 'close'; readonly closing: number }
  | { readonly form: 'error' | 'next'; readonly code: string; readonly retryAfterMs?: number }
  | { readonly form: 'frame'; readonly frame: object }

/**
 * A server that speaks graphql-transport-ws and answers by a script, for what a real gateway does only in an emergency: each
 * connection or subscription takes the next reply, and the last one stays.
 */
export interface ScriptedGateway extends AsyncDisposable {
  readonly url: string
  /** The variables of each subscription. */
  readonly subscribed: readonly Record<string, unknown>[]
  /** The payload of each `connection_init`. */
  readonly connected: readonly unknown[]
  /** How many pings it has answered. */
  readonly pings: () => number
}

export async function startScriptedGateway(replies: readonly Reply[]): Promise<ScriptedGateway> {
  const script = [...replies]
  const subscribed: Record<string, unknown>[] = []
  const connected: unknown[] = []
  let pings = 0
  const taken = (): Reply | undefined => (script.length > 1 ? script.shift() : script[0])
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', (socket) => {
    const send = (message: object): void => socket.send(JSON.stringify(message))
    socket.on('message', (data: Buffer) => {
      const { type, id, payload } = JSON.parse(data.toString())
      if (type === 'connection_init') {
        connected.push(payload)
        if (script[0]?.form === 'refuse') socket.close(script[0].closing)
        else send({ type: 'connection_ack' })
        if (script[0]?.form === 'refuse') taken()
      }
      if (type === 'ping') {
        pings++
        send({ type: 'pong' })
      }
      if (type !== 'subscribe') return
      subscribed.push(payload.variables)
      const reply = taken()
      if (reply === undefined) return
      if (reply.form === 'frame')
        send({ id, type: 'next', payload: { data: { pods: reply.frame } } })
      else if (reply.form === 'error' || reply.form === 'next') {
        const { code, retryAfterMs } = reply
        const errors = [{ message: `refused: ${code}`, extensions: { code, retryAfterMs } }]
        send({ id, type: reply.form, payload: reply.form === 'error' ? errors : { errors } })
        if (reply.form === 'next') send({ id, type: 'complete' })
      } else if (reply.form === 'close') socket.close(reply.closing)
    })
  })
  await once(server, 'listening')
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    subscribed,
    connected,
    pings: () => pings,
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate()
      server.close()
      await once(server, 'close')
    },
  }
}

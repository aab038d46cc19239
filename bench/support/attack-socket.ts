import { once } from 'node:events'
import { WebSocket } from 'ws'

/** A WebSocket that may send anything. What it answers with is a code of an error or of a closed socket, or `ok`. */
export interface AttackSocket {
  /** The first answer to an operation. */
  readonly ask: (payload: object) => Promise<string>
  /** Begins so many of an operation; the code of the last answer. */
  readonly subscribe: (payload: object, times: number) => Promise<string>
  /** Begins so many of an operation and reads nothing; the code that the socket is closed with. */
  readonly subscribeUnread: (payload: object, times: number) => Promise<string>
  /** The same as `subscribe`, each completed at once and all with one id but the last. */
  readonly subscribeAndComplete: (payload: object, times: number) => Promise<string>
  /** The code that it is closed with for a message. */
  readonly closedBy: (message: object) => Promise<string>
  /** The code that it is closed with for nothing. */
  readonly closed: () => Promise<string>
  readonly end: () => void
}

interface Message {
  readonly id?: string
  readonly type: string
  readonly payload?: Errors & { readonly errors?: Errors }
}

type Errors = readonly { readonly extensions?: { readonly code?: string } }[]

const codeOf = ({ type, payload }: Message): string => {
  const errors = type === 'error' ? payload : payload?.errors
  return errors?.[0]?.extensions?.code ?? 'ok'
}

/** Opens a socket; `init` has the credentials of an authenticated user. */
export async function openAttackSocket(
  { url, authorization }: { readonly url: string; readonly authorization: string },
  signal: AbortSignal,
  init: boolean,
): Promise<AttackSocket> {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws')
  signal.addEventListener('abort', () => socket.terminate(), { once: true })
  // The close event reports the result.
  socket.on('error', () => {})
  await once(socket, 'open', { signal })
  const waiting = new Map<string, PromiseWithResolvers<Message>>()
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message
    if (message.type === 'complete') return
    waiting.get(message.id ?? '')?.resolve(message)
  })
  socket.once('close', (code) => {
    for (const one of waiting.values()) one.reject(new Error(`closed with ${code}`))
  })
  const send = (message: object): void => socket.send(JSON.stringify(message))
  /** The next answer to an operation; that to `connection_init` has no id. */
  const next = async (id = ''): Promise<Message> => {
    const one = Promise.withResolvers<Message>()
    waiting.set(id, one)
    return one.promise.finally(() => waiting.delete(id))
  }
  if (init) {
    const acknowledged = next()
    send({ type: 'connection_init', payload: { authorization } })
    await acknowledged
  }
  let asked = 0
  const begin = (payload: object): string => {
    const id = String((asked += 1))
    send({ type: 'subscribe', id, payload })
    return id
  }
  const closed = async (): Promise<string> => {
    const [code] = (await once(socket, 'close', { signal })) as [number]
    return String(code)
  }
  return {
    ask: async (payload) => codeOf(await next(begin(payload))),
    subscribe: async (payload, times) => {
      const ids = Array.from({ length: times }, () => begin(payload))
      return codeOf(await next(ids.at(-1)))
    },
    subscribeUnread: (payload, times) => {
      socket.pause()
      for (let at = 0; at < times; at += 1) begin(payload)
      return closed()
    },
    subscribeAndComplete: async (payload, times) => {
      for (let at = 0; at < times; at += 1) {
        send({ type: 'subscribe', id: 'same', payload })
        send({ type: 'complete', id: 'same' })
      }
      return codeOf(await next(begin(payload)))
    },
    closedBy: (message) => {
      const code = closed()
      send(message)
      return code
    },
    closed,
    end: () => socket.terminate(),
  }
}

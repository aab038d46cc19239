import { once } from 'node:events'
import {
  createServer,
  request as forward,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'

/** A server before an API server: it counts what it passes on, and may answer in its place. */
export interface CountedServer extends AsyncDisposable {
  readonly url: string
  /** How many requests to a path that ends like this have been received. */
  readonly count: (ending: string) => number
  /** How many requests have had such a path, with its query. */
  readonly counted: (path: RegExp) => number
  /** Answers requests to paths that end like this by a status, from now on; `undefined`: passes them on again. */
  readonly refuse: (ending: string, status: number | undefined) => void
  /** Does not answer requests whose paths have this in them. */
  readonly hold: (part: string) => void
  /** How many requests it holds now, of clients that still wait. */
  readonly held: () => number
  /** Passes on what it holds, and holds nothing more. */
  readonly release: () => void
  /** Answers them by an object that has been created, or by these bytes, from now on. */
  readonly answer: (ending: string, body: object | Buffer) => void
}

/** `pause`: what a POST waits for before it is passed on, by its path and body. */
export const startCountedServer = async (
  target: string,
  pause?: (path: string, body: string) => Promise<unknown> | undefined,
): Promise<CountedServer> => {
  const paths: string[] = []
  const held: string[] = []
  const waiting = new Set<() => void>()
  const refused = new Map<string, { readonly status: number; readonly body?: string | Buffer }>()
  const server = createServer((incoming, response) => {
    const { url = '' } = incoming
    paths.push(url)
    const isHeld = held.some((part) => url.includes(part))
    const go = (): void => pass(incoming, response)
    if (!isHeld) {
      go()
      return
    }
    waiting.add(go)
    response.once('close', () => waiting.delete(go))
  })
  const pass = (incoming: IncomingMessage, response: ServerResponse): void => {
    const { url = '', method, headers } = incoming
    const [path = ''] = url.split('?')
    const isOf = ([ending]: readonly [string, unknown]): boolean =>
      url.endsWith(ending) || path.endsWith(ending)
    const own = [...refused].find(isOf)?.[1]
    if (own !== undefined) {
      incoming.resume()
      response.writeHead(own.status).end(own.body)
      return
    }
    const outgoing = forward(new URL(url, target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      // A watch begins before its first event.
      response.flushHeaders()
      answer.pipe(response)
      response.once('close', () => answer.destroy())
    })
    outgoing.once('error', () => response.destroy())
    if (pause === undefined || method !== 'POST') {
      incoming.pipe(outgoing)
      return
    }
    void text(incoming).then(async (body) => {
      await pause(url, body)
      outgoing.end(body)
    })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    count: (ending) => paths.filter((path) => path.endsWith(ending)).length,
    counted: (pattern) => paths.filter((path) => pattern.test(path)).length,
    refuse: (ending, status) => {
      if (status === undefined) refused.delete(ending)
      else refused.set(ending, { status })
    },
    hold: (part) => void held.push(part),
    held: () => waiting.size,
    release: () => {
      held.length = 0
      for (const go of waiting) go()
      waiting.clear()
    },
    answer: (ending, body) => {
      const bytes = Buffer.isBuffer(body) ? body : JSON.stringify(body)
      refused.set(ending, { status: 201, body: bytes })
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

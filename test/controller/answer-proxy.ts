import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A proxy of HTTP that can lose an answer: the server has done what it was asked, and the client does not know. */
export interface AnswerProxy extends AsyncDisposable {
  readonly url: string
  /** Breaks the connection of the next request with this method once the server has answered it. */
  readonly lose: (method: string) => void
}

export async function startAnswerProxy(target: string): Promise<AnswerProxy> {
  const losing: string[] = []
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/', headers } = request
    const body = await buffer(request)
    const answer = await fetch(new URL(url, target), {
      method,
      headers: { 'content-type': headers['content-type'] ?? 'application/json' },
      ...(body.length === 0 ? {} : { body }),
    })
    const content = Buffer.from(await answer.arrayBuffer())
    if (losing[0] === method) {
      losing.shift()
      response.destroy()
      return
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(content)
  }
  const server = createServer((request, response) => void pass(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose: (method) => losing.push(method),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** A proxy of HTTP that loses and delays answers: the server has done what it was asked, and the client does not know. */
export interface AnswerProxy extends AsyncDisposable {
  readonly url: string
  /** Breaks the connection of the next request with this method once the server has answered it. */
  readonly lose: (method: string) => void
  /** How long each answer takes, though the server has done what it was asked. */
  delayMs: number
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
    await sleep(proxy.delayMs)
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
  const proxy: AnswerProxy = {
    delayMs: 0,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose: (method) => losing.push(method),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

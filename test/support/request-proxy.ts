import { once } from 'node:events'
import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy on loopback before an API server without TLS, which notes what is asked. */
export interface RequestProxy extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** Where requests go: `http://HOST:PORT`. */
  target: string
  /** `GET /api/v1/pods?watch=true`, in the order of their arrival. */
  readonly requests: string[]
  /** Writes are noted, and wait for it; a function says for what each request waits. */
  held: Promise<void> | ((request: string) => Promise<void> | undefined) | undefined
  /** Hears what is answered, which is then not compressed. */
  heard: ((path: string, text: string) => void) | undefined
}

export async function startRequestProxy(target: string): Promise<RequestProxy> {
  const requests: string[] = []
  const server = createServer((incoming, answer) => void pass(incoming, answer))
  const pass = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { method, url = '/' } = incoming
    const { heard } = proxy
    const { 'accept-encoding': encoding = '', ...others } = incoming.headers
    const headers = heard === undefined ? { ...others, 'accept-encoding': encoding } : others
    const noted = `${method} ${url}`
    requests.push(noted)
    if (typeof proxy.held === 'function') await proxy.held(noted)
    else if (method !== 'GET') await proxy.held
    const outgoing = send(new URL(url, proxy.target), { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      answer.flushHeaders()
      if (heard !== undefined) response.on('data', (part) => heard(url, String(part)))
      response.pipe(answer)
      response.once('error', () => answer.destroy())
    })
    outgoing.once('error', () => answer.destroy())
    answer.once('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: RequestProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    requests,
    held: undefined as RequestProxy['held'],
    heard: undefined as RequestProxy['heard'],
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

/** The requests for the whole of a resource, by LIST or by a watch that begins with all objects. One object is a probe. */
export function listsOf(proxy: RequestProxy, path: string): readonly string[] {
  return proxy.requests.filter((one) => {
    const url = new URL(one.slice(one.indexOf(' ') + 1), 'http://host')
    const { searchParams } = url
    if (!one.startsWith('GET ') || url.pathname !== path) return false
    if (searchParams.get('limit') === '1') return false
    const isWatch = searchParams.get('watch') === 'true' || searchParams.get('watch') === '1'
    return !isWatch || searchParams.get('sendInitialEvents') === 'true'
  })
}

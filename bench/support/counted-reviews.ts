import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy before an API server that counts the access reviews that pass. */
export interface CountedReviews extends AsyncDisposable {
  readonly url: string
  reviews(): number
}

export async function startCountedServer(target: string): Promise<CountedReviews> {
  const { hostname, port } = new URL(target)
  let reviews = 0
  const server = createServer((incoming, outgoing) => {
    const { method, url: path = '', headers } = incoming
    if (path.endsWith('/subjectaccessreviews')) reviews += 1
    const passed = request({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reviews: () => reviews,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

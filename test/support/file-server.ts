import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const types = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
} as const

/** Serves the files of a folder on loopback. */
export async function serveFiles(
  dir: string,
): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname
    const file = path === '/' ? '/index.html' : path
    const type = Object.entries(types).find(([extension]) => file.endsWith(extension))?.[1]
    readFile(join(dir, file)).then(
      (bytes) => response.writeHead(200, { 'content-type': type ?? 'text/plain' }).end(bytes),
      () => response.writeHead(404).end(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

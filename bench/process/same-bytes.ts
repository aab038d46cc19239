/**
 * Bare node:http that repeats the answers of another server: the lower bound. Argument: the URL of that server, which it queries once
 * for each request body. It sends its parent `{ url }`.
 */
import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { serveParent } from '../support/service.ts'

const [from = ''] = process.argv.slice(2)
const known = new Map<string, Buffer>()
const headers = { 'content-type': 'application/json' }

async function answerTo(body: string): Promise<Buffer> {
  const response = await fetch(from, { method: 'POST', headers, body })
  return Buffer.from(await response.arrayBuffer())
}

function send(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
  })
  response.end(bytes)
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString()
    const bytes = known.get(body)
    if (bytes !== undefined) send(response, bytes)
    else {
      void answerTo(body).then((learnt) => {
        known.set(body, learnt)
        send(response, learnt)
      })
    }
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
await serveParent({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql` })
server.closeAllConnections()
server.close()

/**
 * Many `kubectl get pods --all-namespaces --watch` after their lists: each is told of every change as a row of a table, and reads it
 * without parsing it. Arguments: the API server's URL, how many, how long in milliseconds.
 */
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

const [url = '', count = '1', durationMs = '1000'] = process.argv.slice(2)
const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
let bytes = 0

async function get(path: string): Promise<IncomingMessage> {
  const message = request(new URL(path, url), { agent, headers: { accept } })
  message.end()
  const [response] = (await once(message, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`)
  return response
}

let text = ''
for await (const part of await get('/api/v1/pods?limit=1')) text += String(part)
const { metadata } = JSON.parse(text) as { readonly metadata: { readonly resourceVersion: string } }
const from = `resourceVersion=${metadata.resourceVersion}&timeoutSeconds=3600`
for (let number = 0; number < Number(count); number++) {
  const response = await get(`/api/v1/pods?watch=true&${from}`)
  response.on('data', (part: Buffer) => {
    bytes += part.length
  })
}
await delay(3_000)
console.log('measuring')
const before = bytes
await delay(Number(durationMs))
const seconds = Number(durationMs) / 1000
console.log(JSON.stringify({ kbPerTabSecond: (bytes - before) / 1000 / seconds / Number(count) }))
process.exit(0)

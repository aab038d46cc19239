import { Agent, get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { liveMemory, peakRss, watchEventLoop } from './loop-delay.ts'

/**
 * Baseline: what one writes by hand. LIST in pages of 500 on one connection, JSON.parse, drop managedFields, keep in a
 * Map by key. Arguments: URL.
 */
interface Pod {
  metadata: { name: string; namespace: string; managedFields?: unknown }
}
const [url = ''] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const before = liveMemory()
const longestBlockMs = watchEventLoop()
const cpu = process.cpuUsage()
const start = performance.now()
const pods = new Map<string, Pod>()
let next = ''
do {
  // oxlint-disable-next-line no-await-in-loop -- a page names the next one
  const text = await fetchText(`${url}/api/v1/pods?limit=500${next}`)
  const list = JSON.parse(text) as { items: Pod[]; metadata: { continue?: string } }
  for (const pod of list.items) {
    pod.metadata.managedFields = undefined
    pods.set(`${pod.metadata.namespace}/${pod.metadata.name}`, pod)
  }
  const token = list.metadata.continue ?? ''
  next = token === '' ? '' : `&continue=${encodeURIComponent(token)}`
} while (next !== '')
const syncMs = performance.now() - start
const { user, system } = process.cpuUsage(cpu)
const blockMs = longestBlockMs()
const heap = liveMemory() - before
console.log(
  JSON.stringify({
    syncMs,
    cpuMs: (user + system) / 1000,
    peakRssMb: peakRss() / 1e6,
    longestBlockMs: blockMs,
    bytesPerPod: heap / pods.size,
    pods: pods.size,
  }),
)
process.exit(0)

async function fetchText(address: string): Promise<string> {
  const request = get(address, { agent, headers: { accept: 'application/json' } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

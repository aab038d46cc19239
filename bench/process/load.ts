/**
 * A client that asks again and again, over kept connections, and turns each answer into objects. Arguments: a
 * {@link Load} as JSON. Reports requests per second, percentiles, its own CPU time per request, and how many requests there
 * were in all, the warm-up's too.
 */
import { Agent, request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { Latencies } from '../support/latencies.ts'
import type { Load } from '../support/load.ts'
import { answerReaders } from '../support/pod-questions.ts'

const load = JSON.parse(process.argv[2] ?? '') as Load
const agent = new Agent({ keepAlive: true, maxSockets: load.connections })
const read = answerReaders[load.reader]
const latencies = new Latencies()
let measuring = false
const stopping = new AbortController()
let asked = 0

async function ask(): Promise<void> {
  const startMs = performance.now()
  const body = load.bodies?.[asked % load.bodies.length] ?? load.body
  asked++
  const outgoing = request(load.url, {
    agent,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      ...(load.authorization === undefined ? {} : { authorization: load.authorization }),
      ...(body === undefined
        ? {}
        : {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(body)),
          }),
    },
  })
  outgoing.end(body)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(response, 'end')
  const answer = Buffer.concat(chunks)
  if (response.statusCode !== 200) {
    throw new Error(`${load.url}: ${response.statusCode} ${answer.toString('utf8', 0, 500)}`)
  }
  const rows = read(answer)
  if (rows !== load.rows) {
    throw new Error(`${load.url}: ${rows} rows of ${load.rows}: ${answer.toString('utf8', 0, 500)}`)
  }
  if (measuring) latencies.add(performance.now() - startMs)
}

async function askOn(): Promise<void> {
  while (!stopping.signal.aborted) await ask()
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const connections = Array.from({ length: load.connections }, askOn)
const over = Promise.all(connections)
await Promise.race([over, sleep(load.warmUpMs)])
measuring = true
const cpu = process.cpuUsage()
const startMs = performance.now()
await Promise.race([over, sleep(load.durationMs)])
measuring = false
const elapsedMs = performance.now() - startMs
const { user, system } = process.cpuUsage(cpu)
stopping.abort()
await over
agent.destroy()
console.log(
  JSON.stringify({
    'requests/s': (latencies.count * 1000) / elapsedMs,
    p50Ms: latencies.percentile(0.5),
    p99Ms: latencies.percentile(0.99),
    clientCpuMs: (user + system) / 1000 / latencies.count,
    asked,
  }),
)

/**
 * The start of a gateway with pods, until it is ready; then it stays until its archive, if it has one, has them. Arguments:
 * the cluster as JSON, and the file of the archive or nothing. Prints the time to ready and the requests until then.
 */
import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGateway, GatewayMetrics } from '../../src/index.ts'
import { watchEventLoop } from '../support/loop-delay.ts'
import { peakRss } from '../support/memory.ts'

const [cluster = '{}', file = ''] = process.argv.slice(2)
let requests = 0
let lists = 0
subscribe('http.client.request.start', (message) => {
  const { path, method } = (message as { readonly request: ClientRequest }).request
  const { pathname, searchParams } = new URL(path, 'http://host')
  requests += 1
  const isWatch = searchParams.has('watch') && !searchParams.has('sendInitialEvents')
  if (method === 'GET' && pathname === '/api/v1/pods' && !isWatch) lists += 1
})
const longestBlockMs = watchEventLoop()
const startMs = performance.now()
const metrics = new GatewayMetrics()
const gateway = await createGateway({
  metrics,
  clusters: [{ name: 'bench', ...(JSON.parse(cluster) as object) }],
  preload: ['pods'],
  limits: { syncDeadlineMs: 120_000 },
  ...(file === '' ? {} : { archive: { url: `file:${file}`, kinds: ['pods'] } }),
  log: { info() {}, warn: console.error, error: console.error },
})
while (!gateway.readiness().ready) await sleep(5)
const readyMs = performance.now() - startMs
const { user, system } = process.cpuUsage()
const figures = {
  readyMs,
  cpuMs: (user + system) / 1000,
  requests,
  'lists of pods': lists,
  longestBlockMs: longestBlockMs(),
  peakRssMB: peakRss() / 1e6,
}
const answer = await gateway.execute({ query: '{ pods { totalCount } }' })
if (!('data' in answer)) throw new Error(JSON.stringify(answer))
const pods = (answer.data as { readonly pods: { readonly totalCount: number } }).pods.totalCount
// A first start has written all of them once; a start again has nothing to write.
if (file !== '' && lists > 0) while ((await written()) < pods) await sleep(100)
await gateway[Symbol.asyncDispose]()
process.stdout.write(`${JSON.stringify({ ...figures, pods })}\n`, () => process.exit())

async function written(): Promise<number> {
  const rows = /^informerql_archive_rows_total (\d+)$/m.exec(await metrics.text())?.[1]
  return Number(rows ?? 0)
}

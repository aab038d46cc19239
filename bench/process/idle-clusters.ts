/**
 * A gateway to clusters of which nothing is loaded. Arguments: the seconds to measure, and the API servers' URLs. Reports its memory,
 * its open connections and its CPU time per minute.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createGateway } from '../../src/index.ts'
import { liveMemory } from '../support/memory.ts'

const [seconds = '60', ...urls] = process.argv.slice(2)
const startedMs = performance.now()
const log = { info() {}, warn: console.error, error: console.error }
const clusters = urls.map((server, index) => ({ name: `cluster-${index + 1}`, server }))
const gateway = await createGateway({ clusters, log })
const connectMs = performance.now() - startedMs

const deadlineMs = performance.now() + 120_000
while (!gateway.readiness().ready) {
  if (performance.now() > deadlineMs) throw new Error(gateway.readiness().reasons.join('; '))
  await sleep(100)
}
// The watches of definitions have begun by then, and connections that are not used any more are closed.
await sleep(5_000)
const liveMB = liveMemory() / 1e6
const before = process.cpuUsage()
await sleep(Number(seconds) * 1000)
const { user, system } = process.cpuUsage(before)
const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap')
console.log(
  JSON.stringify({
    connectMs,
    'live MB': liveMB,
    'RSS MB': process.memoryUsage().rss / 1e6,
    connections: sockets.length,
    cpuMsPerMinute: ((user + system) / 1000 / Number(seconds)) * 60,
  }),
)
await gateway[Symbol.asyncDispose]()

/**
 * A client that puts an application page together again and again, one after the other. Arguments: `gateway` or `api`, its URL, the
 * namespaces, milliseconds. Reports what one page costs, and what there is on it.
 */
import { ApiPage } from '../support/api-page.ts'
import { GatewayPage } from '../support/gateway-page.ts'
import { Latencies } from '../support/latencies.ts'

const [via = '', url = '', names = '', duration = ''] = process.argv.slice(2)
const namespaces = names.split(',')
const page = via === 'api' ? new ApiPage(url, namespaces) : new GatewayPage(url, namespaces)
const warmUpPages = 5
let counts = await page.assemble()
for (let at = 1; at < warmUpPages; at++) counts = await page.assemble()
page.requests = 0
page.bytes = 0
const latencies = new Latencies()
const cpu = process.cpuUsage()
const endMs = performance.now() + Number(duration)
do {
  const startMs = performance.now()
  await page.assemble()
  latencies.add(performance.now() - startMs)
} while (performance.now() < endMs)
const { user, system } = process.cpuUsage(cpu)
page.close()
const pages = latencies.count
console.log(
  JSON.stringify({
    requests: page.requests / pages,
    kilobytes: page.bytes / 1000 / pages,
    p50Ms: latencies.percentile(0.5),
    p99Ms: latencies.percentile(0.99),
    clientCpuMs: (user + system) / 1000 / pages,
    pages: pages + warmUpPages,
    ...counts,
  }),
)

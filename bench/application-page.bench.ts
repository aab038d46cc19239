/**
 * An application page over many pods: 20 Deployments with their health, pods, the pods' nodes, last warnings, Services and
 * autoscaler. One request to the gateway, beside the same page put together by a good client from the API server:
 *
 *     npm run bench -- application-page [--pods 100000] [--rounds 3] [--seconds 5] [--record]
 *
 * `serverCpuMs` is the CPU time of the answering server. The API server is the simulated one, which is not the slowest.
 */
import { parseArgs } from 'node:util'
import { busiestNamespaces, pageQuery } from './support/application-page.ts'
import { askGraphQL } from './support/graphql-client.ts'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import type { QueryOperation } from './support/query-load.ts'
import { publish, ratio } from './support/results.ts'
import { type Service, startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`

await using simulator = await startService(`${processes}/simulator.ts`, [options.pods])
await using gateway = await startService(`${processes}/gateway.ts`, [simulator.url])

const namespaces = await busiestNamespaces(gateway.url)
// The first page loads what it reads.
await askGraphQL(gateway.url, question())

const rows = await interleave(
  {
    'API server': () => page('api', simulator, simulator),
    gateway: () => page('gateway', gateway, gateway),
  },
  Number(options.rounds),
)
const [api, plan] = Object.values(rows)
for (const part of ['deployments', 'pods', 'nodes', 'services', 'autoscalers', 'warnings']) {
  if (api?.[part] !== plan?.[part]) {
    throw new Error(`${part}: the pages differ: ${JSON.stringify(rows)}`)
  }
}
publish(
  'application-page',
  [
    {
      title: `${plan?.['deployments']} Deployments of ${namespaces.length} namespaces and ${plan?.['pods']} of their pods, of ${options.pods} pods`,
      rows,
    },
  ],
  [
    `one request instead of ${Math.round(api?.['requests'] ?? 0)}, ${ratio(api?.['p50Ms'], plan?.['p50Ms'])} less time, ${ratio(api?.['kilobytes'], plan?.['kilobytes'])} fewer bytes`,
    `CPU of the server: ${ratio(api?.['serverCpuMs'], plan?.['serverCpuMs'])} less; of the client: ${ratio(api?.['clientCpuMs'], plan?.['clientCpuMs'])} less`,
  ],
  { record: options.record },
)

async function page(via: string, { url }: Service, server: Service): Promise<Figures> {
  const before = await server.cpuMs()
  const milliseconds = Number(options.seconds) * 1000
  const figures = await measure(`${processes}/application-page.ts`, [
    via,
    url,
    namespaces.join(),
    milliseconds,
  ])
  const { pages = 1, ...rest } = figures
  return { serverCpuMs: ((await server.cpuMs()) - before) / pages, ...rest }
}

function question(): QueryOperation {
  return { query: pageQuery, variables: { namespaces } }
}

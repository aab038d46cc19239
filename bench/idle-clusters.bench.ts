/**
 * What an idle cluster costs: one that a gateway is connected to, of which nothing is loaded. Gateways to a growing number of nearly
 * empty clusters: their memory, their open connections (each watch has one), and their CPU time in a minute without a request.
 *
 *     npm run bench -- idle-clusters [--clusters 1,50,200] [--pods 3] [--seconds 60] [--record]
 */
import { parseArgs } from 'node:util'
import { type Figures, measure } from './support/measured-process.ts'
import { publish } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    clusters: { type: 'string', default: '1,50,200' },
    pods: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '60' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const counts = options.clusters.split(',').map(Number)

const gateways: Record<string, Figures> = {}
const each: Record<string, Figures> = {}
for (const count of counts) {
  await using simulators = await startService(`${processes}/simulator.ts`, [
    options.pods,
    0,
    0,
    count,
  ])
  const args = [options.seconds, ...simulators.urls]
  gateways[`${count} clusters`] = await measure(`${processes}/idle-clusters.ts`, args)
}
// A gateway's own cost is in the first row: what is left is that of the clusters that the others have more.
const [fewest = 0, ...more] = counts
for (const count of more) {
  each[`each of ${count}`] = perCluster(
    gateways[`${fewest} clusters`] ?? {},
    gateways[`${count} clusters`] ?? {},
    count - fewest,
  )
}
publish(
  'idle-clusters',
  [
    { title: 'A gateway, nothing loaded', rows: gateways },
    ...(more.length === 0 ? [] : [{ title: `Each cluster beyond ${fewest}`, rows: each }]),
  ],
  [
    `${options.pods} pods in each cluster, no changes; ${options.seconds} s without a request. Live: after two full collections.`,
  ],
  { record: options.record },
)

function perCluster(few: Figures, many: Figures, clusters: number): Figures {
  return Object.fromEntries(
    Object.entries(many).map(([name, value]) => [name, (value - (few[name] ?? 0)) / clusters]),
  )
}

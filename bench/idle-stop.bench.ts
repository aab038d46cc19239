/**
 * What an idle stop gives back: a gateway's memory before a kind is loaded, while it is held, and after its informer has
 * stopped.
 *
 *     npm run bench -- idle-stop [--pods 10000,100000] [--cycles 3] [--record]
 */
import { parseArgs } from 'node:util'
import { measure } from './support/measured-process.ts'
import { publish, type ResultTable } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000,100000' },
    cycles: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`

const rows: ResultTable['rows'][] = []
for (const pods of options.pods.split(',')) {
  await using simulator = await startService(`${processes}/simulator.ts`, [pods])
  const figures = await measure(`${processes}/idle-stop.ts`, [simulator.url, options.cycles])
  rows.push({ [`${Number(pods).toLocaleString('en')} pods`]: figures })
}
publish(
  'idle-stop',
  [{ title: 'Memory of a gateway', rows: Object.assign({}, ...rows) as ResultTable['rows'] }],
  [`Live: after two full collections. Pods were loaded and let go ${options.cycles} times.`],
  { record: options.record },
)

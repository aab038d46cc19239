/**
 * Filling a cache of pods, beside client-node's informer and beside what one writes by hand, on the same bytes:
 *
 *     npm run bench -- sync [--pods 10000,100000] [--rounds 3] [--record]
 *
 * client-node runs at up to 10,000 pods: its LIST is one string, which V8 limits to 512 MiB.
 */
import { parseArgs } from 'node:util'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish, ratio, type ResultTable } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000,100000' },
    rounds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const mostClientNodePods = 10_000
const processes = `${import.meta.dirname}/process`

const ours = 'informerql, standard indexes'
const gateway = "informerql, the gateway's indexes"
const byHand = 'paged LIST + JSON.parse + Map'
const clientNode = 'client-node makeInformer'
const floor = 'the bytes alone'

async function compare(pods: number): Promise<ResultTable> {
  await using simulator = await startService(`${processes}/simulator.ts`, [pods])
  const { url } = simulator
  const contender =
    (script: string, ...args: (string | number)[]) =>
    async (): Promise<Figures> => {
      const { pods: found, ...figures } = await measure(`${processes}/${script}`, [url, ...args])
      if (found !== pods) throw new Error(`${script}: ${found} pods of ${pods}`)
      return figures
    }
  const contenders = {
    [ours]: contender('sync-informer.ts', 'standard'),
    [gateway]: contender('sync-informer.ts', 'gateway'),
    [byHand]: contender('sync-list-parse.ts'),
    ...(pods <= mostClientNodePods ? { [clientNode]: contender('sync-client-node.ts') } : {}),
    [floor]: async () => {
      const { bytesPerPod: _, ...figures } = await contender('sync-bytes.ts', pods)()
      return figures
    },
  }
  const rows = await interleave(contenders, Number(options.rounds))
  return { title: `${pods.toLocaleString('en')} pods`, rows }
}

const tables: ResultTable[] = []
for (const pods of options.pods.split(',')) tables.push(await compare(Number(pods)))
const notes = tables.flatMap(({ title, rows }) =>
  [byHand, clientNode].flatMap((other) =>
    [ours, gateway].flatMap((own) => {
      const [a, b] = [rows[other], rows[own]]
      if (a === undefined || b === undefined) return []
      const speed = `${ratio(a['syncMs'], b['syncMs'])} as fast, ${ratio(b['cpuMs'], a['cpuMs'])} CPU`
      return [
        `${title}: ${own}: ${speed}, ${ratio(b['bytesPerPod'], a['bytesPerPod'])} memory of ${other}`,
      ]
    }),
  ),
)
publish('sync', tables, notes, { record: options.record })

/**
 * Filling a cache and applying events, beside another checkout of this repository, round by round on the same simulated server:
 *
 *     git worktree add ../before COMMIT && ln -s "$PWD/node_modules" ../before/node_modules
 *     npm run bench -- commits --baseline ../before [--pods 10000] [--updates 1000] [--seconds 10] [--rounds 5] [--record]
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish, ratio, type ResultTable } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    baseline: { type: 'string' },
    pods: { type: 'string', default: '10000' },
    updates: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '5' },
    record: { type: 'boolean', default: false },
  },
})
if (options.baseline === undefined) throw new Error('--baseline names another checkout')
const checkouts = { now: import.meta.dirname, before: resolve(options.baseline, 'bench') }
const durationMs = Number(options.seconds) * 1000

async function compare(
  title: string,
  updates: string,
  script: string,
  args: readonly (string | number)[],
): Promise<ResultTable> {
  await using simulator = await startService(`${import.meta.dirname}/process/simulator.ts`, [
    options.pods,
    updates,
  ])
  const contenders = Object.fromEntries(
    Object.entries(checkouts).map(([name, bench]) => [
      name,
      (): Promise<Figures> => measure(`${bench}/process/${script}`, [simulator.url, ...args]),
    ]),
  )
  return { title, rows: await interleave(contenders, Number(options.rounds)) }
}

const sync = await compare(`${options.pods} pods, sync`, '0', 'sync-informer.ts', ['standard'])
const title = `${options.pods} pods, ${options.updates} updates per second`
const events = await compare(title, options.updates, 'events-informer.ts', [durationMs])
const note = ({ title: what, rows: { now, before } }: ResultTable, figure: string): string =>
  `${what}: ${ratio(now?.[figure], before?.[figure])} of the ${figure} before`
publish(
  'commits',
  [sync, events],
  [note(sync, 'syncMs'), note(sync, 'cpuMs'), note(events, 'cpuUsPerEvent'), note(events, 'p50Ms')],
  { record: options.record },
)

/**
 * One change to many subscribers: subscribers who ask the same as one group, beside each of them with an execution of its own by
 * graphql-js, as yoga and graphql-ws do it; then many sockets, many selections, and frames as they come:
 *
 *     npm run bench -- fanout [--pods 260] [--updates 50] [--sockets 500] [--many 5000] [--seconds 10] [--rounds 3] [--record]
 */
import { parseArgs } from 'node:util'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish, ratio } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '260' },
    updates: { type: 'string', default: '50' },
    sockets: { type: 'string', default: '500' },
    many: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const durationMs = Number(options.seconds) * 1000
const sockets = Number(options.sockets)

await using simulator = await startService(`${processes}/simulator.ts`, [
  options.pods,
  options.updates,
])

interface Subscribers {
  readonly planned: 'planned' | 'unplanned'
  readonly sockets: number
  readonly coalesceMs: number
  readonly selections?: number
}

/** What counts is the gateway's CPU time for each change that reaches a subscriber, and its memory for each socket. */
const subscribed =
  ({ planned, sockets: count, coalesceMs, selections = 1 }: Subscribers) =>
  async (): Promise<Figures> => {
    await using gateway = await startService(`${processes}/gateway.ts`, [simulator.url, planned])
    const empty = await gateway.usage()
    let before = Promise.resolve(empty)
    const figures = await measure(
      `${processes}/fanout-subscribers.ts`,
      [gateway.url, count, durationMs, coalesceMs, selections],
      {
        onLine() {
          before = gateway.usage()
        },
      },
    )
    const full = await before
    const used = (await gateway.cpuMs()) - full.cpuMs
    const changes = ((figures['changes/s'] ?? 0) * durationMs) / 1000
    return {
      ...figures,
      cpuUsPerChange: (used * 1000) / changes,
      kbPerSocket: (full.rssBytes - empty.rssBytes) / 1024 / count,
    }
  }

const one = 'each by itself, coalesceMs 0'
const together = 'as one group, coalesceMs 0'
const inFrames = 'as one group, coalesceMs 100'
const many = `${options.many} sockets, coalesceMs 100`
const different = `${sockets} selections, coalesceMs 100`
const hundred = '100 sockets, coalesceMs 0'
const rows = await interleave(
  {
    [one]: subscribed({ planned: 'unplanned', sockets, coalesceMs: 0 }),
    [together]: subscribed({ planned: 'planned', sockets, coalesceMs: 0 }),
    [inFrames]: subscribed({ planned: 'planned', sockets, coalesceMs: 100 }),
    [many]: subscribed({ planned: 'planned', sockets: Number(options.many), coalesceMs: 100 }),
    [different]: subscribed({ planned: 'planned', sockets, coalesceMs: 100, selections: sockets }),
    [hundred]: subscribed({ planned: 'planned', sockets: 100, coalesceMs: 0 }),
  },
  Number(options.rounds),
)
const cpu = (name: string): number | undefined => rows[name]?.['cpuUsPerChange']
publish(
  'fanout',
  [
    {
      title: `${sockets} sockets where not said, ${options.pods} pods, ${options.updates} changes per second`,
      rows,
    },
  ],
  [
    `CPU for each change that is delivered: ${ratio(cpu(together), cpu(one))} that of an execution for each subscriber, ` +
      `with frames of 100 ms ${ratio(cpu(inFrames), cpu(one))}`,
  ],
  { record: options.record },
)

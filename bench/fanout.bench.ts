/**
 * One change to many subscribers with the same document: as one group, beside an execution by graphql-js for each subscriber, as
 * yoga and graphql-ws do it; then many sockets, many selections, frames as they come, and readers that stop:
 *
 *     npm run bench -- fanout [--pods 260] [--updates 50] [--sustained 10] [--sockets 500] [--many 5000] [--among 1000]
 *       [--stopped 100] [--seconds 10] [--rounds 3] [--record]
 *
 * Executions for each subscriber do not keep up with `updates` changes a second. A subscriber that is behind takes several changes
 * at once, which makes each change look cheaper. So the comparison uses the CPU time of each change delivered at `sustained` changes a
 * second, where all subscribers keep up, and compares groups at `updates` with it. `keepsUp` is the part of the changes that arrive.
 */
import { parseArgs } from 'node:util'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish, ratio } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '260' },
    updates: { type: 'string', default: '50' },
    sustained: { type: 'string', default: '10' },
    sockets: { type: 'string', default: '500' },
    many: { type: 'string', default: '5000' },
    among: { type: 'string', default: '1000' },
    stopped: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const durationMs = Number(options.seconds) * 1000
const sockets = Number(options.sockets)
const updates = Number(options.updates)
const sustained = Number(options.sustained)

interface Subscribers {
  readonly planned: 'planned' | 'unplanned'
  readonly sockets: number
  readonly coalesceMs: number
  /** Changes per second. */
  readonly changes?: number
  readonly selections?: number
  readonly stopped?: number
}

/** The figures are the gateway's CPU time for each change that reaches a subscriber, and its memory for each socket. */
const subscribed =
  ({
    planned,
    sockets: count,
    coalesceMs,
    changes = updates,
    selections = 1,
    stopped = 0,
  }: Subscribers) =>
  async (): Promise<Figures> => {
    await using simulator = await startService(`${processes}/simulator.ts`, [options.pods, changes])
    await using gateway = await startService(`${processes}/gateway.ts`, [simulator.url, planned])
    const empty = await gateway.usage()
    let before = Promise.resolve(empty)
    const figures = await measure(
      `${processes}/fanout-subscribers.ts`,
      [gateway.url, count, durationMs, coalesceMs, selections, stopped],
      {
        onLine() {
          before = gateway.usage()
        },
      },
    )
    const full = await before
    const used = (await gateway.cpuMs()) - full.cpuMs
    const perSecond = figures['changes/s'] ?? 0
    return {
      ...figures,
      keepsUp: perSecond / (changes * count),
      cpuUsPerChange: (used * 1000) / ((perSecond * durationMs) / 1000),
      kbPerSocket: (full.rssBytes - empty.rssBytes) / 1024 / count,
      rssMb: full.rssBytes / 2 ** 20,
    }
  }

const group = { planned: 'planned', sockets } as const
const single = { planned: 'unplanned', sockets, coalesceMs: 0 } as const
const one = `each by itself, coalesceMs 0, ${sustained}/s`
const together = `as one group, coalesceMs 0, ${sustained}/s`
const togetherFast = 'as one group, coalesceMs 0'
const inFrames = 'as one group, coalesceMs 100'
const rows = await interleave(
  {
    [one]: subscribed({ ...single, changes: sustained }),
    'each by itself, coalesceMs 0': subscribed(single),
    [together]: subscribed({ ...group, coalesceMs: 0, changes: sustained }),
    [togetherFast]: subscribed({ ...group, coalesceMs: 0 }),
    [inFrames]: subscribed({ ...group, coalesceMs: 100 }),
    [`${options.many} sockets, coalesceMs 100`]: subscribed({
      ...group,
      sockets: Number(options.many),
      coalesceMs: 100,
    }),
    [`${sockets} selections, coalesceMs 100`]: subscribed({
      ...group,
      coalesceMs: 100,
      selections: sockets,
    }),
    '100 sockets, coalesceMs 0': subscribed({ ...group, sockets: 100, coalesceMs: 0 }),
  },
  Number(options.rounds),
)

const among = { planned: 'planned', sockets: Number(options.among), coalesceMs: 100 } as const
const stopped = Number(options.stopped)
const [allRead, oneStopped, someStopped] = ['all read', '1 has stopped', `${stopped} have stopped`]
const beside = await interleave(
  {
    [allRead]: subscribed(among),
    [oneStopped]: subscribed({ ...among, stopped: 1 }),
    [someStopped]: subscribed({ ...among, stopped }),
  },
  Number(options.rounds),
)
const cpu = (name: string): number | undefined => rows[name]?.['cpuUsPerChange']
const rss = (name: string): number => beside[name]?.['rssMb'] ?? 0
publish(
  'fanout',
  [
    {
      title: `${sockets} sockets and ${updates} changes per second where not said, ${options.pods} pods`,
      rows,
    },
    { title: `${options.among} sockets, and what those who read are sent`, rows: beside },
  ],
  [
    `CPU for each change that is delivered, where everybody keeps up: ${ratio(cpu(one), cpu(together))} less than with an execution for each ` +
      `subscriber, both at ${sustained} changes per second; at ${updates} ${ratio(cpu(one), cpu(togetherFast))}, with frames of ` +
      `100 ms ${ratio(cpu(one), cpu(inFrames))}`,
    `a reader that has stopped takes ${(((rss(someStopped) - rss(allRead)) * 1024) / stopped).toFixed(0)} KB of the gateway; ` +
      'bounded by 256 KiB and one frame, of at most 1 MiB',
  ],
  { record: options.record },
)

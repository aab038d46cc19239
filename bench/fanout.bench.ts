/**
 * One change to many subscribers with the same document, who are one group: frames as they come, beside frames of 100 ms; then
 * many sockets, many selections, and readers that stop:
 *
 *     npm run bench -- fanout [--pods 260] [--updates 50] [--sockets 500] [--many 5000] [--among 1000]
 *       [--stopped 100] [--seconds 10] [--rounds 3] [--record]
 *
 * A subscriber that is behind takes several changes at once, which makes each change look cheaper: `keepsUp` is the part of the
 * changes that arrive.
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

interface Subscribers {
  readonly sockets: number
  readonly coalesceMs: number
  readonly selections?: number
  readonly stopped?: number
}

/** The figures are the gateway's CPU time for each change that reaches a subscriber, and its memory for each socket. */
const subscribed =
  ({ sockets: count, coalesceMs, selections = 1, stopped = 0 }: Subscribers) =>
  async (): Promise<Figures> => {
    await using simulator = await startService(`${processes}/simulator.ts`, [options.pods, updates])
    await using gateway = await startService(`${processes}/gateway.ts`, [simulator.url])
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
      keepsUp: perSecond / (updates * count),
      cpuUsPerChange: (used * 1000) / ((perSecond * durationMs) / 1000),
      kbPerSocket: (full.rssBytes - empty.rssBytes) / 1024 / count,
      rssMb: full.rssBytes / 2 ** 20,
    }
  }

const asTheyCome = 'coalesceMs 0'
const inFrames = 'coalesceMs 100'
const rows = await interleave(
  {
    [asTheyCome]: subscribed({ sockets, coalesceMs: 0 }),
    [inFrames]: subscribed({ sockets, coalesceMs: 100 }),
    [`${options.many} sockets, coalesceMs 100`]: subscribed({
      sockets: Number(options.many),
      coalesceMs: 100,
    }),
    [`${sockets} selections, coalesceMs 100`]: subscribed({
      sockets,
      coalesceMs: 100,
      selections: sockets,
    }),
    '100 sockets, coalesceMs 0': subscribed({ sockets: 100, coalesceMs: 0 }),
  },
  Number(options.rounds),
)

const among = { sockets: Number(options.among), coalesceMs: 100 } as const
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
    `frames of 100 ms take ${ratio(cpu(asTheyCome), cpu(inFrames))} less CPU for each change that is delivered`,
    `a reader that has stopped takes ${(((rss(someStopped) - rss(allRead)) * 1024) / stopped).toFixed(0)} KB of the gateway; ` +
      'bounded by 256 KiB and one frame, of at most 1 MiB',
  ],
  { record: options.record },
)

/**
 * A page of many pods that stays current: subscribers of one live page, and of many different ones, beside clients without live
 * pages, which follow all changes and list the page again after each:
 *
 *     npm run bench -- live-page [--pods 100000] [--updates 50] [--hot 40] [--sockets 50] [--many 200] [--seconds 10] [--rounds 3] [--record]
 *
 * The page has the pods with the most restarts. Each update makes one of the `hot` pods the first one, so each is a move on every
 * page. The figure is the gateway's CPU time for each move that reaches a subscriber. `keepsUp` is the part of the moves that do: a
 * frame merges two updates of one pod.
 */
import { parseArgs } from 'node:util'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish, ratio } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    updates: { type: 'string', default: '50' },
    hot: { type: 'string', default: '40' },
    sockets: { type: 'string', default: '50' },
    many: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const durationMs = Number(options.seconds) * 1000
const sockets = Number(options.sockets)
const updates = Number(options.updates)

await using simulator = await startService(`${processes}/simulator.ts`, [
  options.pods,
  updates,
  options.hot,
])
await using gateway = await startService(`${processes}/gateway.ts`, [simulator.url])

const watched =
  (way: 'live' | 'again', pages: number, count = sockets) =>
  async (): Promise<Figures> => {
    let before = Promise.resolve(0)
    const figures = await measure(
      `${processes}/page-subscribers.ts`,
      [gateway.url, way, count, pages, durationMs],
      {
        onLine() {
          before = gateway.cpuMs()
        },
      },
    )
    const used = (await gateway.cpuMs()) - (await before)
    const perSecond = figures['moves/s'] ?? 0
    return {
      ...figures,
      keepsUp: perSecond / (updates * count),
      cpuUsPerMove: (used * 1000) / ((perSecond * durationMs) / 1000),
      'cpu%': (used / durationMs) * 100,
    }
  }

const [one, oneAgain] = ['one live page', 'one page, listed again at each change']
const [many, manyAgain] = [`${sockets} live pages`, `${sockets} pages, listed again at each change`]
const rows = await interleave(
  {
    [one]: watched('live', 1),
    [oneAgain]: watched('again', 1),
    [many]: watched('live', sockets),
    [manyAgain]: watched('again', sockets),
    [`${options.many} sockets, one live page`]: watched('live', 1, Number(options.many)),
    [`${options.many} sockets, as many live pages`]: watched(
      'live',
      Number(options.many),
      Number(options.many),
    ),
  },
  Number(options.rounds),
)
const cpu = (name: string): number | undefined => rows[name]?.['cpuUsPerMove']
publish(
  'live-page',
  [
    {
      title: `${sockets} sockets where not said, ${options.pods} pods, ${updates} changes per second`,
      rows,
    },
  ],
  [
    `CPU for each move that is delivered: ${ratio(cpu(oneAgain), cpu(one))} less than by listing the page again, ` +
      `${ratio(cpu(manyAgain), cpu(many))} where each has a page of its own`,
  ],
  { record: options.record },
)

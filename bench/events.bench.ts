/**
 * The time from a write to its receiver, while pods change all the time: to a handler of our informer, to a handler of
 * client-node's, and through the gateway to a graphql-ws subscriber of all pods:
 *
 *     npm run bench -- events [--pods 10000] [--updates 1000] [--seconds 15] [--rounds 3] [--record]
 */
import { parseArgs } from 'node:util'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish, ratio } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    updates: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '15' },
    rounds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const durationMs = Number(options.seconds) * 1000
const ours = "informerql, an informer's handler"
const clientNode = "client-node, an informer's handler"
const subscriber = 'informerql, a graphql-ws subscriber'

await using simulator = await startService(`${processes}/simulator.ts`, [
  options.pods,
  options.updates,
])

const handler = (script: string) => (): Promise<Figures> =>
  measure(`${processes}/${script}`, [simulator.url, durationMs])

/** The gateway's CPU time is what counts here, not the subscriber's. */
async function subscribed(): Promise<Figures> {
  await using gateway = await startService(`${processes}/gateway.ts`, [simulator.url])
  let before = gateway.cpuMs()
  const figures = await measure(
    `${processes}/events-subscriber.ts`,
    [gateway.url, durationMs, options.pods],
    {
      onLine() {
        before = gateway.cpuMs()
      },
    },
  )
  const used = (await gateway.cpuMs()) - (await before)
  const { cpuUsPerEvent: subscriberCpuUs = 0, ...others } = figures
  const events = ((others['events/s'] ?? 0) * durationMs) / 1000
  return { ...others, cpuUsPerEvent: (used * 1000) / events, subscriberCpuUs }
}

const rows = await interleave(
  {
    [ours]: handler('events-informer.ts'),
    [clientNode]: handler('events-client-node.ts'),
    [subscriber]: subscribed,
  },
  Number(options.rounds),
)
const [a, b] = [rows[ours], rows[clientNode]]
publish(
  'events',
  [{ title: `${options.pods} pods, ${options.updates} updates per second`, rows }],
  [
    `an informer's handler: ${ratio(a?.['cpuUsPerEvent'], b?.['cpuUsPerEvent'])} client-node's CPU per event, ` +
      `${ratio(a?.['p50Ms'], b?.['p50Ms'])} its p50, ${ratio(a?.['p99Ms'], b?.['p99Ms'])} its p99`,
  ],
  { record: options.record },
)

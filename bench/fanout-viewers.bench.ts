/**
 * One change to many subscribers that `token-review` authenticates: all with one user, each with a user of the same access, and
 * each with an execution of its own; beside subscribers without authentication:
 *
 *     npm run bench -- fanout-viewers [--pods 260] [--updates 50] [--sockets 500] [--seconds 10] [--rounds 3] [--record]
 *
 * `reviews` are the access reviews until all subscriptions have begun, `whileFollowing` the later ones.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startCountedServer } from './support/counted-reviews.ts'
import { gatewayToken } from './support/identities.ts'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish, ratio } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '260' },
    updates: { type: 'string', default: '50' },
    sockets: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const durationMs = Number(options.seconds) * 1000
const sockets = Number(options.sockets)
const folder = await mkdtemp(join(tmpdir(), 'informerql-bench-'))
const kubeconfig = join(folder, 'gateway.json')

interface Subscribers {
  readonly mode: 'none' | 'token-review'
  readonly planned: 'planned' | 'unplanned'
  readonly users: number
}

/** The figures are the gateway's CPU time for each change that reaches a subscriber, and the requests to the API server. */
const subscribed =
  ({ mode, planned, users }: Subscribers) =>
  async (): Promise<Figures> => {
    const served = [options.pods, 0, users, options.updates]
    await using simulator = await startService(`${processes}/rbac-simulator.ts`, served)
    await using counted = await startCountedServer(simulator.url)
    await writeFile(kubeconfig, kubeconfigOf(counted.url))
    const gatewayArguments = [kubeconfig, mode, planned]
    await using gateway = await startService(`${processes}/identity-gateway.ts`, gatewayArguments)
    const empty = await gateway.usage()
    let before = Promise.resolve(empty)
    let reviews = 0
    const figures = await measure(
      `${processes}/fanout-subscribers.ts`,
      [gateway.url, sockets, durationMs, 100, 1, 0, mode === 'none' ? 0 : users],
      {
        onLine() {
          reviews = counted.reviews()
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
      kbPerSocket: (full.rssBytes - empty.rssBytes) / 1024 / sockets,
      reviews,
      whileFollowing: counted.reviews() - reviews,
    }
  }

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    clusters: [{ name: 'a', cluster: { server } }],
    users: [{ name: 'a', user: { token: gatewayToken } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  })
}

const nobody = 'nobody is asked'
const oneUser = 'one user'
const manyUsers = `${sockets} users who see the same`
const single = `${sockets} users, each by itself`
const rows = await interleave(
  {
    [nobody]: subscribed({ mode: 'none', planned: 'planned', users: 1 }),
    [oneUser]: subscribed({ mode: 'token-review', planned: 'planned', users: 1 }),
    [manyUsers]: subscribed({ mode: 'token-review', planned: 'planned', users: sockets }),
    [single]: subscribed({ mode: 'token-review', planned: 'unplanned', users: sockets }),
  },
  Number(options.rounds),
)
await rm(folder, { recursive: true })
const cpu = (name: string): number | undefined => rows[name]?.['cpuUsPerChange']
publish(
  'fanout-viewers',
  [
    {
      title: `${sockets} sockets, ${options.pods} pods, ${options.updates} changes per second, coalesceMs 100`,
      rows,
    },
  ],
  [
    `CPU for each change that is delivered to users who see the same: ${ratio(cpu(single), cpu(manyUsers))} less than with an execution for ` +
      `each of them, ${ratio(cpu(manyUsers), cpu(nobody))} of that to subscribers whom nobody asks`,
  ],
  { record: options.record },
)

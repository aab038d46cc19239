/**
/**
 * One change to many subscribers that `token-review` authenticates: all with one user, and each with a user of the same access,
 * beside subscribers without authentication; and an edit of RBAC that narrows the access of all these users:
 *
 *     npm run bench -- fanout-viewers [--pods 260] [--updates 50] [--sockets 500] [--seconds 10] [--rounds 3] [--record]
 *
 * `reviews` are the access reviews until all subscriptions have begun, `whileFollowing` the later ones. `longestTurnMs` is the longest
 * turn of the gateway's event loop after the edit, `burstCpuMs` its CPU time.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startCountedServer } from './support/counted-reviews.ts'
import { gatewayToken, kubeconfigOf, readersGroup } from './support/identities.ts'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish, ratio } from './support/results.ts'
import { type Service, startService } from './support/service.ts'

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
  readonly users: number
  /** Whether RBAC is edited, and no pod changes. */
  readonly edits?: boolean
}

/** The figures are the gateway's CPU time for each change that reaches a subscriber, and the requests to the API server. */
const subscribed =
  ({ mode, users, edits = false }: Subscribers) =>
  async (): Promise<Figures> => {
    const served = [options.pods, 0, users, edits ? 1 : options.updates]
    await using simulator = await startService(`${processes}/rbac-simulator.ts`, served)
    await using counted = await startCountedServer(simulator.url)
    await writeFile(kubeconfig, kubeconfigOf(counted.url))
    const gatewayArguments = [kubeconfig, mode]
    await using gateway = await startService(`${processes}/identity-gateway.ts`, gatewayArguments)
    const empty = await gateway.usage()
    let before = Promise.resolve(empty)
    let edited: Promise<Figures> | undefined
    let reviews = 0
    const figures = await measure(
      `${processes}/fanout-subscribers.ts`,
      [gateway.url, sockets, durationMs, 100, 1, 0, mode === 'none' ? 0 : users],
      {
        onLine() {
          reviews = counted.reviews()
          before = gateway.usage()
          if (edits) edited = before.then(() => burstOf(simulator.url, gateway))
        },
      },
    )
    const full = await before
    const burst = await edited
    const used = (await gateway.cpuMs()) - full.cpuMs
    const changes = ((figures['changes/s'] ?? 0) * durationMs) / 1000
    if (burst !== undefined) return { ...burst, whileFollowing: counted.reviews() - reviews }
    return {
      ...figures,
      cpuUsPerChange: (used * 1000) / changes,
      kbPerSocket: (full.rssBytes - empty.rssBytes) / 1024 / sockets,
      reviews,
      whileFollowing: counted.reviews() - reviews,
    }
  }

/** Lets all readers see one namespace, and then no other. */
async function burstOf(url: string, gateway: Service): Promise<Figures> {
  const send = async (method: string, path: string, body?: object): Promise<Response> => {
    const headers = {
      authorization: `Bearer ${gatewayToken}`,
      'content-type': 'application/json',
    }
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${url}${path}`, sent)
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
    return response
  }
  const list = (await (await send('GET', '/api/v1/pods?limit=1')).json()) as {
    readonly items: readonly [{ readonly metadata: { readonly namespace: string } }]
  }
  const [{ metadata }] = list.items
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  await send('POST', `${rbac}/namespaces/${metadata.namespace}/rolebindings`, {
    metadata: { name: readersGroup },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reads' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: readersGroup }],
  })
  const cpuMs = await gateway.cpuMs()
  const longestTurnMs = await gateway.longestTurnMs(async () => {
    await send('DELETE', `${rbac}/clusterrolebindings/${readersGroup}`)
    await sleep(durationMs / 2)
  })
  return { longestTurnMs, burstCpuMs: (await gateway.cpuMs()) - cpuMs }
}

const nobody = 'nobody is asked'
const oneUser = 'one user'
const manyUsers = `${sockets} users who see the same`
const edit = `${sockets} users who see less after an edit of RBAC`
const rows = await interleave(
  {
    [nobody]: subscribed({ mode: 'none', users: 1 }),
    [oneUser]: subscribed({ mode: 'token-review', users: 1 }),
    [manyUsers]: subscribed({ mode: 'token-review', users: sockets }),
    [edit]: subscribed({ mode: 'token-review', users: sockets, edits: true }),
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
    `CPU for each change that is delivered to users who see the same: ${ratio(cpu(manyUsers), cpu(nobody))} of that to subscribers whom nobody asks`,
  ],
  { record: options.record },
)

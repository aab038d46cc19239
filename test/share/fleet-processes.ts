/*
 * Gateways as processes of the program, which share simulated clusters out through a Postgres, and beside them one gateway that holds all of
 * them, whose answers are the ones to give.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { population, type Simulator, startSimulator, type Storage } from 'informerql/simulator'
import { kubeconfigText } from '../gateway/test-cluster.ts'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import type { GraphQLAnswer, Variables } from '../support/gateway.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'

const rbac = 'rbac.authorization.k8s.io'
const gatewayToken = 'of-the-gateway'

/** Who asks: by a token that the first cluster reviews. */
export type User = 'root' | 'ann' | 'ben'
const users: readonly User[] = ['root', 'ann', 'ben']
const tokenOf = (user: User): string => `of-${user}`

/** The kinds that are served. Few, so that the schema is small and all of them are loaded. */
const kinds = [
  'Pod',
  'Node',
  'Namespace',
  'Deployment',
  'ReplicaSet',
  'Service',
  'ConfigMap',
  'Event',
  'Job',
  'PersistentVolumeClaim',
]

export interface GatewayProcess {
  readonly address: string
  readonly process: ExampleProcess
  ask(query: string, variables?: Variables, user?: User): Promise<GraphQLAnswer>
  /** SIGKILL. */
  kill(): Promise<void>
}

export interface SharedGateways extends AsyncDisposable {
  /** The names of the clusters. The first one reviews tokens. */
  readonly clusters: readonly string[]
  readonly simulators: readonly Simulator[]
  readonly postgres: PostgresServer
  /** Starts a gateway, which shares; or one that holds everything and shares with none. Resolves once it is ready. */
  start(shares?: boolean): Promise<GatewayProcess>
}

/** `rights` says what a user may read in the cluster of a number: everything, a namespace, or nothing. */
export async function startSharedGateways(
  count: number,
  rights: (user: User, cluster: number) => string | undefined,
): Promise<SharedGateways> {
  await using parts = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'informerql-share-'))
  parts.defer(() => rm(folder, { recursive: true }))
  const postgres = parts.use(await startPostgres())
  const simulators: Simulator[] = []
  const clusters: object[] = []
  for (let at = 0; at < count; at += 1) {
    const simulator = await startSimulator({
      authorization: 'rbac',
      bookmarkIntervalMs: 0,
      users: [
        { token: gatewayToken, user: 'gateway', groups: ['system:masters'] },
        ...users.map((user) => ({ token: tokenOf(user), user })),
      ],
      populate(storage) {
        const now = new Date('2026-01-15T12:00:00Z')
        for (const { resource, object } of population({ seed: `share/${at}`, pods: 30, now })) {
          storage.create(resource, object)
        }
        for (const user of users) {
          const namespace = rights(user, at)
          if (namespace !== undefined) bind(storage, user, namespace)
        }
      },
    })
    simulators.push(parts.use(simulator))
    const kubeconfig = join(folder, `cluster-${at}.json`)
    await writeFile(kubeconfig, kubeconfigText(simulator.url, gatewayToken))
    const labels = { stage: at % 2 === 0 ? 'even' : 'odd' }
    // The tokens are reviewed by it, so every gateway has to reach it.
    clusters.push({
      name: `cluster-${at}`,
      kubeconfig,
      labels,
      ...(at === 0 && process.env['ALONE'] === undefined && { everywhere: true }),
    })
  }
  const common = {
    clusters,
    auth: { mode: 'token-review' },
    introspection: true,
    profile: { include: { kinds } },
    commonKinds: kinds.map(listOf),
    problemKinds: kinds.map(listOf),
    preload: kinds.map(listOf),
    logLevel: 'warn',
  }
  let started = 0
  const all = parts.move()
  return {
    clusters: clusters.map((_, at) => `cluster-${at}`),
    simulators,
    postgres,
    async start(shares = true) {
      const port = await freePort()
      const address = `http://127.0.0.1:${port}`
      const config = join(folder, `gateway-${started++}.json`)
      const archive =
        shares && process.env['ALONE'] === undefined
          ? { archive: { url: postgres.url }, share: { address } }
          : {}
      await writeFile(config, JSON.stringify({ ...common, ...archive, server: { port } }))
      const args = ['src/main.ts', 'serve', '--config', config]
      const program = all.use(startProgram(process.execPath, args, { timeout: 600_000 }))
      await program.printed('informerql answers at')
      const ready = async (): Promise<boolean> => (await fetch(`${address}/readyz`)).ok
      while (!(await ready())) await new Promise((resolve) => setTimeout(resolve, 100))
      return {
        address,
        process: program,
        async ask(query, variables = {}, user = 'root') {
          const response = await fetch(`${address}/graphql`, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              authorization: `Bearer ${tokenOf(user)}`,
            },
            body: JSON.stringify({ query, variables }),
            signal: AbortSignal.timeout(60_000),
          })
          return (await response.json()) as GraphQLAnswer
        },
        async kill() {
          program.signal('SIGKILL')
          await program.ended
        },
      }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** `ReplicaSet`: `replicaSets`. */
export function listOf(kind: string): string {
  return `${kind.charAt(0).toLowerCase()}${kind.slice(1)}s`
}

/** Lets a user read a namespace; `*`: everything. */
function bind(storage: Storage, user: string, namespace: string): void {
  const isEverywhere = namespace === '*'
  const kind = isEverywhere ? 'ClusterRoleBinding' : 'RoleBinding'
  const resource = { group: rbac, version: 'v1', resource: `${kind.toLowerCase()}s` }
  storage.create(resource, {
    apiVersion: `${rbac}/v1`,
    kind,
    metadata: { name: `of-${user}`, ...(isEverywhere ? {} : { namespace }) },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: isEverywhere ? 'cluster-admin' : 'view' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
  })
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { readonly port: number }
  probe.close()
  await once(probe, 'close')
  return port
}

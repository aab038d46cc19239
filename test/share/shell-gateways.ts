/*
 * Two gateways that share simulated clusters and open shells, where one of them holds the cluster of the shells, and the other
 * one is asked. Between them is a proxy.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  ExecEndReport,
  ExecOptions,
  ExecReport,
  GatewayOptions,
  ServerOptions,
} from 'informerql'
import { resources } from 'informerql/kubernetes'
import { type Simulator, startSimulator, type Storage } from 'informerql/simulator'
import { kubeconfigText } from '../gateway/test-cluster.ts'
import { putNodes, putPod, running } from '../logs/small-town.ts'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { serveGateway, type ServedParts } from '../support/gateway.ts'
import { startPostgres } from '../support/postgres.ts'
import { heldAt, sharedBetween } from './settled-holders.ts'
import { behind, freePort, type SharingGateway } from './shared-gateways.ts'

/** Those whom the clusters know by their tokens. `ann` opens shells, and so does `carl`; `bob` only looks. */
const users = ['gateway', 'ann', 'bob', 'carl'] as const

/** What the audit log of one gateway gets. */
export interface Audited {
  readonly began: ExecReport[]
  readonly ended: ExecEndReport[]
  readonly refused: ExecEndReport[]
}

export interface ShellGateway extends SharingGateway, Audited {
  /** The bytes that wait to be sent to clients, or to another gateway that has asked. */
  unsent: () => number
}

export interface ShellGateways extends AsyncDisposable {
  readonly here: ShellGateway
  /** The holder of {@link cluster}. */
  readonly there: ShellGateway
  /** Before the holder. */
  readonly proxy: CutProxy
  readonly cluster: string
  /** That of {@link cluster}. */
  readonly simulator: Simulator
}

export interface ShellGatewaysOptions extends Pick<ServedParts, 'auth'> {
  readonly exec?: Partial<ExecOptions>
  readonly server?: Partial<ServerOptions>
  readonly share?: GatewayOptions['share']
  /** Whether the clusters believe everyone, whatever their tokens. */
  readonly isOpen?: boolean
  /** Further tokens, with their users. They may change. */
  readonly tokens?: ReadonlyMap<string, string>
}

const count = 5

export async function startShellGateways({
  auth = { mode: 'token-review' },
  exec = {},
  server = {},
  share = {},
  isOpen = false,
  tokens = new Map(),
}: ShellGatewaysOptions = {}): Promise<ShellGateways> {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.use(await startPostgres())
  const archive = await postgres.database()
  const folder = await mkdtemp(join(tmpdir(), 'informerql-shells-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const simulators = new Map<string, Simulator>()
  const clusters: { name: string; kubeconfig: string; everywhere: boolean }[] = []
  for (let at = 0; at < count; at += 1) {
    const name = `c-${at}`
    const simulator = stack.use(await startCluster(isOpen, tokens))
    const kubeconfig = join(folder, `${name}.json`)
    await writeFile(kubeconfig, kubeconfigText(simulator.url, 'of-gateway'))
    simulators.set(name, simulator)
    clusters.push({ name, kubeconfig, everywhere: at === 0 })
  }
  const scheme = server.tlsCert === undefined ? 'http' : 'https'
  // The same for all callers, whoever they are.
  const data = async (): Promise<object> => ({
    gatewayClusters: postgres
      .sql("SELECT cluster || ' ' || address FROM serving", archive)
      .split('\n')
      .map((line) => ({ name: line.split(' ')[0], holder: line.split(' ')[1] })),
  })
  let proxy: CutProxy | undefined
  const serve = async (): Promise<ShellGateway> => {
    const port = await freePort()
    const between = await startCutProxy(port)
    proxy = between
    const address = `${scheme}://127.0.0.1:${between.port}`
    const audited = {
      began: [] as ExecReport[],
      ended: [] as ExecEndReport[],
      refused: [] as ExecEndReport[],
      unsent: () => 0,
    }
    const gateway = await serveGateway(
      {
        clusters,
        archive: { url: archive, kinds: ['pods'] },
        share: { ...share, address },
        preload: ['pods'],
      },
      { ...server, port },
      {
        auth: { tokenClusters: clusters.map(({ name }) => name), ...auth },
        exec,
        observer: {
          refused: () => {},
          unsent: (bytes) => void (audited.unsent = bytes),
          execBegan: (report) => void audited.began.push(report),
          execEnded: (report) => void audited.ended.push(report),
          execRefused: (report) => void audited.refused.push(report),
        },
      },
    )
    const shared = behind({ ...gateway, data }, between)
    return Object.assign(audited, { ...shared, address, url: `${address}/graphql` })
  }
  const here = stack.use(await serve())
  const { there, held } = await sharedBetween(here, serve)
  stack.use(there)
  const cluster = heldAt(there, held).find((name) => name !== 'c-0')
  const simulator = simulators.get(cluster ?? '')
  if (cluster === undefined || simulator === undefined || proxy === undefined) {
    throw new Error('the second gateway holds nothing')
  }
  const all = stack.move()
  const end = (): Promise<void> => all.disposeAsync()
  return { here, there, proxy, cluster, simulator, [Symbol.asyncDispose]: end }
}

async function startCluster(
  isOpen: boolean,
  tokens: ReadonlyMap<string, string>,
): Promise<Simulator> {
  const guard = {
    authorization: 'rbac',
    identifyToken: (token: string) => {
      const user = tokens.get(token)
      return user === undefined ? undefined : { user }
    },
    users: users.map((user) => ({
      token: `of-${user}`,
      user,
      groups: user === 'gateway' ? ['system:masters'] : [],
    })),
  } as const
  return await startSimulator({
    ...(!isOpen && guard),
    populate(storage) {
      putNodes(storage)
      putPod(storage, 'web', running(0))
      for (const user of ['ann', 'carl']) grant(storage, user, [reads, shells])
      grant(storage, 'bob', [reads])
    },
  })
}

const reads = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }
const shells = { apiGroups: [''], resources: ['pods/exec'], verbs: ['create', 'get'] }
const types = { apiVersion: 'rbac.authorization.k8s.io/v1' }

/** Gives a user rights; `of`: what the rules are bound to, by default the user. */
export function grant(
  storage: Storage,
  name: string,
  rules: readonly object[] = [reads, shells],
  of: object = { kind: 'User', name },
): void {
  const metadata = { name }
  storage.create(resources.clusterRoles, { ...types, kind: 'ClusterRole', metadata, rules })
  storage.create(resources.clusterRoleBindings, {
    ...types,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [of],
  })
}

import {
  type ExecEndReport,
  type ExecOptions,
  type ExecReport,
  GatewayMetrics,
  type ServerOptions,
} from 'informerql'
import { resources } from 'informerql/kubernetes'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'
import { putNodes, putPod, running } from '../logs/small-town.ts'

/** Who may do what in the namespace `shop`: `reader` may only look, `getter` lacks `create`. */
export type ShopUser = 'gateway' | 'ann' | 'ben' | 'reader' | 'getter'

const rbac = 'rbac.authorization.k8s.io'
const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
const looking = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }
export const shopRules: Readonly<Record<ShopUser, readonly object[]>> = {
  gateway: everything,
  ann: everything,
  ben: [looking, { apiGroups: [''], resources: ['pods/exec'], verbs: ['get', 'create'] }],
  reader: [looking],
  getter: [looking, { apiGroups: [''], resources: ['pods/exec'], verbs: ['get'] }],
}

/** A gateway that asks its callers who they are, and lets them open shells. */
export interface GuardedShop extends AsyncDisposable {
  readonly simulator: Simulator
  readonly gateway: ServedGateway
  /** Between the gateway and the API server. */
  readonly proxy: CutProxy
  readonly url: string
  /** What the audit log gets. */
  readonly began: readonly ExecReport[]
  readonly ended: readonly ExecEndReport[]
  readonly refused: readonly ExecEndReport[]
  readonly metric: (name: string) => Promise<number>
  /** Takes a user's rights away. */
  readonly revoke: (user: ShopUser) => void
}

export async function openShop(
  exec: Partial<ExecOptions> = {},
  server: Partial<ServerOptions> = {},
): Promise<GuardedShop> {
  await using stack = new AsyncDisposableStack()
  const names = Object.keys(shopRules) as ShopUser[]
  const simulator = stack.use(
    await startSimulator({
      users: names.map((user) => ({ token: `of-${user}`, user })),
      authorization: 'rbac',
      populate(storage) {
        putNodes(storage)
        putPod(storage, 'web', running(0))
        putPod(storage, 'lost', running(0), { node: 'down' })
        putPod(storage, 'crashed', { state: { waiting: { reason: 'CrashLoopBackOff' } } })
        for (const user of names) {
          const metadata = { name: user }
          const types = { apiVersion: `${rbac}/v1` }
          const role = { ...types, kind: 'ClusterRole', metadata, rules: shopRules[user] }
          storage.create(resources.clusterRoles, role)
          storage.create(resources.clusterRoleBindings, {
            ...types,
            kind: 'ClusterRoleBinding',
            metadata,
            roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: user },
            subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
          })
        }
      },
    }),
  )
  const proxy = stack.use(await startCutProxy(Number(new URL(simulator.url).port)))
  const kubeconfig = stack.use(
    await writeKubeconfig({
      url: `http://127.0.0.1:${proxy.port}`,
      headers: { authorization: 'Bearer of-gateway' },
      expireHistory: async () => {},
    }),
  )
  const began: ExecReport[] = []
  const ended: ExecEndReport[] = []
  const refused: ExecEndReport[] = []
  const metrics = new GatewayMetrics()
  const gateway = stack.use(
    await serveGateway({ clusters: [{ name: 'one', kubeconfig: kubeconfig.path }] }, server, {
      auth: { mode: 'token-review' },
      exec,
      observer: {
        refused: (refusal) => metrics.server.refused(refusal),
        unsent: (bytes) => metrics.server.unsent?.(bytes),
        execBegan(report) {
          began.push(report)
          metrics.server.execBegan?.(report)
        },
        execEnded(report) {
          ended.push(report)
          metrics.server.execEnded?.(report)
        },
        execRefused(report) {
          refused.push(report)
          metrics.server.execRefused?.(report)
        },
      },
    }),
  )
  const all = stack.move()
  return {
    simulator,
    gateway,
    proxy,
    url: gateway.url,
    began,
    ended,
    refused,
    metric: async (name) =>
      Number(new RegExp(`^${name} (.*)$`, 'm').exec(await metrics.text())?.[1] ?? 'NaN'),
    revoke(user) {
      simulator.storage.delete(resources.clusterRoleBindings, '', user)
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

export const tokenOf = (user: ShopUser): string => `Bearer of-${user}`

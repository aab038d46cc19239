import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { caller, type Caller } from '../support/viewed-gateway.ts'
import { type Fields, inParallel, kubeconfigText } from '../gateway/test-cluster.ts'

interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: Fields
  /** JSON unless given; of a PATCH, a merge patch. */
  readonly contentType?: string
  /** The administrator's unless given. */
  readonly token?: string
}

/** A cluster whose RBAC decides, as its raw API shows it to anybody. */
export interface AccessCluster {
  /** For a gateway that has no more than the RBAC it needs. */
  readonly selection: () => { readonly name: string; readonly kubeconfig: string }
  readonly ask: (path: string, asked?: Asked) => Promise<{ status: number; json: Fields }>
  /** The same, which has to succeed. */
  readonly must: (path: string, asked?: Asked) => Promise<Fields>
}

const tokenOf = (name: string): string => `${name}-token`

/** Those who are asked for: two of them share a group. */
export const users: readonly (Caller & { readonly token: string })[] = [
  { ...caller('ann', 'devs'), token: tokenOf('ann') },
  { ...caller('ben', 'devs', 'ops'), token: tokenOf('ben') },
  { ...caller('cleo'), token: tokenOf('cleo') },
]

/** May read everything. */
export const administrator: Caller = caller('root', 'system:masters')

/** What a gateway needs: to read what it serves, to follow RBAC, and to ask who may do what. */
const gatewayRules: readonly Fields[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
]

export const rbac = '/apis/rbac.authorization.k8s.io/v1'

const namespaces = ['red', 'green', 'blue']

export const populate = async ({ must }: AccessCluster): Promise<void> => {
  const make = (path: string, body: Fields): Promise<Fields> => must(path, { method: 'POST', body })
  await make(`${rbac}/clusterroles`, { metadata: { name: 'gateway' }, rules: gatewayRules })
  await make(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'gateway' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'gateway' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'gateway' }],
  })
  const told = (path: string, status: Fields): Promise<Fields> =>
    must(`${path}/status`, { method: 'PATCH', body: { status } })
  for (const name of ['big', 'small']) await make('/api/v1/nodes', { metadata: { name } })
  // The big node would take pods: what they ask for is there.
  await must('/api/v1/nodes/big', { method: 'PATCH', body: { spec: { taints: null } } })
  // Each pod has a problem: those on the small node the same one.
  await told('/api/v1/nodes/small', { conditions: [{ type: 'Ready', status: 'Unknown' }] })
  await inParallel(namespaces, async (namespace) => {
    await make('/api/v1/namespaces', { metadata: { name: namespace } })
    const core = `/api/v1/namespaces/${namespace}`
    const labels = { app: 'shop' }
    const containers = [{ name: 'main', image: 'shop:1' }]
    const replicaSet = await make(`/apis/apps/v1/namespaces/${namespace}/replicasets`, {
      metadata: { name: 'shop' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    })
    const { name, uid } = replicaSet.metadata
    for (const [pod, nodeName] of [
      ['first', 'big'],
      ['second', 'small'],
    ] as const) {
      const made = await make(`${core}/pods`, {
        metadata: {
          name: pod,
          labels,
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid }],
        },
        spec: { nodeName, containers },
      })
      // Nothing is heard of the second one, since its node is down.
      await told(
        `${core}/pods/${pod}`,
        pod === 'first'
          ? {
              phase: 'Pending',
              conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
            }
          : {
              phase: 'Running',
              conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }],
            },
      )
      await make(`${core}/events`, {
        metadata: { name: `of-${pod}` },
        type: 'Warning',
        reason: 'Seen',
        message: `Seen in ${namespace}`,
        involvedObject: {
          apiVersion: 'v1',
          kind: 'Pod',
          namespace,
          name: pod,
          uid: made.metadata.uid,
        },
      })
    }
    await make(`${core}/services`, {
      metadata: { name: 'shop' },
      spec: { selector: labels, ports: [{ port: 80 }] },
    })
    for (const one of ['first', 'second']) {
      await make(`${core}/configmaps`, { metadata: { name: one }, data: { of: namespace } })
    }
  })
}

const requireOk =
  (ask: AccessCluster['ask']): AccessCluster['must'] =>
  async (path, asked) => {
    const { status, json } = await ask(path, asked)
    if (status < 300) return json
    throw new Error(`${asked?.method ?? 'GET'} ${path}: ${status} ${JSON.stringify(json)}`)
  }

const contentTypeOf = (method: string): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'

/** A simulated cluster of this name, with objects and without rights for anybody but the gateway. */
export const startSimulated = async (name = 'test'): Promise<AccessCluster & AsyncDisposable> => {
  const simulator = await startSimulator({
    authorization: 'rbac',
    users: [
      { token: tokenOf('root'), user: 'root', groups: ['system:masters'] },
      { token: tokenOf('gateway'), user: 'gateway' },
      ...users.map(({ token, username, uid, groups }) => ({ token, user: username, uid, groups })),
    ],
  })
  const dir = await mkdtemp(join(tmpdir(), 'informerql-access-'))
  const kubeconfig = join(dir, 'gateway.json')
  await writeFile(kubeconfig, kubeconfigText(simulator.url, tokenOf('gateway')))
  const ask: AccessCluster['ask'] = async (
    path,
    { method = 'GET', body, token, contentType } = {},
  ) => {
    const response = await fetch(new URL(path, simulator.url), {
      method,
      headers: {
        authorization: `Bearer ${token ?? tokenOf('root')}`,
        'content-type': contentType ?? contentTypeOf(method),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, json: await response.json() }
  }
  return {
    selection: () => ({ name, kubeconfig }),
    ask,
    must: requireOk(ask),
    [Symbol.asyncDispose]: async () => {
      await simulator[Symbol.asyncDispose]()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Declares a suite twice: for the simulator, and for a real API server where there is one. */
export const describeAccess = (
  name: string,
  body: (cluster: () => AccessCluster, isReal: boolean) => void,
): void => {
  describe(`${name}, on the simulator`, () => {
    let cluster: AccessCluster & AsyncDisposable
    beforeAll(async () => {
      cluster = await startSimulated()
      await populate(cluster)
    })
    afterAll(async () => cluster[Symbol.asyncDispose]())
    body(() => cluster, false)
  })
  describeWithControlPlane(
    name,
    (plane) => {
      let cluster: AccessCluster
      beforeAll(async () => {
        const ask: AccessCluster['ask'] = async (path, { method = 'GET', ...asked } = {}) => {
          const contentType = contentTypeOf(method)
          const answer = await plane().request(path, { method, contentType, ...asked })
          return { status: answer.status, json: answer.json() }
        }
        const kubeconfig = await plane().kubeconfigFor(tokenOf('gateway'))
        cluster = { ask, must: requireOk(ask), selection: () => ({ name: 'test', kubeconfig }) }
        await populate(cluster)
      })
      body(() => cluster, true)
    },
    {
      tokens: [
        { token: tokenOf('gateway'), user: 'gateway', uid: 'gateway', groups: ['gateways'] },
        ...users.map(({ token, username, uid, groups }) => ({
          token,
          user: username,
          uid,
          groups: groups.filter((group) => group !== 'system:authenticated'),
        })),
      ],
    },
  )
}

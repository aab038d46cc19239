import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from 'informerql/simulator'
import { type Fields, kubeconfigText } from '../gateway/test-cluster.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const rbacGroup = 'rbac.authorization.k8s.io'

/** Something of a simulated cluster, made over its API. */
export interface SmallWorld extends AsyncDisposable {
  /** For a gateway. */
  readonly selection: { readonly name: string; readonly kubeconfig: string }
  readonly make: (path: string, body: Fields) => Promise<Fields>
  readonly remove: (path: string) => Promise<Fields>
  readonly patch: (path: string, body: Fields) => Promise<Fields>
  /** A Role with its binding of one user, both of this name. */
  readonly allow: (
    namespace: string,
    name: string,
    user: string,
    rules: readonly Fields[],
  ) => Promise<void>
  /** The same for the whole cluster. */
  readonly allowEverywhere: (name: string, user: string, rules: readonly Fields[]) => Promise<void>
}

const labels = { app: 'shop' }

/** What stands in namespace `one` or `two`: a Deployment `shop` whose pod is on the node `worker`, a Service, an Event. */
const shopIn = async (make: SmallWorld['make'], namespace: string): Promise<void> => {
  const core = `/api/v1/namespaces/${namespace}`
  const apps = `/apis/apps/v1/namespaces/${namespace}`
  const container = { name: 'shop', image: `shop:${namespace}` }
  const template = { metadata: { labels }, spec: { containers: [container] } }
  const selector = { matchLabels: labels }
  const owner = (kind: string, { metadata }: Fields): Fields => ({
    ownerReferences: [
      { apiVersion: 'apps/v1', kind, name: metadata.name, uid: metadata.uid, controller: true },
    ],
  })
  const deployment = await make(`${apps}/deployments`, {
    metadata: { name: 'shop', labels },
    spec: { selector, template },
  })
  const replicaSet = await make(`${apps}/replicasets`, {
    metadata: { name: 'shop-1', labels, ...owner('Deployment', deployment) },
    spec: { selector, template },
  })
  const pod = await make(`${core}/pods`, {
    metadata: { name: 'shop-1-x', labels, ...owner('ReplicaSet', replicaSet) },
    spec: { nodeName: 'worker', containers: [container] },
  })
  await make(`${core}/services`, {
    metadata: { name: 'shop' },
    spec: { selector: labels, ports: [{ port: 80 }] },
  })
  await make(`${core}/events`, {
    metadata: { name: 'started' },
    reason: 'Started',
    involvedObject: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace,
      name: 'shop-1-x',
      uid: pod.metadata.uid,
    },
  })
  await make(`${core}/configmaps`, { metadata: { name: 'settings' }, data: { of: namespace } })
}

/** The token of the gateway, and the RBAC that it needs: to read what it serves, to follow RBAC, and to ask who may do what. */
const gatewayToken = 'gateway-token'
const gatewayRules: readonly Fields[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: ['authorization.k8s.io'],
    resources: ['subjectaccessreviews'],
    verbs: ['create'],
  },
]

/**
 * Starts a simulated cluster whose RBAC decides: the same shop in the namespaces `one` and `two`, on one node. `before` puts
 * another server between it and the gateway.
 */
export const startSmallWorld = async (
  before: (url: string) => string | Promise<string> = (url) => url,
): Promise<SmallWorld> => {
  const simulator = await startSimulator({
    authorization: 'rbac',
    users: [
      { token: 'admin-token', user: 'root', groups: ['system:masters'] },
      { token: gatewayToken, user: 'gateway' },
    ],
  })
  const dir = await mkdtemp(join(tmpdir(), 'informerql-access-'))
  const kubeconfig = join(dir, 'gateway.json')
  await writeFile(kubeconfig, kubeconfigText(await before(simulator.url), gatewayToken))
  const send = async (method: string, path: string, body?: Fields): Promise<Fields> => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const response = await fetch(new URL(path, simulator.url), {
      method,
      headers: { 'content-type': type, authorization: 'Bearer admin-token' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
  const make = (path: string, body: Fields): Promise<Fields> => send('POST', path, body)
  const allowEverywhere: SmallWorld['allowEverywhere'] = async (name, user, rules) => {
    await make(`${rbac}/clusterroles`, { metadata: { name }, rules })
    await make(`${rbac}/clusterrolebindings`, binding('ClusterRole', name, user))
  }
  await allowEverywhere('gateway', 'gateway', gatewayRules)
  await make('/api/v1/nodes', { metadata: { name: 'worker' } })
  for (const namespace of ['one', 'two']) {
    await make('/api/v1/namespaces', { metadata: { name: namespace } })
    await shopIn(make, namespace)
  }
  return {
    selection: { name: 'test', kubeconfig },
    make,
    remove: (path) => send('DELETE', path),
    patch: (path, body) => send('PATCH', path, body),
    allow: async (namespace, name, user, rules) => {
      const place = `${rbac}/namespaces/${namespace}`
      await make(`${place}/roles`, { metadata: { name }, rules })
      await make(`${place}/rolebindings`, binding('Role', name, user))
    },
    allowEverywhere,
    [Symbol.asyncDispose]: async () => {
      await simulator[Symbol.asyncDispose]()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

const binding = (kind: string, name: string, user: string): Fields => ({
  metadata: { name },
  roleRef: { apiGroup: rbacGroup, kind, name },
  subjects: [{ apiGroup: rbacGroup, kind: 'User', name: user }],
})

/** A rule for reading. */
export const reads = (group: string, ...resources: readonly string[]): Fields => ({
  apiGroups: [group],
  resources,
  verbs: ['get', 'list', 'watch'],
})

/** A rule for looking at objects of these names. */
export const gets = (resource: string, ...resourceNames: readonly string[]): Fields => ({
  apiGroups: [''],
  resources: [resource],
  verbs: ['get'],
  resourceNames,
})

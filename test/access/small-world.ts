import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe } from 'vitest'
import { type Fields, kubeconfigText } from '../gateway/test-cluster.ts'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const rbacGroup = 'rbac.authorization.k8s.io'

/** Something of a cluster, made over its API. */
export interface FurnishedWorld {
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
const shopIn = async (make: FurnishedWorld['make'], namespace: string): Promise<void> => {
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

/** One that is simulated. */
export interface SmallWorld extends FurnishedWorld, AsyncDisposable {
  readonly url: string
  /** The headers of a request by somebody who may do anything. */
  readonly administrator: Readonly<Record<string, string>>
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

/** Sends a request as somebody who may do anything; answers with what has to be a success. */
type Send = (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: Fields) => Promise<Fields>

const contentTypeOf = (method: string): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'

/** How long an API server may take to hear of a change of its own RBAC. */
const heardMs = 10_000

/** Waits until a user may do what has just been allowed. */
const untilAllowed = async (send: Send, namespace: string, user: string, rule: Fields) => {
  const deadline = performance.now() + heardMs
  const resourceAttributes = {
    verb: rule.verbs[0],
    group: rule.apiGroups[0],
    resource: rule.resources[0],
    name: rule.resourceNames?.[0],
    namespace,
  }
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  while (performance.now() < deadline) {
    const { status } = await send('POST', path, { spec: { user, resourceAttributes } })
    if (status.allowed) return
    await sleep(50)
  }
  throw new Error(`${user} is not allowed in ${namespace}: ${JSON.stringify(rule)}`)
}

/** Makes the same shop in the namespaces `one` and `two`, on one node, in a cluster whose RBAC decides. */
const furnish = async (
  send: Send,
  selection: FurnishedWorld['selection'],
): Promise<FurnishedWorld> => {
  const make = (path: string, body: Fields): Promise<Fields> => send('POST', path, body)
  const allowEverywhere: FurnishedWorld['allowEverywhere'] = async (name, user, rules) => {
    await make(`${rbac}/clusterroles`, { metadata: { name }, rules })
    await make(`${rbac}/clusterrolebindings`, binding('ClusterRole', name, user))
    for (const rule of rules) await untilAllowed(send, '', user, rule)
  }
  await allowEverywhere('gateway', 'gateway', gatewayRules)
  await make('/api/v1/nodes', { metadata: { name: 'worker' } })
  for (const namespace of ['one', 'two']) {
    await make('/api/v1/namespaces', { metadata: { name: namespace } })
    await shopIn(make, namespace)
  }
  return {
    selection,
    make,
    remove: (path) => send('DELETE', path),
    patch: (path, body) => send('PATCH', path, body),
    allow: async (namespace, name, user, rules) => {
      const place = `${rbac}/namespaces/${namespace}`
      await make(`${place}/roles`, { metadata: { name }, rules })
      await make(`${place}/rolebindings`, binding('Role', name, user))
      for (const rule of rules) await untilAllowed(send, namespace, user, rule)
    },
    allowEverywhere,
  }
}

/** Starts a simulated one. `before` puts another server between it and the gateway. */
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
  const administrator = { authorization: 'Bearer admin-token' }
  const send: Send = async (method, path, body) => {
    const response = await fetch(new URL(path, simulator.url), {
      method,
      headers: { 'content-type': contentTypeOf(method), ...administrator },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
  return {
    ...(await furnish(send, { name: 'test', kubeconfig })),
    url: simulator.url,
    administrator,
    [Symbol.asyncDispose]: async () => {
      await simulator[Symbol.asyncDispose]()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Declares a suite twice: for a simulated world, and for one on a real API server where there is one. */
export const describeSmallWorld = (
  name: string,
  body: (world: () => FurnishedWorld) => void,
): void => {
  describe(`${name}, on the simulator`, () => {
    let world: SmallWorld
    beforeAll(async () => {
      world = await startSmallWorld()
    })
    afterAll(async () => world[Symbol.asyncDispose]())
    body(() => world)
  })
  describeWithControlPlane(
    name,
    (plane) => {
      let world: FurnishedWorld
      beforeAll(async () => {
        const send: Send = async (method, path, content) => {
          const contentType = contentTypeOf(method)
          const answer = await plane().request(path, { method, contentType, body: content })
          if (answer.status < 300) return answer.json()
          throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
        }
        const kubeconfig = await plane().kubeconfigFor(gatewayToken)
        world = await furnish(send, { name: 'test', kubeconfig })
      })
      body(() => world)
    },
    { tokens: [{ token: gatewayToken, user: 'gateway', uid: 'gateway', groups: [] }] },
  )
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

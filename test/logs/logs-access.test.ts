import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LoggedObject, OperationReport } from 'informerql'
import { WebSocketClient } from 'informerql/client'
import { resources, type Unstructured } from 'informerql/kubernetes'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { writeKubeconfig } from '../support/kubeconfig.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'
import { followLogs, isIn, logFields } from './followed-logs.ts'
import { changePod, putDeployment, putNodes, putPod, running } from './small-town.ts'

const admin = { token: 'gateway-token', user: 'gateway', groups: ['system:masters'] }
const users = ['ann', 'bob', 'cara'].map((user) => ({ token: `token-of-${user}`, user }))
const renewed = { token: 'newer-token-of-cara', user: 'cara' }

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' }
const group = 'rbac.authorization.k8s.io'
const role = (kind: string, name: string, rules: object[], namespace?: string): Unstructured => ({
  ...rbac,
  kind,
  metadata: { name, ...(namespace && { namespace }) },
  rules,
})
const bound = (kind: string, to: string, user: string, namespace?: string): Unstructured => ({
  ...rbac,
  kind,
  metadata: { name: `${to}-${user}`, ...(namespace && { namespace }) },
  roleRef: { apiGroup: group, kind: 'ClusterRole', name: to },
  subjects: [{ apiGroup: group, kind: 'User', name: user }],
})
const clusterRoles = { group, version: 'v1', resource: 'clusterroles' }
const clusterBindings = { group, version: 'v1', resource: 'clusterrolebindings' }
const bindings = { group, version: 'v1', resource: 'rolebindings' }

const verbs = ['get', 'list', 'watch']
let cluster: Simulator
let gateway: ServedGateway
let reports: OperationReport[] = []
let kubeconfig: { readonly path: string } & AsyncDisposable

beforeEach(async () => {
  cluster = await startSimulator({
    users: [admin, ...users, renewed],
    authorization: 'rbac',
    populate(storage) {
      putNodes(storage)
      for (const name of ['shop', 'bank']) {
        storage.create(resources.namespaces, {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name },
        })
        putPod(storage, `pod-of-${name}`, running(0), { in: name })
      }
      storage.create(
        clusterRoles,
        role('ClusterRole', 'pods', [
          { apiGroups: ['', 'apps'], resources: ['pods', 'deployments', 'replicasets'], verbs },
        ]),
      )
      storage.create(
        clusterRoles,
        role('ClusterRole', 'logs', [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }]),
      )
      // All may see all pods. Ann may read the logs of one namespace, Bob none, Cara all.
      for (const { user } of users) {
        storage.create(clusterBindings, bound('ClusterRoleBinding', 'pods', user))
      }
      storage.create(bindings, bound('RoleBinding', 'logs', 'ann', 'shop'))
      storage.create(clusterBindings, bound('ClusterRoleBinding', 'logs', 'cara'))
    },
  })
  kubeconfig = await writeKubeconfig({
    url: cluster.url,
    headers: { authorization: `Bearer ${admin.token}` },
    expireHistory: async () => {},
  })
  const clusters = [{ name: 'one', kubeconfig: kubeconfig.path }]
  reports = []
  const report = (one: OperationReport): void => void reports.push(one)
  const audit = { answered: report, ended: report }
  gateway = await serveGateway({ clusters, audit }, {}, { auth: { mode: 'token-review' } })
})
afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  await kubeconfig[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const all = 'namespaces: ["shop", "bank"], tailLines: 3'
const read = `{ podLogs(${all}) { ${logFields} } }`

it('a caller reads the logs of the namespaces where they may, and is told of the others', async () => {
  const { data, errors } = await gateway.as('token-of-ann').query(read)
  expect(errors).toBeUndefined()
  const pods = (data.podLogs.lines as { pod: string }[]).map(({ pod }) => pod)
  expect([...new Set(pods)]).toEqual(['pod-of-shop'])
  expect(data.podLogs.streams).toMatchObject([
    { pod: 'pod-of-bank', state: 'FAILED', reason: 'FORBIDDEN' },
    { pod: 'pod-of-shop', state: 'ENDED' },
  ])
  const whole = await gateway.as('token-of-cara').query(read)
  expect(whole.data.podLogs.lines).toHaveLength(6)
})

it('a caller who may get no log is refused, by either way of asking', async () => {
  const { data, errors } = await gateway.as('token-of-bob').query(read)
  expect(data).toEqual({ podLogs: null })
  const refusal = { extensions: { code: 'FORBIDDEN', cluster: 'one', type: 'Pod' } }
  expect(errors).toMatchObject([refusal])
  const logs = followLogs(gateway.as('token-of-bob').connect(), all)
  await logs.until('refusal', () => logs.errors().length > 0)
  expect(logs.errors()).toMatchObject([refusal])
  expect(logs.lines).toEqual([])
})

describe('the audit log names the type, the cluster, the namespace and the objects', () => {
  const asked = (namespace: string): LoggedObject => ({ cluster: 'one', type: 'Pod', namespace })
  const object = (type: string, name: string, namespace = 'shop') => ({
    ...asked(namespace),
    type,
    name,
    uid: `uid-of-${name}`,
  })
  const pods = [
    asked('shop'),
    asked('bank'),
    object('Pod', 'pod-of-bank', 'bank'),
    object('Pod', 'pod-of-shop'),
  ]
  const idOf = async (kind: string, name: string): Promise<string> => {
    const where = `namespace: "shop", where: { name: { eq: "${name}" } }`
    const { list } = await gateway
      .as('token-of-cara')
      .data(`{ list: ${kind}(${where}) { nodes { id } } }`)
    reports.length = 0
    return list.nodes[0].id
  }

  it('of logs that a query reads, and of those that it may not', async () => {
    await gateway.as('token-of-cara').data(read)
    await gateway.as('token-of-bob').query(read)
    // A selection in a fragment is reported, too.
    await gateway.as('token-of-cara').data(`{ ...Logs } fragment Logs on Query { ${read.slice(1)}`)
    expect(reports).toMatchObject([
      { viewer: { username: 'cara' }, codes: [], logs: pods },
      { viewer: { username: 'bob' }, codes: ['FORBIDDEN'], logs: pods },
      { viewer: { username: 'cara' }, codes: [], logs: pods },
    ])
  })

  it('of logs that a subscription begins with, of those that come, and of those that it may not', async () => {
    const bob = followLogs(gateway.as('token-of-bob').connect(), all)
    await bob.until('refusal', () => bob.errors().length > 0)
    const cara = followLogs(gateway.as('token-of-cara').connect(), all)
    await cara.until('lines', () => cara.lines.length > 0)
    putPod(cluster.storage, 'another', running(0), { in: 'shop' })
    await cara.until('another', () => isIn(cara, 'another', 'STREAMING'))
    cara.close()
    await expect.poll(() => reports.length).toBe(3)
    expect(reports).toMatchObject([
      { viewer: { username: 'bob' }, codes: ['FORBIDDEN'], logs: pods },
      { viewer: { username: 'cara' }, codes: [], logs: pods },
      { viewer: { username: 'cara' }, codes: [], logs: [...pods, object('Pod', 'another')] },
    ])
  })

  it('of what is asked for by its id', async () => {
    const [, set] = putDeployment(cluster.storage, 'web')
    if (set === undefined) throw new Error('a Deployment has a ReplicaSet')
    putPod(cluster.storage, 'web-1', running(0), { in: 'shop', owner: set })
    const byId = async (user: string, id: string) => {
      await gateway.as(`token-of-${user}`).query(`{ podLogs(ids: ["${id}"]) { lines { text } } }`)
      return reports.at(-1)?.logs
    }
    expect(await byId('bob', await idOf('pods', 'pod-of-shop'))).toEqual([
      object('Pod', 'pod-of-shop'),
    ])
    const web = await idOf('deployments', 'web')
    const whole = [object('Deployment', 'web'), object('Pod', 'web-1')]
    expect(await byId('cara', web)).toEqual(whole)
    expect(await byId('ann', web)).toEqual(whole)
  })
})

it('a permission that is taken away ends its stream, and one that is given begins it', async () => {
  const logs = followLogs(gateway.as('token-of-ann').connect(), all)
  await logs.until('lines', () => logs.lines.length > 3)
  expect(isIn(logs, 'pod-of-bank', 'FAILED')).toBe(true)
  cluster.storage.create(bindings, bound('RoleBinding', 'logs', 'ann', 'bank'))
  await logs.until('the other log', () => isIn(logs, 'pod-of-bank', 'STREAMING'))
  cluster.storage.delete(bindings, 'shop', 'logs-ann')
  await logs.until('the refusal', () => isIn(logs, 'pod-of-shop', 'FAILED'))
  const last = logs.lines.filter(({ pod }) => pod === 'pod-of-shop').length
  const before = logs.lines.length
  await logs.until('further lines', () => logs.lines.length > before + 20)
  expect(logs.lines.filter(({ pod }) => pod === 'pod-of-shop')).toHaveLength(last)
})

it("the gateway's own account reads nothing for a caller without a token", async () => {
  const clusters = [{ name: 'one', kubeconfig: kubeconfig.path }]
  await using viewed = await serveViewers({ clusters })
  const { data, errors } = await viewed.query(caller('cara'), read)
  expect(data).toEqual({ podLogs: null })
  expect(errors).toMatchObject([{ extensions: { code: 'TOKEN_NEEDED', cluster: 'one' } }])
  const hint = errors?.[0]?.extensions.hint
  expect(hint).toContain('Authorization: Bearer')
})

it('a token that is renewed is the one that the next streams are opened with', async () => {
  const seen: (string | undefined)[] = []
  const between = createServer((incoming, response) => {
    const { url = '', method, headers } = incoming
    if (url.includes('/log?')) seen.push(headers.authorization)
    const outgoing = request(new URL(url, cluster.url), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    outgoing.once('error', () => response.destroy())
    response.once('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  })
  between.listen(0, '127.0.0.1')
  await once(between, 'listening')
  await using stack = new AsyncDisposableStack()
  stack.defer(() => {
    between.closeAllConnections()
    between.close()
  })
  const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`
  const headers = { authorization: `Bearer ${admin.token}` }
  const to = stack.use(await writeKubeconfig({ url, headers, expireHistory: async () => {} }))
  const clusters = [{ name: 'one', kubeconfig: to.path }]
  const served = stack.use(await serveGateway({ clusters }, {}, { auth: { mode: 'token-review' } }))
  const client = new WebSocketClient({
    url: served.url.replace('http', 'ws'),
    connectionParams: { authorization: 'Bearer token-of-cara' },
    webSocket: WebSocket,
  })
  let lines = 0
  const query = `subscription { podLogs(${all}) { lines { text } } }`
  const leave = client.subscribe(
    { query, variables: {} },
    {
      next: ({ data }) => {
        lines += (data as { podLogs: { lines: unknown[] } }).podLogs.lines.length
      },
      error: () => {},
      complete: () => {},
    },
  )
  stack.defer(leave)
  await expect.poll(() => lines).toBeGreaterThan(10)
  expect(new Set(seen)).toEqual(new Set(['Bearer token-of-cara']))
  client.prolong({ authorization: `Bearer ${renewed.token}` })
  let run = 0
  await expect
    .poll(
      () => {
        run += 1
        changePod(cluster.storage, 'pod-of-shop', running(run, new Date()), { in: 'shop' })
        return seen.includes(`Bearer ${renewed.token}`)
      },
      { timeout: 60_000, interval: 500 },
    )
    .toBe(true)
})

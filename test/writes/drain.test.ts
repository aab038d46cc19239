import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AccessCluster, describeAccess } from '../access/access-cluster.ts'
import { type Fields, inParallel } from '../gateway/test-cluster.ts'
import { type GatewayCaller, type ServedGateway, serveGateway } from '../support/gateway.ts'
import {
  core,
  guardPod,
  idOf,
  namespace,
  populateShop,
  Reports,
  serveShop,
  written,
} from './shop.ts'

const selection = 'node state message total gone dryRun pods { namespace name state reason losses }'

/** The frames of a drain, until it ends or `isEnough`. */
async function drained(
  caller: GatewayCaller,
  args: string,
  isEnough: (frame: Fields) => boolean = () => false,
): Promise<readonly Fields[]> {
  const frames: Fields[] = []
  for await (const { data, errors } of caller
    .connect()
    .iterate({ query: `subscription { drain(${args}) { ${selection} } }` })) {
    if (errors !== undefined) throw new Error(JSON.stringify(errors))
    frames.push((data as Fields).drain)
    if (isEnough(frames.at(-1))) break
  }
  return frames
}

const states = ({ pods }: Fields): Fields =>
  Object.fromEntries(pods.map(({ name, state }: Fields) => [name, state]))

const lossesOf = ({ pods }: Fields): Fields =>
  Object.fromEntries(pods.map(({ name, losses }: Fields) => [name, losses]))

describeAccess('a drain', (cluster) => {
  let gateway: ServedGateway
  let ann: GatewayCaller
  const reports = new Reports()
  beforeAll(async () => {
    await populateShop(cluster())
    gateway = await serveShop(cluster(), { audit: reports })
    ann = gateway.as('ann-token')
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  const nodeWith = async (
    name: string,
    pods: Readonly<Record<string, Fields>>,
  ): Promise<string> => {
    const { must }: AccessCluster = cluster()
    await must('/api/v1/nodes', { method: 'POST', body: { metadata: { name } } })
    for (const [pod, { owner, ...more }] of Object.entries(pods)) {
      const uid = '5d5e8f3a-0000-4000-8000-000000000001'
      const owners = owner && [
        { apiVersion: 'apps/v1', kind: owner, name: 'web', uid, controller: true },
      ]
      await must(`${core}/pods`, {
        method: 'POST',
        body: {
          metadata: { name: pod, ...(owners && { ownerReferences: owners }), ...more.metadata },
          spec: {
            nodeName: name,
            terminationGracePeriodSeconds: 0,
            containers: [{ name: 'a', image: 'a' }],
            ...more.spec,
          },
        },
      })
    }
    return await idOf(ann, `node(name: "${name}")`)
  }

  it('cordons the node and evicts its pods, except those of DaemonSets and static ones', async () => {
    const id = await nodeWith('plain', {
      one: { owner: 'ReplicaSet' },
      two: { owner: 'ReplicaSet' },
      agent: { owner: 'DaemonSet' },
      static: { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } },
    })
    const dry = await drained(ann, `id: "${id}", dryRun: true`)
    expect(dry.at(-1)).toMatchObject({ state: 'DONE', dryRun: true, total: 2 })
    expect((await cluster().must('/api/v1/nodes/plain')).spec?.unschedulable).toBeUndefined()
    reports.writes.length = 0
    const frames = await drained(ann, `id: "${id}", gracePeriodSeconds: 0`)
    expect(frames[0]).toMatchObject({ node: 'plain', state: 'EVICTING', total: 2, gone: 0 })
    expect(frames.at(-1)).toMatchObject({ state: 'DONE', total: 2, gone: 2, message: null })
    expect(states(frames.at(-1))).toEqual({
      one: 'GONE',
      two: 'GONE',
      agent: 'SKIPPED',
      static: 'SKIPPED',
    })
    expect((await cluster().must('/api/v1/nodes/plain')).spec.unschedulable).toBe(true)
    expect((await cluster().ask(`${core}/pods/one`)).status).toBe(404)
    expect((await cluster().ask(`${core}/pods/agent`)).status).toBe(200)
    expect(reports.writes).toMatchObject([
      { mutation: 'drain', type: 'Node', name: 'plain', viewer: { username: 'ann' } },
      { mutation: 'drain', type: 'Pod', namespace, code: '' },
      { mutation: 'drain', type: 'Pod' },
    ])
  })

  it('does nothing where pods would be lost, unless the caller asks for it', async () => {
    const id = await nodeWith('lossy', {
      bare: {},
      data: { owner: 'ReplicaSet', spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
    })
    const [frame, ...further] = await drained(ann, `id: "${id}"`)
    expect(further.length).toBeLessThan(2)
    expect(frame).toMatchObject({ state: 'REFUSED', message: expect.stringContaining('2 pods') })
    expect(states(frame)).toEqual({ bare: 'REFUSED', data: 'REFUSED' })
    const losses = { bare: ['POD'], data: ['EMPTY_DIR_DATA'] }
    expect(lossesOf(frame)).toEqual(losses)
    expect((await cluster().must('/api/v1/nodes/lossy')).spec?.unschedulable).toBeUndefined()
    const asked = 'force: true, deleteEmptyDirData: true, gracePeriodSeconds: 0'
    const forced = await drained(ann, `id: "${id}", ${asked}`)
    expect(forced.at(-1)).toMatchObject({ state: 'DONE', gone: 2 })
    expect(lossesOf(forced.at(-1))).toEqual(losses)
  })

  it('waits for a budget, and stops when the subscriber leaves or the deadline passes', async () => {
    const labels = { app: 'budgeted' }
    const id = await nodeWith('held', { guarded: { owner: 'ReplicaSet', metadata: { labels } } })
    const allow = await guardPod(cluster(), { pod: 'guarded', labels })
    const isBlocked = (frame: Fields): boolean => states(frame).guarded === 'BLOCKED'
    const left = await drained(ann, `id: "${id}"`, isBlocked)
    expect(left.at(-1).pods[0].reason).toContain('disruption budget')
    expect((await cluster().ask(`${core}/pods/guarded`)).status).toBe(200)
    const late = await drained(ann, `id: "${id}", deadlineSeconds: 1`)
    expect(late.at(-1)).toMatchObject({
      state: 'FAILED',
      message: 'the deadline passed with 1 pods left',
    })
    await allow(1)
    const done = await drained(ann, `id: "${id}", gracePeriodSeconds: 0`)
    expect(done.at(-1)).toMatchObject({ state: 'DONE', gone: 1 })
  })

  it('needs the rights that it uses, is for nodes, and never begins by GET', async () => {
    const id = await nodeWith('other', {})
    await expect(drained(gateway.as('ben-token'), `id: "${id}"`)).rejects.toThrow(
      /NOT_FOUND|FORBIDDEN/,
    )
    const workload = await idOf(ann, `deployment(namespace: "${namespace}", name: "web")`)
    await expect(drained(ann, `id: "${workload}"`)).rejects.toThrow('drain is not for objects of')
    const query = `subscription { drain(id: "${id}") { state } }`
    for (const extensions of ['{}', '{"explain":true}']) {
      const response = await fetch(
        `${gateway.url}?${String(new URLSearchParams({ query, extensions }))}`,
        {
          headers: {
            authorization: 'Bearer ann-token',
            'graphql-require-preflight': '1',
            accept: 'text/event-stream',
          },
        },
      )
      expect(await response.text()).toContain('never by GET')
    }
    expect((await cluster().must('/api/v1/nodes/other')).spec?.unschedulable).toBeUndefined()
  })
})

it('a drain goes on where an API server fails for a moment, and takes no failed read for a pod that is gone', async () => {
  await using simulator = await startSimulator()
  await using gateway = await serveGateway({
    clusters: [{ name: 'test', server: simulator.url }],
    allowWrites: true,
  })
  const uid = '5d5e8f3a-0000-4000-8000-000000000001'
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, controller: true }
  const finalizers = ['example.com/held']
  const manifest = [
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker' } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'held', namespace: 'default', finalizers, ownerReferences: [owner] },
      spec: { nodeName: 'worker', containers: [{ name: 'a', image: 'a' }] },
    },
  ]
  const [node, pod] = await written(gateway, 'apply(manifest: $manifest)', { manifest })
  const passing = (verb: 'get' | 'list'): void =>
    simulator.faults.inject({
      match: { resource: 'pods', verb },
      fault: [{ type: 'none' }, { type: 'status', code: 500 }],
    })
  passing('get')
  passing('list')
  const seen: string[] = []
  const query = `subscription { drain(id: "${node.object.id}", gracePeriodSeconds: 0, deadlineSeconds: 60) { state pods { state } } }`
  for await (const { data } of gateway.connect().iterate({ query })) {
    const { state, pods } = (data as Fields).drain
    const now = `${state} ${pods[0].state}`
    if (seen.includes(now)) continue
    seen.push(now)
    if (now !== 'EVICTING TERMINATING') continue
    const patch = { metadata: { finalizers: null } }
    await written(gateway, `patch(id: "${pod.object.id}", type: MERGE, patch: $patch)`, { patch })
  }
  expect(seen).toEqual(['EVICTING PENDING', 'EVICTING TERMINATING', 'DONE GONE'])
  expect(simulator.faults.pending()).toEqual([])
})

it('a drain knows all pods of a node, also beyond one page of the API server', async () => {
  await using simulator = await startSimulator()
  const post = async (path: string, body: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' }
    const options = { method: 'POST', headers, body: JSON.stringify(body) }
    expect((await fetch(`${simulator.url}${path}`, options)).status).toBe(201)
  }
  await post('/api/v1/nodes', { metadata: { name: 'worker' } })
  const spec = { nodeName: 'worker', containers: [{ name: 'a', image: 'a' }] }
  await inParallel(
    Array.from({ length: 1_001 }, (_, at) => `pod-${at}`),
    (name) => post('/api/v1/namespaces/default/pods', { metadata: { name }, spec }),
  )
  await using gateway = await serveGateway({
    clusters: [{ name: 'test', server: simulator.url }],
    allowWrites: true,
  })
  const id = await idOf(gateway, 'node(name: "worker")')
  const [frame] = await drained(gateway, `id: "${id}"`)
  expect(frame).toMatchObject({ state: 'REFUSED', total: 1_001 })
})

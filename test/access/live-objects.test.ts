import { afterAll, beforeAll, expect, it } from 'vitest'
import { follow, followSynced } from '../gateway/followed-subscription.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type AnsweredError, firstAnswer } from '../support/gateway.ts'
import { caller, type Caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const wait = { timeout: 60_000 }

let world: SmallWorld
let served: ViewedGateway
const ids = new Map<string, string>()

beforeAll(async () => {
  world = await startSmallWorld()
  served = await serveViewers({ clusters: [world.selection] })
  const admin = caller('root-viewer')
  await world.allowEverywhere('root-viewer', 'root-viewer', [reads('', 'pods')])
  const { data } = await served.query(admin, '{ pods { nodes { id namespace } } }')
  for (const { id, namespace } of data.pods.nodes) ids.set(namespace, id)
})

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const byId = (namespace: string): string => `object(id: "${ids.get(namespace)}", coalesceMs: 0)`
const byName = (namespace: string, kind = 'Pod', name = 'shop-1-x'): string =>
  `objectByRef(apiVersion: "v1", kind: "${kind}", namespace: "${namespace}", name: "${name}", coalesceMs: 0)`
const touched = (namespace: string, value: string): Promise<Fields> =>
  world.patch(`/api/v1/namespaces/${namespace}/pods/shop-1-x`, {
    metadata: { labels: { touched: value } },
  })
const refusal = async (who: Caller, field: string): Promise<AnsweredError | undefined> =>
  (await firstAnswer(served.connect(who), `subscription { frame: ${field} { reset } }`)).errors?.[0]

it.each([
  ['by its id', byId],
  ['by its name', byName],
])('an object %s is followed by whom its namespace is open to', async (form, field) => {
  const who = caller(`member ${form}`.replaceAll(' ', '-'))
  await world.allow('one', who.username, who.username, [reads('', 'pods')])
  const live = await followSynced(served.connect(who), field('one'), 'namespace labels')
  const label = form.replaceAll(' ', '-')
  await touched('one', label)
  await live.until('label', (held) => [...held.values()][0]?.labels.touched === label)
  expect([...live.fold.objects.values()]).toMatchObject([{ namespace: 'one' }])
  expect(live.problems).toEqual([])
})

it('the id of an object that the viewer may not see tells no more than the id of none', async () => {
  const who = caller('narrow')
  await world.allow('one', 'narrow', 'narrow', [reads('', 'pods')])
  const gone = ['1', 'test', '', 'Pod', '00000000-0000-4000-8000-000000000000'].join('\0')
  const none = `object(id: "${Buffer.from(gone).toString('base64url')}", coalesceMs: 0)`
  const frames: (readonly unknown[])[] = []
  for (const field of [byId('two'), none]) {
    const live = await followSynced(served.connect(who), field, 'namespace')
    frames.push(live.frames.map(({ reset, synced, changes }) => ({ reset, synced, changes })))
  }
  expect(frames[0]).toEqual([{ reset: true, synced: true, changes: [] }])
  expect(frames[0]).toEqual(frames[1])
})

it('an object appears when its namespace is opened to the viewer, and is gone when that ends', async () => {
  const who = caller('olga')
  await world.allow('one', 'olga', 'olga', [reads('', 'pods')])
  const live = follow(served.connect(who), byId('two'), 'namespace', true)
  await live.until('snapshot', () => live.fold.synced)
  await world.allow('two', 'olga', 'olga', [reads('', 'pods')])
  await live.until('object', (held) => [...held.values()][0]?.namespace === 'two')
  await world.remove(`${rbac}/namespaces/two/rolebindings/olga`)
  await live.until('nothing', (held) => held.size === 0)
  expect(live.ended()).toBe(false)
})

it('a subscription to an object ends with FORBIDDEN where it may be read no more', async () => {
  const who = caller('pavel')
  await world.allow('one', 'pavel', 'pavel', [reads('', 'pods')])
  const live = await followSynced(served.connect(who), byName('one'), 'namespace')
  await world.remove(`${rbac}/namespaces/one/rolebindings/pavel`)
  await expect.poll(() => live.ended(), wait).toBe(true)
  expect(await refusal(who, byName('one'))).toMatchObject({
    extensions: { code: 'FORBIDDEN', type: 'Pod' },
  })
})

it('a list whose kind is an argument has what the viewer may list, and loses what is closed to them', async () => {
  const who = caller('lena')
  await world.allow('one', 'lena', 'lena', [reads('', 'pods')])
  await world.allow('two', 'lena', 'lena', [reads('', 'pods')])
  const field = 'objectList(kind: "Pod", where: { name: { eq: "shop-1-x" } }, coalesceMs: 0)'
  const live = await followSynced(served.connect(who), field, 'namespace', true)
  const shown = (): string[] =>
    Array.from(live.fold.objects.values(), ({ namespace }) => String(namespace)).toSorted()
  expect(shown()).toEqual(['one', 'two'])
  await world.remove(`${rbac}/namespaces/two/rolebindings/lena`)
  await live.until('one', () => shown().join(' ') === 'one')
  await world.remove(`${rbac}/namespaces/one/rolebindings/lena`)
  await expect.poll(() => live.ended(), wait).toBe(true)
})

it('objects of several kinds begin again together when the permission for one kind changes, and end with the last', async () => {
  const who = caller('sven')
  await world.allow('one', 'sven', 'sven', [reads('', 'pods')])
  await world.allow('two', 'sven', 'sven', [reads('', 'pods')])
  await world.allowEverywhere('sven-nodes', 'sven', [reads('', 'nodes')])
  const found = await served.query(who, '{ node(name: "worker") { id } }')
  const all = JSON.stringify([...ids.values(), found.data.node.id])
  const live = await followSynced(
    served.connect(who),
    `objects(ids: ${all}, coalesceMs: 0)`,
    'kind namespace labels',
    true,
  )
  const shown = (): string =>
    Array.from(live.fold.objects.values(), ({ kind, namespace }) => `${kind} ${namespace}`)
      .toSorted((a, b) => (a < b ? -1 : 1))
      .join()
  expect(shown()).toBe('Node null,Pod one,Pod two')
  await world.remove(`${rbac}/namespaces/two/rolebindings/sven`)
  await live.until('one pod', () => live.fold.synced && shown() === 'Node null,Pod one')
  expect(live.frames.filter(({ reset }) => reset)).toHaveLength(2)
  await world.patch('/api/v1/nodes/worker', { metadata: { labels: { after: 'reset' } } })
  await live.until('node', (held) =>
    [...held.values()].some(({ kind, labels }) => kind === 'Node' && labels?.after === 'reset'),
  )
  expect(live.problems).toEqual([])
  await world.remove(`${rbac}/clusterrolebindings/sven-nodes`)
  await live.until('no node', () => live.fold.synced && shown() === 'Pod one')
  await world.remove(`${rbac}/namespaces/one/rolebindings/sven`)
  await expect.poll(() => live.ended(), wait).toBe(true)
})

it('a page whose kind is an argument counts what the viewer may list alone', async () => {
  const who = caller('mina')
  await world.allow('one', 'mina', 'mina', [reads('', 'pods')])
  const query = `subscription { frame: objectListPage(kind: "Pod", first: 5) { totalCount changes { object { namespace } } } }`
  const { data } = await firstAnswer(served.connect(who), query)
  expect(data.frame).toEqual({ totalCount: 1, changes: [{ object: { namespace: 'one' } }] })
})

it.each([
  ['a kind', byName('one', 'ConfigMap', 'settings'), 'ConfigMap'],
  ['the kind of a list', 'objectList(kind: "Secret", where: { name: { eq: "" } })', 'Secret'],
  ['a namespace', byName('two'), 'Pod'],
])(
  '%s that the viewer may not list is FORBIDDEN, whether or not the object exists',
  async (what, field, kind) => {
    const who = caller(`stranger to ${what}`.replaceAll(' ', '-'))
    await world.allow('one', who.username, who.username, [reads('', 'pods')])
    const [there, absent] = [
      await refusal(who, field),
      await refusal(who, field.replace(/name: "[^"]*"/, 'name: "absent"')),
    ]
    expect(there).toMatchObject({ extensions: { code: 'FORBIDDEN', type: kind } })
    expect(absent).toEqual(there)
  },
)

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { caller, type Caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import type { AnsweredError } from '../support/gateway.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'

let world: SmallWorld
let served: ViewedGateway

beforeAll(async () => {
  world = await startSmallWorld()
  served = await serveViewers({ clusters: [world.selection] })
})

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** A subscription with all that it has been sent. */
interface Followed {
  readonly changes: Fields[]
  readonly errors: AnsweredError[]
  readonly held: ReadonlyMap<string, string>
  readonly until: (condition: () => boolean) => Promise<void>
  readonly leave: () => void
}

const follow = (who: Caller, query: string): Followed => {
  const changes: Fields[] = []
  const errors: AnsweredError[] = []
  const held = new Map<string, string>()
  const leave = served.connect(who).subscribe(
    { query },
    {
      next: (answer) => {
        errors.push(...((answer.errors ?? []) as unknown as AnsweredError[]))
        const frame = Object.values(answer.data ?? {})[0] as Fields
        if (frame?.reset === true) held.clear()
        for (const change of frame?.changes ?? []) {
          changes.push(change)
          if (change.type === 'REMOVED') held.delete(change.objectId)
          else held.set(change.objectId, change.object.metadata.namespace)
        }
      },
      error: (error) => errors.push(...(error as AnsweredError[])),
      complete: () => {},
    },
  )
  const until = async (condition: () => boolean): Promise<void> => {
    const deadline = performance.now() + 20_000
    while (!condition()) {
      if (performance.now() > deadline) {
        throw new Error(JSON.stringify({ changes, errors }))
      }
      await sleep(10)
    }
  }
  return { changes, errors, held, until, leave }
}

const namespaces = ({ held }: Followed): string => [...held.values()].toSorted().join()

const pods =
  'subscription { pods { reset changes { type removal objectId previous object { metadata { name namespace } } } } }'

it('a subscription loses what it may no longer see, and gains what it may', async () => {
  const carol = caller('carol')
  await world.allow('one', 'carol', 'carol', [reads('', 'pods')])
  await world.allow('two', 'carol', 'carol', [reads('', 'pods')])
  const followed = follow(carol, pods)
  await followed.until(() => namespaces(followed) === 'one,two')
  followed.changes.length = 0
  await world.remove(`${rbac}/namespaces/two/rolebindings/carol`)
  await followed.until(() => namespaces(followed) === 'one')
  expect(followed.changes).toMatchObject([
    { type: 'ADDED', object: { metadata: { namespace: 'one' } } },
  ])
  followed.changes.length = 0
  await world.make(`${rbac}/namespaces/two/rolebindings`, {
    metadata: { name: 'again' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'carol' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'carol' }],
  })
  await followed.until(() => namespaces(followed) === 'one,two')
  expect(followed.errors).toEqual([])
  followed.leave()
})

it('a subscription of which nothing is left ends with FORBIDDEN', async () => {
  const dave = caller('dave')
  await world.allow('one', 'dave', 'dave', [reads('', 'pods')])
  const followed = follow(dave, pods)
  await followed.until(() => namespaces(followed) === 'one')
  await world.remove(`${rbac}/namespaces/one/roles/dave`)
  await followed.until(() => followed.errors.length > 0)
  expect(followed.errors[0]).toMatchObject({ extensions: { code: 'FORBIDDEN', type: 'Pod' } })
})

it('rows that show the kinds of a cluster show each subscriber those that they may list', async () => {
  await world.allow('one', 'xena', 'xena', [reads('', 'pods', 'configmaps')])
  await world.allow('one', 'yuri', 'yuri', [reads('', 'pods')])
  const query =
    'subscription { pods(namespace: "one") { reset changes { type objectId object { metadata { name namespace } cluster { resources { type } } } } } }'
  const shown = async (name: string): Promise<unknown> => {
    // Frames tell what is known of permissions: the server reviews them here.
    await served.query(caller(name), '{ gatewayClusters { resources { type } } }')
    const followed = follow(caller(name), query)
    await followed.until(() => followed.changes.length > 0)
    followed.leave()
    return followed.changes[0]?.object?.cluster.resources.map(({ type }: Fields) => type).toSorted()
  }
  // Both may see the same pods, and would share a group but for the kinds.
  expect(await Promise.all([shown('xena'), shown('yuri')])).toEqual([['ConfigMap', 'Pod'], ['Pod']])
})

it('a subscription to what caches hold counts what its subscriber may list, and loses it with the right', async () => {
  await world.allow('one', 'zoe', 'zoe', [reads('', 'pods', 'configmaps')])
  await world.allow('two', 'zoe', 'zoe', [reads('', 'pods')])
  await served.query(caller('zoe'), '{ pods { totalCount } configMaps { totalCount } }')
  const frames: string[] = []
  const leave = served.connect(caller('zoe')).subscribe(
    {
      query: `subscription { gatewayClusters(coalesceMs: 10, resourcesEveryMs: 500) {
        resources(loaded: true) { type objects facets(by: ["namespace"]) { values { value count } } }
      } }`,
    },
    {
      next: ({ data }) =>
        frames.push(
          (data as Fields).gatewayClusters[0].resources
            .flatMap(({ type, facets }: Fields) =>
              facets[0].values.map(({ value, count }: Fields) => `${type} ${value} ${count}`),
            )
            .toSorted()
            .join(),
        ),
      error: (error) => frames.push(String(error)),
      complete: () => {},
    },
  )
  const last = (): string | undefined => frames.at(-1)
  await expect.poll(last).toBe('ConfigMap one 1,Pod one 1,Pod two 1')
  await world.remove(`${rbac}/namespaces/two/rolebindings/zoe`)
  await expect.poll(last).toBe('ConfigMap one 1,Pod one 1')
  await world.remove(`${rbac}/namespaces/one/rolebindings/zoe`)
  await expect.poll(last).toBe('')
  leave()
})

it('a subscription needs list and watch', async () => {
  const erin = caller('erin')
  const rule = { apiGroups: [''], resources: ['pods'] }
  await world.allow('one', 'erin', 'erin', [{ ...rule, verbs: ['list', 'get'] }])
  const followed = follow(erin, pods)
  await followed.until(() => followed.errors.length > 0)
  expect(followed.errors[0]).toMatchObject({ extensions: { code: 'FORBIDDEN', type: 'Pod' } })
  const listed = await served.query(erin, '{ pods { totalCount } }')
  expect(listed.data.pods.totalCount).toBe(1)
})

it('and list and watch of what it is filtered by', async () => {
  const who = caller('gina')
  const pod = { apiGroups: [''], resources: ['pods'] }
  const role = [reads('apps', 'replicasets'), { ...pod, verbs: ['list', 'get'] }]
  await world.allow('one', who.username, who.username, role)
  const where = '(namespace: "one", where: { pods: { some: {} } })'
  const frames = `{ reset changes { type objectId object { metadata { namespace } } } }`
  const followed = follow(who, `subscription { replicaSets${where} ${frames} }`)
  await followed.until(() => followed.errors.length > 0)
  expect(followed.errors[0]).toMatchObject({
    extensions: { code: 'FORBIDDEN', type: 'Pod', argument: 'where.pods.some' },
  })
  const listed = await served.query(who, `{ replicaSets${where} { totalCount } }`)
  expect(listed.data.replicaSets.totalCount).toBe(1)
  await world.patch(`${rbac}/namespaces/one/roles/${who.username}`, {
    rules: [reads('apps', 'replicasets'), reads('', 'pods')],
  })
  const again = follow(who, `subscription { replicaSets${where} ${frames} }`)
  await again.until(() => again.changes.length > 0)
  expect(again.errors).toEqual([])
})

it.each([
  ['frank', ''],
  // Has rows of its own.
  ['fred', 'can(verb: "get")'],
])(
  'what a frame says of other objects holds to what may be seen when it is sent: %s %s',
  async (name, more) => {
    const frank = caller(name)
    await world.allow('one', name, name, [reads('', 'pods'), reads('apps', 'replicasets')])
    const followed = follow(
      frank,
      `subscription { pods { reset changes { type objectId object { metadata { namespace } owners { metadata { name } } ${more} } } } }`,
    )
    await followed.until(() => followed.changes.length > 0)
    expect(followed.changes[0].object.owners).toEqual([{ metadata: { name: 'shop-1' } }])
    await world.patch(`${rbac}/namespaces/one/roles/${name}`, { rules: [reads('', 'pods')] })
    const pod = '/api/v1/namespaces/one/pods/shop-1-x'
    let touch = 0
    const deadline = performance.now() + 20_000
    while (followed.changes.at(-1).object.owners.length > 0 && performance.now() < deadline) {
      await world.patch(pod, { metadata: { annotations: { touch: String((touch += 1)) } } })
      await sleep(50)
    }
    expect(followed.changes.at(-1).object.owners).toEqual([])
    followed.leave()
  },
)

it('viewers who may watch the same but list more by relations share no rows', async () => {
  const [wide, narrow] = [caller('wanda'), caller('nora')]
  const pod = { apiGroups: [''], resources: ['pods'] }
  const nodes = reads('', 'nodes')
  await world.allowEverywhere('wanda', 'wanda', [{ ...pod, verbs: ['list', 'get'] }, nodes])
  await world.allow('one', 'wanda-one', 'wanda', [reads('', 'pods')])
  await world.allowEverywhere('nora', 'nora', [nodes])
  await world.allow('one', 'nora-one', 'nora', [reads('', 'pods')])
  const query =
    'subscription { pods { reset synced changes { type objectId object { metadata { namespace } node { pods { nodes { metadata { namespace } } } } } } } }'
  const seenBy = (followed: Followed): string[] =>
    followed.changes.flatMap(({ object }) =>
      object.node.pods.nodes.map((one: Fields) => one.metadata.namespace),
    )
  const first = follow(wide, query)
  await first.until(() => first.changes.length > 0)
  expect(seenBy(first).toSorted()).toEqual(['one', 'two'])
  const second = follow(narrow, query)
  await second.until(() => second.changes.length > 0)
  expect(seenBy(second)).toEqual(['one'])
  for (const one of [first, second]) one.leave()
})

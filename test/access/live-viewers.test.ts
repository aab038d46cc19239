import type { Client } from 'graphql-ws'
import type { OperationReport } from 'informerql'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { caller, type Caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { resume, type Resumed } from '../gateway/resumed-subscription.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type CountedServer, startCountedServer } from './counted-server.ts'
import { hasHeard } from './followed-rbac.ts'
import { gets, reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const reviews = '/subjectaccessreviews'
const podOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods/shop-1-x`

let world: SmallWorld
let counted: CountedServer
let served: ViewedGateway
let users = 0

beforeAll(async () => {
  world = await startSmallWorld(async (url) => {
    counted = await startCountedServer(url)
    return counted.url
  })
})
afterAll(async () => {
  await counted[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})
beforeEach(async () => {
  served = await serveViewers({ clusters: [world.selection] })
})
afterEach(async () => served[Symbol.asyncDispose]())

/** Somebody new, who may read something in namespaces. */
const reader = async (namespaces: readonly string[], rules: readonly Fields[]): Promise<Caller> => {
  const who = caller(`user-${(users += 1)}`)
  for (const namespace of namespaces) {
    await world.allow(namespace, who.username, who.username, rules)
  }
  return who
}
const pods = [reads('', 'pods')]
const selection = 'metadata { namespace annotation(key: "touched") }'
const follow = (who: Caller, chosen = selection, from?: Resumed['seen'][number]): Resumed =>
  resume(served.connect(who), { field: 'pods(coalesceMs: 10', selection: chosen }, from)
/** The same over as many WebSockets as one may have. */
const manyOf = (who: Caller, count: number): readonly Resumed[] => {
  const clients = Array.from({ length: 20 }, () => served.connect(who))
  return Array.from({ length: count }, (_, at) =>
    resume(clients[at % clients.length] as Client, { field: 'pods(coalesceMs: 10', selection }),
  )
}
const state = () => served.gateway.planned.liveState()
const rowsOf = (held: ReadonlyMap<string, Fields>): readonly Fields[] => [...held.values()]
const places = (held: ReadonlyMap<string, Fields>): string =>
  rowsOf(held)
    .map(({ metadata }): string => metadata.namespace)
    .toSorted()
    .join()
const touch = async (namespace: string, touched: string): Promise<void> => {
  await world.patch(podOf(namespace), { metadata: { annotations: { touched } } })
}
const lastOf = ({ seen }: Resumed): Resumed['seen'][number] =>
  seen.at(-1) as Resumed['seen'][number]
/** How often it has begun anew, the first time included. */
const resets = ({ seen }: Resumed): number => seen.filter(({ frame }) => frame.reset).length
const changesOf = ({ seen }: Resumed, from: number): readonly Fields[] =>
  seen.slice(from).flatMap(({ frame }) => frame.changes)

describe('Subscribers who are asked who they are', () => {
  it('share one group with whoever sees the same, and none with whoever sees something else', async () => {
    const [ann, ben] = [await reader(['one'], pods), await reader(['one'], pods)]
    const both = await reader(['one', 'two'], pods)
    const live = [ann, ben, ann, both].map((who) => follow(who))
    for (const one of live) await one.until((held) => held.size > 0)
    expect(state()).toMatchObject({ groups: 2, members: 4 })
    expect(live.map(({ held }) => places(held()))).toEqual(['one', 'one', 'one', 'one,two'])
    await touch('two', 'unseen')
    await touch('one', 'seen')
    for (const one of live) {
      await one.until((held) => rowsOf(held).some(({ metadata }) => metadata.annotation === 'seen'))
    }
    const told = live.slice(0, 3).flatMap((one) => changesOf(one, 0))
    expect(new Set(told.map(({ object }) => object.metadata.namespace))).toEqual(new Set(['one']))
    for (const one of live) one.leave()
    await expect.poll(state).toMatchObject({ groups: 0, members: 0 })
  })

  it('begin anew in the group of those who see what they come to see, and are told no more than that', async () => {
    const [ann, ben] = [await reader(['one', 'two'], pods), await reader(['one', 'two'], pods)]
    const [live, other] = [follow(ann), follow(ben)]
    await live.until((held) => held.size === 2)
    await other.until((held) => held.size === 2)
    expect(state()).toMatchObject({ groups: 1, members: 2 })
    const frames = live.seen.length
    const binding = `${rbac}/namespaces/two/rolebindings/${ann.username}`
    await world.remove(binding)
    await live.until((held) => held.size === 1)
    expect(live.seen.slice(frames).map(({ frame }) => frame)).toMatchObject([
      { reset: true, synced: true, changes: [{ object: { metadata: { namespace: 'one' } } }] },
    ])
    expect(state()).toMatchObject({ groups: 2, members: 2 })
    await touch('two', 'after')
    await other.until((held) =>
      rowsOf(held).some(({ metadata }) => metadata.annotation === 'after'),
    )
    await touch('one', 'after')
    await live.until((held) => rowsOf(held)[0]?.metadata.annotation === 'after')
    expect(changesOf(live, frames + 1)).toMatchObject([
      { type: 'MODIFIED', object: { metadata: { namespace: 'one' } } },
    ])
    await world.make(`${rbac}/namespaces/two/rolebindings`, {
      metadata: { name: `${ann.username}-again` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: ann.username },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: ann.username }],
    })
    await live.until((held) => held.size === 2)
    expect(live.seen[frames + 2]?.frame.reset).toBe(true)
    expect(rowsOf(live.held()).map(({ metadata }) => metadata.annotation)).toEqual([
      'after',
      'after',
    ])
    await expect.poll(state).toMatchObject({ groups: 1, members: 2 })
    expect(live.seen.filter(({ frame }) => frame.reset)).toHaveLength(3)
    expect(other.seen.filter(({ frame }) => frame.reset)).toHaveLength(1)
  })

  it('go on where they stood, also at another gateway, unless they see something else', async () => {
    const [ann, ben] = [await reader(['one'], pods), await reader(['one'], pods)]
    const both = await reader(['one', 'two'], pods)
    const live = follow(ann)
    await live.until((held) => held.size === 1)
    const from = lastOf(live)
    live.leave()
    await touch('one', 'missed')
    await touch('two', 'hidden')
    // Who sees the same may go on from there, too.
    for (const who of [ann, ben]) {
      const resumed = follow(who, selection, from)
      await resumed.until(() => resumed.seen.length > 0)
      expect(resumed.seen[0]?.frame).toMatchObject({
        reset: false,
        changes: [{ type: 'MODIFIED', object: { metadata: { annotation: 'missed' } } }],
      })
      expect(resumed.seen[0]?.frame.changes).toHaveLength(1)
    }
    const more = follow(both, selection, from)
    await more.until((held) => held.size === 2)
    expect(more.seen[0]?.frame.reset).toBe(true)
    expect(state()).toMatchObject({ resumed: 2, notResumed: 1 })
    await using next = await serveViewers({ clusters: [world.selection] })
    const field = { field: 'pods(coalesceMs: 10', selection }
    const later = resume(next.connect(ann), field, from)
    await later.until(() => later.seen.length > 0)
    expect(later.seen[0]?.frame.reset).toBe(false)
    expect(next.gateway.planned.liveState()).toMatchObject({ resumed: 1, notResumed: 0 })
  })

  it('hear of the objects that theirs lead to, as far as they may see those', async () => {
    const related = `${selection} node { metadata { annotation(key: "touched") } } services { nodes { metadata { name annotation(key: "touched") } } } namespaceObject { metadata { name } }`
    const few = await reader(['one'], [reads('', 'pods', 'services')])
    const some = await reader(['one'], [reads('', 'pods', 'services', 'namespaces')])
    const many = await reader(['one'], [reads('', 'pods', 'services')])
    await world.allowEverywhere(many.username, many.username, [reads('', 'nodes')])
    const live = [few, some, many].map((who) => follow(who, related))
    for (const one of live) await one.until((held) => held.size === 1)
    expect(state()).toMatchObject({ groups: 3, members: 3 })
    const rows = () => live.map(({ held }) => rowsOf(held())[0])
    expect(rows().map((row) => row?.node === null)).toEqual([true, true, false])
    expect(rows().map((row) => row?.namespaceObject === null)).toEqual([true, false, true])
    await world.patch('/api/v1/namespaces/one/services/shop', {
      metadata: { annotations: { touched: 'service' } },
    })
    for (const one of live) {
      await one.until(
        (held) => rowsOf(held)[0]?.services.nodes[0].metadata.annotation === 'service',
      )
    }
    await world.patch('/api/v1/nodes/worker', { metadata: { annotations: { touched: 'node' } } })
    await live[2]?.until((held) => rowsOf(held)[0]?.node.metadata.annotation === 'node')
    // What may not be seen any more goes from the rows that led to it.
    await world.remove(`${rbac}/clusterrolebindings/${many.username}`)
    await live[2]?.until((held) => rowsOf(held)[0]?.node === null)
    await expect.poll(state).toMatchObject({ groups: 2, members: 3 })
    expect(live.map(resets)).toEqual([1, 1, 2])
  })

  it('hear of the owners of theirs, as far as they may see those, and of none any more where that ends', async () => {
    const related = `${selection} owners { metadata { name annotation(key: "touched") } } rootOwner { kind object { metadata { name } } }`
    const few = await reader(['one'], pods)
    const some = await reader(['one'], [...pods, reads('apps', 'replicasets')])
    const live = [few, some].map((who) => follow(who, related))
    for (const one of live) await one.until((held) => held.size === 1)
    expect(state()).toMatchObject({ groups: 2, members: 2 })
    expect(live.map(({ held }) => rowsOf(held())[0])).toMatchObject([
      { owners: [], rootOwner: { kind: 'ReplicaSet', object: null } },
      {
        owners: [{ metadata: { name: 'shop-1' } }],
        rootOwner: { kind: 'Deployment', object: null },
      },
    ])
    const frames = live.map(({ seen }) => seen.length)
    await world.patch('/apis/apps/v1/namespaces/one/replicasets/shop-1', {
      metadata: { annotations: { touched: 'owner' } },
    })
    const [without, lost] = live as [Resumed, Resumed]
    await lost.until((held) => rowsOf(held)[0]?.owners[0].metadata.annotation === 'owner')
    await world.patch(`${rbac}/namespaces/one/roles/${some.username}`, { rules: pods })
    await lost.until((held) => rowsOf(held)[0]?.owners.length === 0)
    expect(rowsOf(lost.held())[0]?.rootOwner).toEqual({ kind: 'ReplicaSet', object: null })
    expect(changesOf(lost, frames[1] ?? 0).map(({ type }) => type)).toEqual(['MODIFIED', 'ADDED'])
    // Who could not see it has heard nothing of it.
    await touch('one', 'later')
    await without.until((held) => rowsOf(held)[0]?.metadata.annotation === 'later')
    expect(changesOf(without, frames[0] ?? 0)).toHaveLength(1)
    expect(state()).toMatchObject({ members: 2 })
    for (const one of live) one.leave()
  })

  it('are shown a related object that they may look at by nothing but its name', async () => {
    const related = `${selection} node { metadata { name } }`
    const named = await reader(['one'], pods)
    await world.allowEverywhere(named.username, named.username, [gets('nodes', 'worker')])
    const other = await reader(['one'], pods)
    const [live, without] = [follow(named, related), follow(other, related)]
    await live.until((held) => rowsOf(held)[0]?.node?.metadata.name === 'worker')
    await without.until((held) => held.size === 1)
    expect(rowsOf(without.held())[0]?.node).toBeNull()
  })

  it('end with FORBIDDEN where nothing is left to be seen, and whoever observes is told so', async () => {
    const ended: (readonly string[])[] = []
    const audit = {
      answered: () => {},
      ended: ({ viewer, codes }: OperationReport) =>
        void ended.push([viewer?.username ?? '', ...codes]),
    }
    await using observed = await serveViewers({ clusters: [world.selection], audit })
    const ann = await reader(['one'], pods)
    const live = resume(observed.connect(ann), { field: 'pods(coalesceMs: 10', selection })
    await live.until((held) => held.size === 1)
    await world.remove(`${rbac}/namespaces/one/rolebindings/${ann.username}`)
    await expect(live.until((held) => held.size === 0)).rejects.toThrow(/FORBIDDEN/)
    await expect.poll(() => ended).toEqual([[ann.username, 'FORBIDDEN']])
  })

  it('are asked about once, however many subscriptions they have, and not for each frame', async () => {
    await served[Symbol.asyncDispose]()
    // Nothing is asked again for being old.
    const access = { allowMs: 600_000, denyMs: 600_000 }
    served = await serveViewers({ clusters: [world.selection], access })
    const [ann, ben] = [await reader(['one', 'two'], pods), await reader(['one', 'two'], pods)]
    const first = follow(ann)
    await first.until((held) => held.size === 2)
    // What has changed a moment ago is asked for again, by whoever comes next after that: these are the last changes.
    const name = 'heard-of-last'
    const place = `${rbac}/namespaces/one`
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
    const role = await world.make(`${place}/roles`, { metadata: { name }, rules: [] })
    const binding = await world.make(`${place}/rolebindings`, { metadata: { name }, roleRef })
    const heard = Object.entries({ roles: role, rolebindings: binding }).map(
      ([resource, { metadata }]): [string, string] => [
        `${resource}.rbac.authorization.k8s.io`,
        metadata.resourceVersion,
      ],
    )
    await hasHeard(served, new Map(heard))
    const next = follow(ann)
    await next.until((held) => held.size === 2)
    let before: number
    do {
      before = counted.count(reviews)
      await served.query(ann, '{ pods { totalCount } }')
    } while (counted.count(reviews) > before)
    const others = manyOf(ann, 100)
    for (const one of others) await one.until((held) => held.size === 2)
    for (const round of ['1', '2', '3', '4', '5']) {
      await touch('one', round)
      await first.until((held) =>
        rowsOf(held).some(({ metadata }) => metadata.annotation === round),
      )
    }
    expect(state()).toMatchObject({ groups: 1, members: 102 })
    expect(counted.count(reviews) - before).toBe(0)
    // All at once, nothing being known.
    const asked = counted.count(reviews)
    const cold = manyOf(ben, 1_000)
    for (const one of cold) await one.until((held) => held.size === 2)
    // List and watch: of all namespaces, and of each.
    expect(counted.count(reviews) - asked).toBeLessThanOrEqual(6)
    for (const one of [first, next, ...others, ...cold]) one.leave()
  })

  it('are sent what they have not read yet when what they follow is followed no more', async () => {
    const ann = await reader(['one'], pods)
    const query = `subscription { frame: pods(coalesceMs: 0) { changes { object { ${selection} } } } }`
    const subscribed = async () => served.gateway.planned.subscribe({ query }, { viewer: ann })
    const [stream, other] = [await subscribed(), await subscribed()]
    expect(String(stream?.take())).toContain('"namespace":"one"')
    await touch('one', 'last')
    // They are one group: what one has been given is there for the other.
    await expect.poll(() => String(other?.take())).toContain('last')
    other?.close()
    await served[Symbol.asyncDispose]()
    await expect.poll(() => stream?.end).toEqual({ form: 'complete' })
    expect(String(stream?.take())).toContain('last')
    expect(stream?.take()).toBeUndefined()
    stream?.close()
  })

  it('go on where a kind that they come to see cannot be read', async () => {
    await using slow = await serveViewers({
      clusters: [world.selection],
      limits: { syncDeadlineMs: 500 },
    })
    const who = await reader(['one'], pods)
    const chosen = `${selection} node { metadata { name } }`
    // On a busy machine the first load takes longer than it is waited for.
    await expect.poll(() => slow.query(who, '{ pods { totalCount } }')).not.toHaveProperty('errors')
    const live = resume(slow.connect(who), { field: 'pods(coalesceMs: 10', selection: chosen })
    await live.until((held) => held.size === 1)
    const frames = live.seen.length
    counted.hold('/api/v1/nodes')
    await world.allowEverywhere(who.username, who.username, [reads('', 'nodes')])
    await live.until(() => live.seen.length > frames)
    await touch('one', 'later')
    await live.until((held) => rowsOf(held)[0]?.metadata.annotation === 'later')
    expect(live.seen[frames]?.frame).toMatchObject({ reset: true })
    live.leave()
  })
})

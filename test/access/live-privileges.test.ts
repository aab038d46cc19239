import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resume, type Resumed } from '../gateway/resumed-subscription.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { caller, type Caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { gets, reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const core = '/api/v1/namespaces/one'

let world: SmallWorld
let served: ViewedGateway
let users = 0

beforeEach(async () => {
  world = await startSmallWorld()
  served = await serveViewers({ clusters: [world.selection] })
})
afterEach(async () => {
  await served[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** Somebody new, who may do something in namespace `one`. */
const member = async (rules: readonly Fields[]): Promise<Caller> => {
  const who = caller(`member-${(users += 1)}`)
  await world.allow('one', who.username, who.username, rules)
  return who
}
const rule = (verb: string, resource: string, ...resourceNames: string[]): Fields => ({
  apiGroups: [''],
  resources: [resource],
  verbs: [verb],
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
})
const pods = reads('', 'pods')
const own = 'metadata { name annotation(key: "touched") }'
const asked = (selection: string) => ({ field: 'pods(coalesceMs: 10', selection })
const state = () => served.gateway.planned.liveState()
const row = ({ held }: Resumed, name = 'shop-1-x'): Fields =>
  [...held().values()].find(({ metadata }) => metadata.name === name)
const opened = async (
  selection: string,
  who: readonly Caller[],
  from?: Resumed['seen'][number],
): Promise<readonly Resumed[]> => {
  const live = who.map((one) => resume(served.connect(one), asked(selection), from))
  for (const one of live) await one.until((held) => held.size > 0)
  return live
}
/** Leaves, and goes on from there without a reset. */
const goesOn = async (selection: string, who: Caller, live: Resumed): Promise<void> => {
  const from = live.seen.at(-1)
  live.leave()
  const [again] = await opened(selection, [who], from)
  expect(again?.seen[0]?.frame).toMatchObject({ reset: false })
  again?.leave()
}
/**
 * The changes since then. A rule about a subscriber whom a frame waits for begins anew: the gateway may hear only now of the
 * rule that let the subscriber in. What such a reset repeats is no change.
 */
const changesSince = ({ seen }: Resumed, frames: number): readonly Fields[] => {
  const told = new Map<string, string>()
  return seen.flatMap(({ frame }, at) => {
    const news = frame.changes.filter(({ object }: Fields) => {
      const isNew = !frame.reset || told.get(object.id) !== JSON.stringify(object)
      told.set(object.id, JSON.stringify(object))
      return isNew
    })
    return at < frames ? [] : news
  })
}
const touch = async (path: string, touched: string): Promise<Fields> =>
  world.patch(path, { metadata: { annotations: { touched } } })
const podOf = (name: string): Fields => ({
  metadata: { name },
  spec: { nodeName: 'worker', containers: [{ name: 'main', image: 'shop:1' }] },
})

describe('Subscribers who may look at related objects by their names', () => {
  const selection = `${own} node { metadata { name annotation(key: "touched") } }`

  it('have rows of their own, which nobody else is sent, and the others share', async () => {
    const [ann, ben, cleo] = [await member([pods]), await member([pods]), await member([pods])]
    const dora = await member([pods])
    for (const { username } of [ann, ben]) {
      await world.allowEverywhere(username, username, [gets('nodes', 'worker')])
    }
    const live = await opened(selection, [ann, ben, cleo, dora])
    const [one, other, without] = live as [Resumed, Resumed, Resumed]
    for (const each of [one, other]) {
      await each.until(() => row(each).node?.metadata.name === 'worker')
    }
    expect(row(without).node).toBeNull()
    await expect.poll(state).toMatchObject({ groups: 3, members: 4 })
    const frames = without.seen.length
    await touch('/api/v1/nodes/worker', 'seen')
    for (const each of [one, other]) {
      await each.until(() => row(each).node.metadata.annotation === 'seen')
    }
    await world.remove(`${rbac}/clusterrolebindings/${ann.username}`)
    await one.until(() => row(one).node === null)
    expect(row(other).node.metadata.annotation).toBe('seen')
    await touch(`${core}/pods/shop-1-x`, 'later')
    for (const each of live) {
      await each.until(() => row(each).metadata.annotation === 'later')
    }
    expect(changesSince(without, frames)).toHaveLength(1)
    await goesOn(selection, ben, other)
    for (const each of live) each.leave()
  })

  it('are a group also where there is only one of them', async () => {
    const ann = await member([pods])
    await world.allowEverywhere(ann.username, ann.username, [gets('nodes', 'worker')])
    const [live] = (await opened(selection, [ann])) as [Resumed]
    await live.until(() => row(live).node?.metadata.name === 'worker')
    await expect.poll(state).toMatchObject({ groups: 1, members: 1 })
    live.leave()
  })

  it('come to see what a rule names that is made while they are subscribed', async () => {
    const ann = await member([pods])
    const [live] = (await opened(selection, [ann])) as [Resumed]
    expect(row(live).node).toBeNull()
    await world.allowEverywhere(ann.username, ann.username, [gets('nodes', 'worker')])
    await live.until(() => row(live).node?.metadata.name === 'worker')
    live.leave()
  })
})

describe('Subscribers who ask what they may do', () => {
  const selection = `${own} may: can(verb: "delete") get: can(verb: "get") log: can(verb: "get", subresource: "log")`

  it('have rows of their own, and hear of it when they may do something else', async () => {
    const remove = rule('delete', 'pods')
    const [ann, ben] = [await member([pods, remove]), await member([pods, remove])]
    const cleo = await member([pods])
    const live = await opened(selection, [ann, ben, cleo])
    const [one, other, without] = live as [Resumed, Resumed, Resumed]
    expect(live.map((each) => row(each))).toMatchObject([
      { may: true, get: true, log: false },
      { may: true, get: true, log: false },
      { may: false, get: true, log: false },
    ])
    expect(state()).toMatchObject({ groups: 3, members: 3 })
    const frames = one.seen.length
    await world.make(`${core}/pods`, podOf('new'))
    for (const each of live) await each.until((held) => held.size === 2)
    expect(live.map((each) => row(each, 'new').may)).toEqual([true, true, false])
    expect(changesSince(one, frames)).toMatchObject([{ type: 'ADDED', object: { may: true } }])
    await world.patch(`${rbac}/namespaces/one/roles/${ann.username}`, { rules: [pods] })
    await one.until((held) => [...held.values()].every(({ may }) => may === false))
    expect(changesSince(one, frames + 1)).toMatchObject([
      { object: { may: false } },
      { object: { may: false } },
    ])
    await world.patch(`${rbac}/namespaces/one/roles/${cleo.username}`, { rules: [pods, remove] })
    await without.until((held) => [...held.values()].every(({ may }) => may === true))
    expect(row(other).may).toBe(true)
    await goesOn(selection, ben, other)
    for (const each of [one, without]) each.leave()
  })

  it('are told of single objects what a rule names', async () => {
    await world.make(`${core}/pods`, podOf('mine'))
    const ann = await member([pods, rule('delete', 'pods', 'mine')])
    const ben = await member([pods])
    const live = await opened(selection, [ann, ben])
    const mayIn = (each: Resumed) => [row(each).may, row(each, 'mine').may]
    await live[0]?.until(() => live[0] !== undefined && mayIn(live[0])[1] === true)
    expect(live.map(mayIn)).toEqual([
      [false, true],
      [false, false],
    ])
    await expect.poll(state).toMatchObject({ groups: 2, members: 2 })
    for (const each of live) each.leave()
  })

  it('come to see what a rule names that is made while they are subscribed', async () => {
    const ann = await member([pods])
    const chosen = `${selection} node { metadata { name } }`
    const [live] = (await opened(chosen, [ann])) as [Resumed]
    expect(row(live).node).toBeNull()
    await world.allowEverywhere(ann.username, ann.username, [gets('nodes', 'worker')])
    await live.until(() => row(live).node?.metadata.name === 'worker')
    await expect.poll(state).toMatchObject({ groups: 1, members: 1 })
    live.leave()
  })
})

describe('Subscribers to what objects own', () => {
  it('are shown of it what they may list', async () => {
    const workloads = [reads('apps', 'deployments', 'replicasets')]
    const all = await member([...workloads, reads('', 'configmaps')])
    const some = await member(workloads)
    const { data } = await served.query(
      all,
      '{ deployments(namespace: "one") { nodes { metadata { name uid } } } configMaps(namespace: "one") { totalCount } }',
    )
    const metadata = data?.['deployments'].nodes[0].metadata
    await world.make(`${core}/configmaps`, {
      metadata: {
        name: 'owned',
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', ...metadata }],
      },
      data: { secret: 'unseen' },
    })
    const chosen = 'owned { types nodes { kind ... on ConfigMap { data } } }'
    const field = { field: 'deployments(namespace: "one", coalesceMs: 10', selection: chosen }
    const [one, other] = [resume(served.connect(all), field), resume(served.connect(some), field)]
    const kindsIn = ({ held }: Resumed): readonly string[] =>
      [...held().values()][0]?.owned.nodes.map(({ kind }: Fields) => kind)
    await one.until(() => kindsIn(one).includes('ConfigMap'))
    await other.until(() => kindsIn(other).includes('ReplicaSet'))
    await expect.poll(state).toMatchObject({ groups: 2, members: 2 })
    await world.patch(`${core}/configmaps/owned`, { data: { secret: 'changed' } })
    await one.until(() => JSON.stringify([...one.held().values()]).includes('changed'))
    await world.remove(`${rbac}/namespaces/one/rolebindings/${all.username}`)
    await expect(one.until(() => false)).rejects.toThrow('FORBIDDEN')
    expect(JSON.stringify(other.seen)).not.toContain('ConfigMap')
    other.leave()
  })
})

import type { GatewayOptions } from 'informerql'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { created, sent } from './created.ts'
import { type Held, type HeldBehind, resume, type Resumed } from './resumed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const pods = '/api/v1/namespaces/default/pods'
const pod = (name: string, tier = 'x'): object => ({
  metadata: { name, labels: { tier } },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }] },
})
const asked = {
  field: 'pods(labelSelector: "tier=x", coalesceMs: 0',
  selection: 'metadata { name uid labels } node { spec { unschedulable } }',
}

/** Changes whose type is not true for who holds this: what is held is not ADDED, and nothing else is MODIFIED or REMOVED. */
const untrue = (stood: HeldBehind, live: Resumed): readonly string[] => {
  const held = new Set(stood.held.keys())
  return live.seen
    .flatMap(({ frame }) => frame.changes as Fields[])
    .flatMap(({ type, objectId }): string[] => {
      const isTrue = (type === 'ADDED') !== held.has(objectId)
      if (type === 'REMOVED') held.delete(objectId)
      else held.add(objectId)
      return isTrue ? [] : [`${type} ${objectId}`]
    })
}

const nameIn = (held: Held, name: string): boolean =>
  [...held.values()].some(({ metadata }) => metadata.name === name)
const inOrder = (held: Held): readonly Fields[] =>
  [...held.values()].toSorted((a, b) => (a.metadata.uid < b.metadata.uid ? -1 : 1))

describe('a subscription that comes back', () => {
  let cluster: Simulator
  let gateway: ServedGateway
  const serve = async (cache: GatewayOptions['cache'] = {}): Promise<ServedGateway> =>
    serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      limits: { maxFrameObjects: 3 },
      cache,
    })

  beforeEach(async () => {
    cluster = await startSimulator()
    gateway = await serve()
    await created(cluster, '/api/v1/nodes', { metadata: { name: 'node-1' } })
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await created(cluster, pods, pod(name))
    }
  })
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const begin = async (): Promise<HeldBehind> => {
    const live = resume(gateway.connect(), asked)
    await live.until(({ size }) => size === 5)
    live.leave()
    const last = live.seen.at(-1)
    if (last === undefined) throw new Error('no frame')
    return last
  }
  const labelled = async (name: string, tier: string): Promise<Fields> =>
    sent(cluster, 'PATCH', `${pods}/${name}`, { metadata: { labels: { tier } } })
  const removed = async (name: string): Promise<Fields> =>
    sent(cluster, 'DELETE', `${pods}/${name}?gracePeriodSeconds=0`)

  /** One of each kind of change. */
  const change = async (): Promise<void> => {
    await sent(cluster, 'PATCH', `${pods}/a`, { metadata: { labels: { more: '1' } } })
    await removed('b')
    await labelled('c', 'y')
    await removed('d')
    await created(cluster, pods, pod('d'))
    await created(cluster, pods, pod('f'))
    await created(cluster, pods, pod('unmatched', 'y'))
    await removed('unmatched')
    await sent(cluster, 'PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: true } })
    await created(cluster, pods, pod('last'))
  }

  const fresh = async (): Promise<readonly Fields[]> => {
    const live = resume(gateway.connect(), asked)
    await live.until((held) => nameIn(held, 'last'))
    live.leave()
    return inOrder(live.held())
  }
  const isWhole = (held: Held): boolean => nameIn(held, 'last')
  const expectSame = async (live: Resumed, isReset: boolean): Promise<void> => {
    await live.until(isWhole)
    expect(inOrder(live.held())).toEqual(await fresh())
    expect(live.seen.map(({ frame }) => frame.reset).slice(0, 1)).toEqual([isReset])
    live.leave()
  }

  it('is told what it missed, and nothing else', async () => {
    const stood = await begin()
    await change()
    const live = resume(gateway.connect(), asked, stood)
    await expectSame(live, false)
    const changes = live.seen.flatMap(({ frame }) => frame.changes)
    const namesOf = (type: string): readonly string[] =>
      changes
        .filter((one) => one.type === type)
        .map(({ objectId }) => {
          const { metadata } = live.held().get(objectId) ?? stood.held.get(objectId)
          return metadata.name
        })
        .toSorted((a: string, b: string) => (a < b ? -1 : 1))
    expect(namesOf('ADDED')).toEqual(['d', 'f', 'last'])
    expect(namesOf('REMOVED')).toEqual(['b', 'c', 'd'])
    expect(namesOf('MODIFIED')).toEqual(expect.arrayContaining(['a', 'e']))
    expect(live.seen.every(({ frame }) => frame.synced)).toBe(true)
    expect(gateway.gateway.planned.liveState()).toMatchObject({ resumed: 1, notResumed: 0 })
  })

  it('is told that it goes on where it stood, also where it missed nothing', async () => {
    const stood = await begin()
    const live = resume(gateway.connect(), asked, stood)
    await live.until(() => true)
    expect(live.seen[0]?.frame).toMatchObject({ reset: false, synced: true, changes: [] })
    await created(cluster, pods, pod('last'))
    await expectSame(live, false)
  })

  it('goes on at another gateway, and after a restart, as far as the API server remembers', async () => {
    const stood = await begin()
    await gateway[Symbol.asyncDispose]()
    await change()
    gateway = await serve()
    const both = [stood, stood].map((from) => resume(gateway.connect(), asked, from))
    for (const live of both) {
      await expectSame(live, false)
    }
    expect(gateway.gateway.planned.liveState()).toMatchObject({ resumed: 2, notResumed: 0 })
  })

  it.each(['', 'and a restart '])(
    'after it was away %sis told what is another thing than at its position, however often that has changed',
    async (restart) => {
      const stood = await begin()
      await removed('b')
      for (let time = 0; time < 5; time += 1) {
        await removed('d')
        await created(cluster, pods, pod('d'))
        await created(cluster, pods, pod('gone'))
        await removed('gone')
      }
      await created(cluster, pods, pod('new', 'y'))
      await labelled('new', 'x')
      if (restart !== '') {
        await gateway[Symbol.asyncDispose]()
        gateway = await serve()
      }
      await created(cluster, pods, pod('last'))
      const live = resume(gateway.connect(), asked, stood)
      await expectSame(live, false)
      expect(untrue(stood, live)).toEqual([])
      const types = live.seen.flatMap(({ frame }) =>
        (frame.changes as Fields[]).map(({ type }) => type),
      )
      // Those that are new, d among them, and b and the d of before.
      expect(types.filter((type) => type === 'ADDED')).toHaveLength(3)
      expect(types.filter((type) => type === 'REMOVED')).toHaveLength(2)
    },
  )

  it('goes on after a restart although others come with tokens that the API server does not remember', async () => {
    const stood: HeldBehind[] = []
    for (let count = 0; count < 6; count += 1) {
      await created(cluster, pods, pod(`new-${count}`, 'y'))
      if (count === 3) cluster.faults.inject({ fault: { type: 'compact-history' } })
      stood.push(await begin())
    }
    await gateway[Symbol.asyncDispose]()
    await created(cluster, pods, pod('last'))
    gateway = await serve()
    await gateway.data('{ pods { totalCount } nodes { totalCount } }')
    const resets = await Promise.all(
      stood.map(async (from) => {
        const live = resume(gateway.connect(), asked, from)
        await live.until(isWhole)
        return live.seen[0]?.frame.reset
      }),
    )
    expect(resets).toEqual([true, true, true, false, false, false])
  })

  it('goes on although the API server breaks off what it is asked of what was missed', async () => {
    const stood = await begin()
    await gateway[Symbol.asyncDispose]()
    await change()
    gateway = await serve()
    await gateway.data('{ pods { totalCount } nodes { totalCount } }')
    cluster.faults.inject({ match: { verb: 'watch' }, fault: { type: 'disconnect' }, times: 3 })
    await expectSame(resume(gateway.connect(), asked, stood), false)
    expect(gateway.gateway.planned.liveState()).toMatchObject({ resumed: 1, notResumed: 0 })
  })

  it('begins anew where the API server does not remember', async () => {
    const stood = await begin()
    await gateway[Symbol.asyncDispose]()
    await change()
    cluster.faults.inject({ fault: { type: 'compact-history' } })
    gateway = await serve()
    await expectSame(resume(gateway.connect(), asked, stood), true)
    expect(gateway.gateway.planned.liveState()).toMatchObject({ resumed: 0, notResumed: 1 })
  })

  it('begins anew behind a full history, without asking the API server', async () => {
    await gateway[Symbol.asyncDispose]()
    gateway = await serve({ maxRecentChanges: 2 })
    const stood = await begin()
    const live = resume(gateway.connect(), asked)
    for (const name of ['f', 'g', 'last']) {
      await created(cluster, pods, pod(name))
    }
    await live.until(isWhole)
    live.leave()
    const match = { verb: 'watch', resource: 'pods' } as const
    cluster.faults.inject({ match, fault: { type: 'none' } })
    await expectSame(resume(gateway.connect(), asked, stood), true)
    expect(cluster.faults.pending()).toHaveLength(1)
  })

  it('begins anew where what it missed has more bytes than the history may hold', async () => {
    const stood = await begin()
    await gateway[Symbol.asyncDispose]()
    await created(cluster, pods, pod('large'))
    for (const letter of ['a', 'b', 'c']) {
      const annotations = { text: letter.repeat(100_000) }
      await sent(cluster, 'PATCH', `${pods}/large`, { metadata: { annotations } })
    }
    await removed('large')
    await created(cluster, pods, pod('last'))
    gateway = await serve({ maxRecentBytes: 250_000 })
    await gateway.data('{ pods { totalCount } nodes { totalCount } }')
    await expectSame(resume(gateway.connect(), asked, stood), true)
    expect(gateway.gateway.planned.liveState()).toMatchObject({ resumed: 0, notResumed: 1 })
  })

  it('begins anew with the token of another list', async () => {
    const stood = await begin()
    await created(cluster, pods, pod('last'))
    const other = { ...asked, field: 'pods(namespace: "default", coalesceMs: 0' }
    const live = resume(gateway.connect(), other, stood)
    await live.until(isWhole)
    expect(live.seen[0]?.frame.reset).toBe(true)
    live.leave()
  })

  it('is told once of an object that its filter and its selection lead from to the same other one', async () => {
    const filtered = {
      ...asked,
      field:
        'pods(where: { node: { isNot: { labels: [{ key: "more", eq: "2" }] } } }, coalesceMs: 0',
    }
    const live = resume(gateway.connect(), filtered)
    await live.until(({ size }) => size === 5)
    live.leave()
    const labelNode = async (more: string): Promise<Fields> =>
      sent(cluster, 'PATCH', '/api/v1/nodes/node-1', {
        metadata: { labels: { more } },
        spec: { unschedulable: true },
      })
    await labelNode('2')
    await labelNode('1')
    const back = resume(gateway.connect(), filtered, live.seen.at(-1))
    await back.until((held) => [...held.values()].every(({ node }) => node.spec?.unschedulable))
    const told = back.seen.flatMap(({ frame }) => frame.changes as Fields[])
    expect(back.seen[0]?.frame.reset).toBe(false)
    const ids = told.map(({ objectId }) => objectId as string)
    expect(ids.toSorted()).toEqual([...back.held().keys()].toSorted())
    back.leave()
  })

  it('goes on from the page of a query', async () => {
    const { pods: page } = await gateway.data(
      '{ pods(labelSelector: "tier=x") { resumeToken nodes { id metadata { name uid labels } } } }',
    )
    const held = new Map(page.nodes.map((one: Fields) => [one.id, one])) as Held
    await labelled('a', 'y')
    await created(cluster, pods, pod('last'))
    const selection = 'metadata { name uid labels }'
    const live = resume(gateway.connect(), { ...asked, selection }, { frame: page, held })
    await live.until(isWhole)
    expect(live.seen[0]?.frame.reset).toBe(false)
    expect(live.held().size).toBe(5)
    live.leave()
  })

  it(`ends with the same from every position that it was ever told (SEED=${runSeed})`, async () => {
    const random = seededRandom(runSeed)
    const live = resume(gateway.connect(), asked)
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    await live.until(({ size }) => size === 5)
    for (let count = 0; count < 60; count += 1) {
      const name = names[Math.floor(random() * names.length)] ?? 'a'
      const dice = random()
      const write =
        dice < 0.2
          ? created(cluster, pods, pod(name))
          : dice < 0.4
            ? removed(name)
            : labelled(name, dice < 0.8 ? 'x' : 'y')
      await write.catch(() => {})
    }
    await created(cluster, pods, pod('last'))
    await live.until(isWhole)
    live.leave()
    const expected = await fresh()
    for (const from of live.seen) {
      const again = resume(gateway.connect(), asked, from)
      await again.until(isWhole)
      expect(inOrder(again.held())).toEqual(expected)
      expect(again.seen[0]?.frame.reset).toBe(!from.frame.synced)
      again.leave()
    }
  })
})

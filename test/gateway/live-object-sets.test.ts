import { FrameFold, liveCollection, WebSocketClient } from 'informerql/client'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startCutProxy } from '../support/cut-proxy.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { created, sent } from './created.ts'
import { follow, followSynced } from './followed-subscription.ts'
import { resume } from './resumed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const wait = { timeout: 60_000 }
const selection = 'clusterName kind name labels'
const query = `subscription ($ids: [ID!]!, $resumeFrom: String) {
  objects(ids: $ids, resumeFrom: $resumeFrom, coalesceMs: 0) {
    reset synced resumeToken staleSince
    changes { type removal objectId object { id ${selection} } }
  }
}`

/** The objects that are followed: where each is made, by its name. */
const kinds = ['pods', 'configmaps', 'secrets', 'serviceaccounts'] as const
const pathOf = (kind: string): string => `/api/v1/namespaces/default/${kind}`
const bodyOf = (kind: string, name: string): object => ({
  metadata: { name },
  ...(kind === 'pods' ? { spec: { containers: [{ name: 'main', image: 'nginx:1' }] } } : {}),
})

describe('a subscription to objects of several kinds and clusters', () => {
  let clusters: readonly Simulator[]
  let gateway: ServedGateway

  beforeEach(async () => {
    clusters = [await startSimulator(), await startSimulator()]
    gateway = await serveGateway({
      clusters: clusters.map(({ url }, at) => ({ name: `c${at}`, server: url })),
      limits: { maxFrameObjects: 2, maxPathRows: 100 },
    })
  })
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const cluster of clusters) await cluster[Symbol.asyncDispose]()
  })

  const cluster = (at: number): Simulator => {
    const found = clusters[at]
    if (found === undefined) throw new Error(`there is no cluster ${at}`)
    return found
  }
  const idOf = ({ metadata }: Fields, kind: string, at: number): string =>
    Buffer.from(['1', `c${at}`, '', kind, metadata.uid].join('\0')).toString('base64url')
  const kindNames: Readonly<Record<string, string>> = {
    pods: 'Pod',
    configmaps: 'ConfigMap',
    secrets: 'Secret',
    serviceaccounts: 'ServiceAccount',
  }
  const made = async (at: number, kind: string, name: string): Promise<string> =>
    idOf(await created(cluster(at), pathOf(kind), bodyOf(kind, name)), kindNames[kind] ?? '', at)
  const labelled = (at: number, kind: string, name: string, label: string): Promise<Fields> =>
    sent(cluster(at), 'PATCH', `${pathOf(kind)}/${name}`, { metadata: { labels: { label } } })
  const removed = (at: number, kind: string, name: string): Promise<Fields> =>
    sent(cluster(at), 'DELETE', `${pathOf(kind)}/${name}?gracePeriodSeconds=0`)
  const fieldOf = (ids: readonly string[]): string =>
    `objects(ids: ${JSON.stringify(ids)}, coalesceMs: 0`
  const labelsOf = (objects: ReadonlyMap<string, Fields>): Fields =>
    Object.fromEntries([...objects.values()].map(({ name, labels }) => [name, labels?.label]))

  it('brings them in one snapshot, then the changes of each', async () => {
    const ids = [
      await made(0, 'pods', 'a'),
      await made(0, 'configmaps', 'b'),
      await made(1, 'pods', 'c'),
      await made(0, 'pods', 'd'),
      await made(0, 'pods', 'e'),
    ]
    const live = await followSynced(gateway.connect(), `${fieldOf(ids)})`, selection)
    const shown = [...live.fold.objects.values()].map(
      (one) => `${one.clusterName} ${one.kind} ${one.name}`,
    )
    expect(shown.toSorted()).toEqual([
      'c0 ConfigMap b',
      'c0 Pod a',
      'c0 Pod d',
      'c0 Pod e',
      'c1 Pod c',
    ])
    expect(live.frames.map(({ reset, synced }) => [reset, synced])).toEqual([
      [true, false],
      [false, false],
      [false, true],
    ])
    for (const [at, kind, name] of [
      [0, 'pods', 'a'],
      [0, 'configmaps', 'b'],
      [1, 'pods', 'c'],
    ] as const) {
      await labelled(at, kind, name, name)
      await live.until(name, (held) => labelsOf(held)[name] === name)
    }
    await removed(1, 'pods', 'c')
    await live.until('removal', (held) => held.size === 4)
    expect(live.problems).toEqual([])
  })

  it(`goes on by its token without loss, whichever kinds have changed (SEED=${runSeed})`, async () => {
    const random = seededRandom(runSeed)
    const pick = <T>(items: readonly T[]): T => {
      const item = items[Math.floor(random() * items.length)]
      if (item === undefined) throw new Error('there is nothing to pick')
      return item
    }
    const all: { readonly at: number; readonly kind: string; readonly name: string }[] = []
    const ids: string[] = []
    for (const at of [0, 1]) {
      for (const kind of kinds) {
        for (const name of ['x', 'y', 'z']) {
          const one = { at, kind, name: `${name}-${at}-${kind}` }
          all.push(one)
          ids.push(await made(at, kind, one.name))
        }
      }
    }
    const asked = { field: fieldOf(ids), selection }
    let live = resume(gateway.connect(), asked)
    await live.until((held) => held.size === all.length)
    for (let round = 0; round < 6; round += 1) {
      live.leave()
      for (let count = 0; count < 3 && all.length > 2; count += 1) {
        const { at, kind, name } = pick(all)
        if (random() < 0.8) await labelled(at, kind, name, `r${round}-${count}`)
        else {
          await removed(at, kind, name)
          all.splice(
            all.findIndex((one) => one.name === name),
            1,
          )
        }
      }
      const last = pick(all)
      await labelled(last.at, last.kind, last.name, `last-${round}`)
      const next = resume(gateway.connect(), asked, live.seen.at(-1))
      await next.until(
        (held) => labelsOf(held)[last.name] === `last-${round}` && held.size === all.length,
      )
      expect(next.seen.map(({ frame }) => [frame.reset, frame.synced])).toEqual(
        next.seen.map(() => [false, true]),
      )
      const fresh = resume(gateway.connect(), asked)
      await fresh.until((held) => held.size === all.length)
      const texts = ({ held }: typeof live): string[] =>
        [...held().values()].map((one) => JSON.stringify(one)).toSorted()
      await expect.poll(() => texts(next), wait).toEqual(texts(fresh))
      fresh.leave()
      live = next
    }
    live.leave()
  })

  it(`holds what there is, however slowly its reader takes frames (SEED=${runSeed})`, async () => {
    const random = seededRandom(runSeed)
    await using small = await serveGateway({
      clusters: clusters.map(({ url }, at) => ({ name: `c${at}`, server: url })),
      limits: { maxFrameObjects: 2 },
      live: { maxFrames: 3 },
    })
    const all = [0, 1].flatMap((at) =>
      kinds.flatMap((kind) =>
        ['x', 'y', 'z'].map((name) => ({ at, kind, name: `${name}-${at}-${kind}` })),
      ),
    )
    const ids: string[] = []
    for (const { at, kind, name } of all) ids.push(await made(at, kind, name))
    const { planned } = small.gateway
    const stream = await planned.subscribe({ query, variables: { ids } }, {})
    const fold = new FrameFold<Fields>()
    let resets = 0
    const take = (): boolean => {
      const payload = stream.take()
      if (payload === undefined) return false
      const { objects: frame } = JSON.parse(String(payload)).data
      if (frame.reset) resets += 1
      fold.apply(frame)
      return true
    }
    const labels = new Map<string, string>()
    for (let step = 0; step < 300; step += 1) {
      const one = all[Math.floor(random() * all.length)]
      if (random() < 0.3) take()
      else if (one !== undefined) {
        labels.set(one.name, `s${step}`)
        await labelled(one.at, one.kind, one.name, `s${step}`)
      }
    }
    const isWhole = (): boolean => {
      while (take());
      const held = labelsOf(fold.objects)
      return fold.synced && all.every(({ name }) => held[name] === labels.get(name))
    }
    await expect.poll(isWhole, wait).toBe(true)
    expect(fold.objects.size).toBe(all.length)
    expect(resets).toBeGreaterThan(1)
    expect(planned.liveState().resets).toBeGreaterThan(0)
    stream.close()
  })

  it('begins again as a whole where one of its kinds cannot go on', async () => {
    const ids = [await made(0, 'pods', 'a'), await made(0, 'configmaps', 'b')]
    const asked = { field: fieldOf(ids), selection }
    const before = resume(gateway.connect(), asked)
    await before.until((held) => held.size === 2)
    before.leave()
    const stood = before.seen.at(-1)
    if (stood === undefined) throw new Error('no frame')
    const fields = JSON.parse(
      Buffer.from(String(stood.frame.resumeToken), 'base64url').toString(),
    ) as unknown[]
    const [positions] = fields.filter((one) => typeof one === 'object') as [Record<string, string>]
    // No server has got there.
    positions['1 ConfigMap'] = '999999999'
    const broken = Buffer.from(JSON.stringify(fields)).toString('base64url')
    await removed(0, 'pods', 'a')
    const after = resume(gateway.connect(), asked, {
      ...stood,
      frame: { ...stood.frame, resumeToken: broken },
    })
    await after.until((held) => [...held.values()].map(({ name }) => name).join(' ') === 'b')
    expect(after.seen.some(({ frame }) => frame.reset === true)).toBe(true)
    expect(after.seen.at(-1)?.frame.synced).toBe(true)
    after.leave()
  })

  it.each([
    ['a token of another set', async (ids: readonly string[]) => fieldOf(ids.slice(0, 1))],
    ['a token of a list', async () => 'pods(coalesceMs: 0'],
  ])('begins anew with %s', async (_, other) => {
    const ids = [await made(0, 'pods', 'a'), await made(0, 'configmaps', 'b')]
    const before = resume(gateway.connect(), { field: await other(ids), selection })
    await before.until((held) => held.size === 1)
    before.leave()
    const after = resume(gateway.connect(), { field: fieldOf(ids), selection }, before.seen.at(-1))
    await after.until((held) => held.size === 2)
    expect(after.seen[0]?.frame.reset).toBe(true)
    after.leave()
  })

  it('goes on in liveCollection after a lost connection', async () => {
    const ids = [await made(0, 'pods', 'a'), await made(1, 'configmaps', 'b')]
    await using proxy = await startCutProxy(Number(new URL(gateway.url).port))
    const url = `ws://127.0.0.1:${proxy.port}/graphql`
    const client = new WebSocketClient({ url, webSocket: WebSocket })
    using live = liveCollection<unknown, object, Fields>({ client, query, variables: { ids } })
    await live.synced
    expect(live.getSnapshot()).toMatchObject({ status: 'live', staleSince: null })
    await proxy.refuse()
    await labelled(0, 'pods', 'a', 'missed')
    await removed(1, 'configmaps', 'b')
    await proxy.listen()
    await expect
      .poll(() => live.getSnapshot().rows, wait)
      .toMatchObject([{ name: 'a', labels: { label: 'missed' } }])
  })

  it('says the earliest time since when one of its clusters is stale', async () => {
    const ids = [await made(0, 'pods', 'a'), await made(1, 'pods', 'b')]
    await using proxy = await startCutProxy(Number(new URL(cluster(1).url).port))
    await using other = await serveGateway({
      clusters: [
        { name: 'c0', server: cluster(0).url },
        { name: 'c1', server: `http://127.0.0.1:${proxy.port}` },
      ],
      cache: { staleAfterMs: 1_000 },
    })
    const frames: Fields[] = []
    const fold = new FrameFold<Fields>()
    other.connect().subscribe<Fields>(
      { query, variables: { ids } },
      {
        next: ({ data }) => {
          frames.push(data?.objects)
          fold.apply(data?.objects)
        },
        error: () => {},
        complete: () => {},
      },
    )
    await expect.poll(() => fold.synced, wait).toBe(true)
    await proxy.refuse()
    await expect.poll(() => frames.at(-1)?.staleSince, wait).toEqual(expect.any(String))
    await labelled(0, 'pods', 'a', 'meanwhile')
    await expect.poll(() => labelsOf(fold.objects), wait).toMatchObject({ a: 'meanwhile' })
    expect(frames.at(-1)?.staleSince).toEqual(expect.any(String))
    await proxy.listen()
    await expect.poll(() => frames.at(-1)?.staleSince, wait).toBeNull()
  })

  it('ends as a whole, with the kind, where one of its kinds is no longer served', async () => {
    const ids = [await made(0, 'pods', 'a')]
    const unserved = Buffer.from(
      ['1', 'c0', 'none.example.com', 'Gadget', 'u'].join('\0'),
    ).toString('base64url')
    const { errors } = await firstAnswer(gateway.connect(), query, { ids: [...ids, unserved] })
    expect(errors).toMatchObject([
      {
        extensions: {
          code: 'NOT_FOUND',
          argument: 'ids[1]',
          value: unserved,
          retryAfterMs: 5_000,
        },
      },
    ])
    expect(gateway.gateway.planned.liveState()).toMatchObject({ groups: 0, members: 0 })
  })

  it('shares one group with others who follow the same', async () => {
    const ids = [await made(0, 'pods', 'a'), await made(0, 'configmaps', 'b')]
    const all = [
      follow(gateway.connect(), `${fieldOf(ids)})`, 'name'),
      follow(gateway.connect(), `${fieldOf(ids)})`, 'name'),
    ]
    for (const live of all) await live.until('snapshot', () => live.fold.synced)
    const state = () => gateway.gateway.planned.liveState()
    expect(state()).toMatchObject({ groups: 1, members: 2 })
    for (const live of all) live.complete()
    await expect.poll(state, wait).toMatchObject({ groups: 0, members: 0, heldBytes: 0 })
  })

  const core =
    `Pod ConfigMap Secret ServiceAccount Service Node Namespace Event Endpoints LimitRange
    ResourceQuota PodTemplate ReplicationController PersistentVolume PersistentVolumeClaim`
      .split(/\s+/)
      .map((kind) => ['', kind])
  const apps = ['Deployment', 'ReplicaSet'].map((kind) => ['apps', kind])
  const ofManyKinds = ['c0', 'c1'].flatMap((at) =>
    [...core, ...apps].map(([group, kind]) =>
      Buffer.from(['1', at, group, kind, 'uid'].join('\0')).toString('base64url'),
    ),
  )

  it.each([
    ['no object', [], 'BAD_USER_INPUT', { argument: 'ids', value: 0 }],
    ['what is not an id', ['junk'], 'BAD_USER_INPUT', { argument: 'ids[0]', value: 'junk' }],
    ['too many kinds', ofManyKinds, 'BAD_USER_INPUT', { argument: 'ids', value: 34 }],
    [
      'more objects than a query',
      Array.from({ length: 101 }, () => 'x'),
      'QUERY_TOO_COSTLY',
      { argument: 'ids', value: 101 },
    ],
  ])('refuses %s', async (_, ids, code, extensions) => {
    const { errors } = await firstAnswer(gateway.connect(), query, { ids })
    expect(errors).toMatchObject([{ extensions: { code, ...extensions } }])
  })

  it('follows as many kinds and clusters as it may', async () => {
    const live = resume(gateway.connect(), { field: fieldOf(ofManyKinds.slice(0, 32)), selection })
    await live.until(() => live.seen.at(-1)?.frame.synced === true)
    live.leave()
    const again = resume(
      gateway.connect(),
      { field: fieldOf(ofManyKinds.slice(0, 32)), selection },
      live.seen.at(-1),
    )
    await again.until(() => again.seen.at(-1)?.frame.synced === true)
    expect(again.seen.some(({ frame }) => frame.reset)).toBe(false)
    again.leave()
  })
})

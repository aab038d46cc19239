import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { created, sent } from '../gateway/created.ts'
import { FleetCluster } from '../gateway/fleet-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { type App, type AppList, apps } from './followed-clients.ts'
import { profile, shopForTests } from './shop.ts'

const waitMs = { timeout: 60_000 }
const pods = '/api/v1/namespaces/default/pods'

describe.each(Object.entries(apps))('lists over clusters in the cache of %s', (_, start) => {
  const shop = shopForTests({ relay: true })
  let app: App
  let clusters: readonly FleetCluster[]
  let gateway: ServedGateway
  beforeAll(async () => {
    app = await start(shop())
  })

  const at = (number: number): FleetCluster => clusters[number] as FleetCluster
  const make = (number: number, name: string): Promise<unknown> =>
    created(at(number).simulator, pods, {
      metadata: { name },
      spec: { containers: [{ name: 'main', image: 'nginx:1' }] },
    })
  const note = (number: number, name: string, text: string): Promise<unknown> =>
    sent(at(number).simulator, 'PATCH', `${pods}/${name}`, { metadata: { labels: { note: text } } })
  const configure = (...kept: readonly FleetCluster[]): Promise<void> =>
    gateway.gateway.configureClusters(kept.map(({ selection }) => selection))

  beforeEach(async () => {
    clusters = await Promise.all(
      ['gold', 'gold', 'iron'].map((tier, number) => FleetCluster.start(`c${number}`, { tier })),
    )
    gateway = await serveGateway({
      profile,
      relay: true,
      clusters: clusters.map(({ selection }) => selection),
      retryMs: 200,
      limits: { syncDeadlineMs: 3_000 },
    })
    // Objects of one name in all of them.
    for (const number of [0, 1, 2]) {
      await make(number, 'web')
    }
  })

  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    await Promise.all(clusters.map((cluster) => cluster[Symbol.asyncDispose]()))
  })

  const open = () => app.open({ url: gateway.url, socket: gateway.connect() })
  const rowsOf = (list: AppList): readonly string[] =>
    (list.page()?.rows ?? [])
      .map(({ clusterName, metadata: { name, labels } }) =>
        [`${clusterName}/${name}`, labels?.['note'] ?? ''].join(' ').trim(),
      )
      .toSorted()
  const shows = (list: AppList, ...rows: readonly string[]): Promise<void> =>
    vi.waitFor(() => {
      expect(rowsOf(list)).toEqual(rows)
      expect(list.page()).toMatchObject({ totalCount: rows.length, hasNextPage: false })
    }, waitMs)
  const loaded = async (list: AppList, count: number): Promise<void> =>
    vi.waitFor(async () => {
      await list.load()
      expect(list.page()?.totalCount).toBe(count)
    }, waitMs)

  it('keep objects of one name in two clusters apart', async () => {
    const list = open()({ clusters: ['*'] }, 10)
    await loaded(list, 3)
    using following = list.follow()
    await following.synced
    await note(1, 'web', 'changed')
    await shows(list, 'c0/web', 'c1/web changed', 'c2/web')
    await sent(at(0).simulator, 'DELETE', `${pods}/web`)
    await shows(list, 'c1/web changed', 'c2/web')
    expect(following.status).toBe('live')
  })

  it('keep the rows of a cluster that is cut, say so, and take up what has changed when it is back', async () => {
    const list = open()({ clusters: ['*'] }, 10)
    await loaded(list, 3)
    using following = list.follow()
    await following.synced
    await at(1).proxy.refuse()
    await vi.waitFor(
      () =>
        expect(following.getSnapshot().incomplete).toMatchObject([
          { cluster: 'c1', code: 'CLUSTER_UNREACHABLE' },
        ]),
      waitMs,
    )
    await note(1, 'web', 'meanwhile')
    await make(1, 'more')
    await make(0, 'other')
    await shows(list, 'c0/other', 'c0/web', 'c1/web', 'c2/web')
    await at(1).proxy.listen()
    await shows(list, 'c0/other', 'c0/web', 'c1/more', 'c1/web meanwhile', 'c2/web')
    await vi.waitFor(() => expect(following.getSnapshot().incomplete).toEqual([]), waitMs)
    expect(following.status).toBe('live')
  })

  it('page on while a cluster is cut, and have its rows in the end', async () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      await Promise.all([make(0, name), make(2, name)])
    }
    const list = open()({ clusters: ['*'] }, 4)
    await loaded(list, 11)
    using following = list.follow()
    await following.synced
    await at(2).proxy.refuse()
    await vi.waitFor(() => expect(following.getSnapshot().incomplete).toHaveLength(1), waitMs)
    while (await following.fetchMore());
    expect(rowsOf(list)).toHaveLength(11)
    await at(2).proxy.listen()
    await make(2, 'e')
    await vi.waitFor(() => expect(rowsOf(list)).toContain('c2/e'), waitMs)
    expect(list.page()).toMatchObject({ totalCount: 12, hasNextPage: false })
  })

  it('lose the rows of a cluster that is taken away, and no others, and get those of one that joins', async () => {
    const listIn = open()
    const all = listIn({ clusters: ['*'] }, 10)
    const gold = listIn({ clusterSelector: 'tier=gold' }, 10)
    await loaded(all, 3)
    await loaded(gold, 2)
    using followsAll = all.follow()
    using followsGold = gold.follow()
    await Promise.all([followsAll.synced, followsGold.synced])
    await configure(at(0), at(1))
    await shows(all, 'c0/web', 'c1/web')
    await shows(gold, 'c0/web', 'c1/web')
    await configure(at(0), at(1), at(2))
    await shows(all, 'c0/web', 'c1/web', 'c2/web')
    await configure(at(0))
    await shows(all, 'c0/web')
    await shows(gold, 'c0/web')
    await note(0, 'web', 'alone')
    await shows(all, 'c0/web alone')
    await shows(gold, 'c0/web alone')
    expect([followsAll.status, followsGold.status]).toEqual(['live', 'live'])
  })

  it('keep a row that another list has lost, with its cluster, and that this one still shows', async () => {
    const listIn = open()
    const all = listIn({ clusters: ['*'] }, 10)
    const gold = listIn({ clusterSelector: 'tier=gold' }, 10)
    await loaded(all, 3)
    await loaded(gold, 2)
    using followsAll = all.follow()
    const followsGold = gold.follow()
    await Promise.all([followsAll.synced, followsGold.synced])
    at(1).labels['tier'] = 'silver'
    await configure(...clusters)
    await shows(gold, 'c0/web')
    await shows(all, 'c0/web', 'c1/web', 'c2/web')
    await note(1, 'web', 'seen')
    await shows(all, 'c0/web', 'c1/web seen', 'c2/web')
    at(1).labels['tier'] = 'gold'
    await configure(...clusters)
    await shows(gold, 'c0/web', 'c1/web seen')
    followsGold.close()
    await configure(at(0))
    await shows(all, 'c0/web')
    expect(followsAll.status).toBe('live')
  })
})

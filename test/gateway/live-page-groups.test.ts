import { describe, expect, it } from 'vitest'
import { serveGateway } from '../support/gateway.ts'
import { freshForEachTest } from '../support/served-simulator.ts'
import { created, sent } from './created.ts'
import { followPage, type FollowedPage, type HeldPage } from './followed-page.ts'
import type { Fields } from './test-cluster.ts'

const podsOf = { group: '', version: 'v1', resource: 'pods' } as const
const pods = '/api/v1/namespaces/default/pods'
const pod = (name: string, restartCount = 0): object => ({
  metadata: { name, namespace: 'default' },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }] },
  status: { phase: 'Running', containerStatuses: [{ name: 'main', restartCount }] },
})
const page = {
  field: 'podsPage(first: 3, orderBy: [{ restarts: DESC }], coalesceMs: 0',
  selection: 'metadata { name } status { phase }',
}

describe('subscribers of one page', () => {
  const fresh = freshForEachTest()

  const state = () => fresh.gateway.gateway.planned.liveState()
  const names = ({ rows }: HeldPage): string =>
    rows.map(({ metadata }) => metadata.name as string).join()
  const showing = async (live: FollowedPage, wanted: string): Promise<FollowedPage> => {
    await live.until((held) => names(held) === wanted)
    return live
  }
  const restarted = async (name: string, restartCount: number): Promise<Fields> =>
    sent(fresh.cluster, 'PATCH', `${pods}/${name}/status`, {
      status: { containerStatuses: [{ name: 'main', restartCount }] },
    })
  const put = (...all: object[]): void => {
    for (const one of all) fresh.cluster.storage.create(podsOf, one as Fields)
  }
  const five = (): void => put(pod('a', 4), pod('b', 3), pod('c', 2), pod('d', 1), pod('e', 0))

  it('share one group, which is over when the last of them leaves', async () => {
    five()
    const all = await Promise.all(
      Array.from({ length: 20 }, async () =>
        showing(followPage(fresh.gateway.connect(), page), 'a,b,c'),
      ),
    )
    expect(state()).toMatchObject({ groups: 1, members: 20 })
    await restarted('e', 9)
    await Promise.all(all.map(async (live) => showing(live, 'e,a,b')))
    for (const { seen } of all) {
      const changes = seen.slice(1).flatMap(({ frame }) => frame.changes as Fields[])
      expect(changes.map(({ step, index }) => `${step} ${index}`)).toEqual(['REMOVE 2', 'INSERT 0'])
    }
    const late = await showing(followPage(fresh.gateway.connect(), page), 'e,a,b')
    const other = await showing(
      followPage(fresh.gateway.connect(), { ...page, field: page.field.replace('3', '2') }),
      'e,a',
    )
    expect(state()).toMatchObject({ groups: 2, members: 22 })
    for (const live of [...all, late, other]) live.leave()
    await expect.poll(() => state()).toMatchObject({ groups: 0, members: 0, heldBytes: 0 })
  })

  it('hear nothing of what changes no field that they have selected, and nothing on their page', async () => {
    five()
    const live = await showing(followPage(fresh.gateway.connect(), page), 'a,b,c')
    await sent(fresh.cluster, 'PATCH', `${pods}/a`, { metadata: { annotations: { note: '1' } } })
    await restarted('e', 1)
    await restarted('a', 9)
    await sent(fresh.cluster, 'PATCH', `${pods}/b/status`, { status: { phase: 'Failed' } })
    await live.until(({ rows }) => rows[1]?.status.phase === 'Failed')
    expect(live.seen).toHaveLength(2)
    expect(live.seen[1]?.frame).toMatchObject({
      reset: false,
      synced: true,
      totalCount: 5,
      changes: [{ step: 'UPDATE', index: 1, from: null }],
    })
    live.leave()
  })

  it('hear how many there are, also where the page stays as it is', async () => {
    five()
    const live = await showing(followPage(fresh.gateway.connect(), page), 'a,b,c')
    put(pod('z'))
    await live.until(({ totalCount }) => totalCount === 6)
    expect(live.seen.at(-1)?.frame.changes).toEqual([])
    await sent(fresh.cluster, 'DELETE', `${pods}/z`)
    await live.until(({ totalCount }) => totalCount === 5)
    live.leave()
  })

  it('hear of the objects that their rows lead to', async () => {
    five()
    const selection = 'metadata { name } node { spec { unschedulable } }'
    const live = followPage(fresh.gateway.connect(), { ...page, selection })
    await showing(live, 'a,b,c')
    await created(fresh.cluster, '/api/v1/nodes', { metadata: { name: 'node-1' } })
    await live.until(({ rows }) => rows.every(({ node }) => node !== null))
    const unschedulable = { spec: { unschedulable: true } }
    await sent(fresh.cluster, 'PATCH', '/api/v1/nodes/node-1', unschedulable)
    await live.until(({ rows }) => rows.every(({ node }) => node.spec?.unschedulable === true))
    expect(state()).toMatchObject({ groups: 1, members: 1 })
    live.leave()
  })

  it('see the rows that stood ready behind the page come in, and those behind them', async () => {
    const all = Array.from({ length: 130 }, (_, number) => `pod-${String(number).padStart(3, '0')}`)
    put(...all.map((name) => pod(name)))
    const live = followPage(fresh.gateway.connect(), {
      ...page,
      field: 'podsPage(first: 3, coalesceMs: 0',
    })
    await showing(live, all.slice(0, 3).join())
    while (all.length > 0) {
      for (const name of all.splice(0, 13)) fresh.cluster.storage.delete(podsOf, 'default', name)
      await live.until(
        (held) => names(held) === all.slice(0, 3).join() && held.totalCount === all.length,
      )
    }
    expect(live.seen.filter(({ frame }) => frame.reset)).toHaveLength(1)
    live.leave()
  })

  it('miss nothing of a change that takes several frames, wherever in between they were cut', async () => {
    await using small = await serveGateway({
      clusters: [{ name: 'one', server: fresh.cluster.url }],
      limits: { maxFrameObjects: 1 },
    })
    put(pod('a'), pod('b'), pod('c'))
    const field = 'podsPage(first: 3, orderBy: [{ name: ASC }], coalesceMs: 200'
    const slow = { field, selection: 'status { phase }' }
    const [live, other] = [0, 1].map(() => followPage(small.connect(), slow))
    const are = (phase: string) => (held: HeldPage) =>
      held.rows.length === 3 && held.rows.every(({ status }) => status.phase === phase)
    const phased = async (phase: string): Promise<void> => {
      const body = { status: { phase } }
      await Promise.all(
        ['a', 'b', 'c'].map(async (name) =>
          sent(fresh.cluster, 'PATCH', `${pods}/${name}/status`, body),
        ),
      )
      await Promise.all([live?.until(are(phase)), other?.until(are(phase))])
    }
    await phased('Pending')
    const stoodAt = live?.seen.at(-1)
    await phased('Failed')
    live?.leave()
    const seen = live?.seen ?? []
    const places = seen.slice(seen.findIndex((place) => place === stoodAt))
    expect(places.length).toBeGreaterThan(2)
    for (const place of places) {
      const again = followPage(small.connect(), slow, place)
      await again.until(are('Failed'))
      again.leave()
    }
    other?.leave()
  })
})

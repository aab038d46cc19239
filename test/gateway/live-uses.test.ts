import { describe, expect, it } from 'vitest'
import { freshForEachTest } from '../support/served-simulator.ts'
import { created, sent } from './created.ts'
import { resume, type Resumed } from './resumed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const core = '/api/v1/namespaces/default'
const podOf = (name: string, spec: Fields = {}): Fields => ({
  metadata: { name, labels: { app: 'web' } },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }], ...spec },
})
const using = (configMap: string): Fields => ({
  volumes: [{ name: 'settings', configMap: { name: configMap } }],
})

describe('subscriptions to objects with what others make of them', () => {
  const served = freshForEachTest()

  const state = () => served.gateway.gateway.planned.liveState()
  const only = ({ held }: Resumed): Fields => [...held().values()][0]
  /** What the only row says behind each change, and what comes first from there after having been away. */
  const seenLive = async (
    asked: Parameters<typeof resume>[1],
    seen: (row: Fields) => unknown,
    steps: readonly (readonly [change: () => Promise<unknown>, told: unknown])[],
  ): Promise<readonly unknown[]> => {
    const resumed: unknown[] = []
    let live = resume(served.gateway.connect(), asked)
    await live.until(({ size }) => size === 1)
    expect(state()).toMatchObject({ groups: 1, members: 1 })
    for (const [change, told] of steps) {
      await change()
      await live.until(() => JSON.stringify(seen(only(live))) === JSON.stringify(told))
      const from = live.seen.at(-1)
      live.leave()
      live = resume(served.gateway.connect(), asked, from)
      await live.until(() => true)
      resumed.push([live.seen[0]?.frame.reset, seen(only(live))])
    }
    live.leave()
    return resumed
  }

  it('hear of who comes to use them and who does no more', async () => {
    await created(served.cluster, `${core}/configmaps`, { metadata: { name: 'settings' } })
    const live = await seenLive(
      {
        field: 'configMaps(coalesceMs: 0',
        selection:
          'usedBy(types: ["Pod"]) { totalCount nodes { paths object { name object { metadata { labels } } } } }',
      },
      ({ usedBy: { totalCount, nodes } }) => [totalCount, nodes[0]?.object.object.metadata.labels],
      [
        [
          async () => created(served.cluster, `${core}/pods`, podOf('a', using('settings'))),
          [1, { app: 'web' }],
        ],
        [
          async () =>
            sent(served.cluster, 'PATCH', `${core}/pods/a`, { metadata: { labels: { app: 'x' } } }),
          [1, { app: 'x' }],
        ],
        [
          async () => sent(served.cluster, 'DELETE', `${core}/pods/a?gracePeriodSeconds=0`),
          [0, undefined],
        ],
      ],
    )
    expect(live).toEqual([
      [false, [1, { app: 'web' }]],
      [false, [1, { app: 'x' }]],
      [false, [0, undefined]],
    ])
  })

  it('hear of the many that theirs lead to, filtered by other objects', async () => {
    await created(served.cluster, '/api/v1/nodes', { metadata: { name: 'node-1' } })
    await created(served.cluster, `${core}/services`, {
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    })
    await created(served.cluster, `${core}/pods`, podOf('a'))
    const selection =
      'pods(where: { node: { is: { unschedulable: { eq: true } } } }) { nodes { metadata { name } } }'
    const cordoned = async (unschedulable: boolean) =>
      sent(served.cluster, 'PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable } })
    const live = await seenLive(
      { field: 'services(where: { name: { eq: "web" } }, coalesceMs: 0', selection },
      ({ pods }) => pods.nodes.map(({ metadata }: Fields) => metadata.name),
      [
        [async () => cordoned(true), ['a']],
        [async () => created(served.cluster, `${core}/pods`, podOf('b')), ['a', 'b']],
        [async () => cordoned(false), []],
      ],
    )
    expect(live).toEqual([
      [false, ['a']],
      [false, ['a', 'b']],
      [false, []],
    ])
  })

  it('are groups by what their variables ask of lists within their objects', async () => {
    await created(served.cluster, '/api/v1/nodes', { metadata: { name: 'node-1' } })
    for (const name of ['a', 'b']) await created(served.cluster, `${core}/pods`, podOf(name))
    const query = `subscription ($first: Int, $where: PodWhere) { nodes(coalesceMs: 0) { changes { object {
      cluster { name } pods(first: $first, where: $where) { totalCount nodes { metadata { name } } }
    } } } }`
    const subscribed = (variables: Fields) =>
      served.gateway.connect().iterate<{ nodes: Fields }>({ query, variables })
    const subscribers = [
      subscribed({ first: 1 }),
      subscribed({ first: 1 }),
      subscribed({ where: { services: { some: {} } } }),
    ]
    const next = async (): Promise<readonly unknown[]> =>
      Promise.all(
        subscribers.map(async (one) => {
          const { value } = await one.next()
          const object = value?.data?.nodes.changes[0]?.object
          return [object?.cluster.name, object?.pods.totalCount, object?.pods.nodes.length]
        }),
      )
    expect(await next()).toEqual([
      ['one', 2, 1],
      ['one', 2, 1],
      ['one', 0, 0],
    ])
    expect(state()).toMatchObject({ groups: 2, members: 3 })
    await created(served.cluster, `${core}/services`, {
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    })
    const [, , filtered] = subscribers
    expect((await filtered?.next())?.value?.data?.nodes.changes).toMatchObject([
      { object: { pods: { totalCount: 2 } } },
    ])
    await Promise.all(subscribers.map(async (one) => one.return?.()))
  })

  it('are told the state of the cluster as it was when the row was written', async () => {
    await created(served.cluster, `${core}/pods`, podOf('a'))
    const asked = { field: 'pods(coalesceMs: 0', selection: 'cluster { state }' }
    const live = resume(served.gateway.connect(), asked)
    await live.until(({ size }) => size === 1)
    expect(only(live)).toMatchObject({ cluster: { state: 'CONNECTED' } })
    expect(state()).toMatchObject({ groups: 1 })
    live.leave()
  })

  it('are told that they may read, where nobody is asked who they are', async () => {
    await created(served.cluster, `${core}/pods`, podOf('a'))
    const selection = 'get: can(verb: "get") delete: can(verb: "delete")'
    const live = resume(served.gateway.connect(), { field: 'pods(coalesceMs: 0', selection })
    await live.until(({ size }) => size === 1)
    expect(only(live)).toMatchObject({ get: true, delete: false })
    expect(state()).toMatchObject({ groups: 1 })
    live.leave()
  })
})

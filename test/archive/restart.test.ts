import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayOptions } from 'informerql'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { created, sent } from '../gateway/created.ts'
import { type HeldBehind, resume, type Resumed } from '../gateway/resumed-subscription.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { listsOf, type RequestProxy, startRequestProxy } from '../support/request-proxy.ts'

const pods = '/api/v1/namespaces/default/pods'
const allPods = '/api/v1/pods'
const pod = (name: string, tier = 'x'): object => ({
  metadata: { name, labels: { tier } },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }] },
})
const asked = {
  field: 'pods(labelSelector: "tier=x", coalesceMs: 0',
  selection: 'metadata { name uid labels }',
}

const inOrder = (one: string, other: string): number => (one < other ? -1 : 1)

describe('a gateway with an archive that starts again', () => {
  let cluster: Simulator
  let proxy: RequestProxy
  let gateway: ServedGateway
  let folder: string
  const serve = async (further: Partial<GatewayOptions> = {}): Promise<ServedGateway> =>
    serveGateway({
      clusters: [{ name: 'one', server: proxy.url }],
      archive: { url: `file:${join(folder, 'archive.db')}`, kinds: ['pods', 'configMaps'] },
      preload: ['pods'],
      ...further,
    })
  const again = async (meanwhile: () => Promise<unknown> = async () => {}): Promise<void> => {
    await gateway[Symbol.asyncDispose]()
    await meanwhile()
    proxy.requests.length = 0
    gateway = await serve()
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'informerql-archive-'))
    cluster = await startSimulator()
    proxy = await startRequestProxy(cluster.url)
    for (const name of ['a', 'b', 'c']) {
      // oxlint-disable-next-line no-await-in-loop -- in order
      await created(cluster, pods, pod(name))
    }
    gateway = await serve()
  })
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  const names = async (): Promise<readonly string[]> => {
    const { pods: found } = await gateway.data('{ pods { nodes { metadata { name } } } }')
    return found.nodes.map(({ metadata }: Fields) => metadata.name)
  }
  const removed = async (name: string): Promise<Fields> =>
    sent(cluster, 'DELETE', `${pods}/${name}?gracePeriodSeconds=0`)
  const labelled = async (name: string, tier: string): Promise<Fields> =>
    sent(cluster, 'PATCH', `${pods}/${name}`, { metadata: { labels: { tier } } })
  const begin = async (count: number): Promise<HeldBehind> => {
    const live = resume(gateway.connect(), asked)
    await live.until(({ size }) => size === count)
    live.leave()
    const last = live.seen.at(-1)
    if (last === undefined) throw new Error('no frame')
    return last
  }
  const heldNames = (live: Resumed): readonly string[] =>
    [...live.held().values()].map(({ metadata }) => metadata.name).toSorted(inOrder)

  it('reads its kinds from the archive, and sends no list', async () => {
    expect(await names()).toEqual(['a', 'b', 'c'])
    await again()
    expect(await names()).toEqual(['a', 'b', 'c'])
    await gateway.data('{ configMaps { nodes { metadata { name } } } }')
    expect(listsOf(proxy, allPods)).toEqual([])
    expect(listsOf(proxy, '/api/v1/configmaps')).toEqual([])
  })

  it('shows what happened while it was down as soon as it answers', async () => {
    expect(await names()).toEqual(['a', 'b', 'c'])
    await again(async () => {
      await removed('b')
      await created(cluster, pods, pod('d'))
    })
    expect(await names()).toEqual(['a', 'c', 'd'])
    expect(listsOf(proxy, allPods)).toEqual([])
  })

  it('goes on with subscriptions: removals name what the list had, and what began to match is added', async () => {
    await created(cluster, pods, pod('elsewhere', 'y'))
    await created(cluster, pods, pod('begins', 'y'))
    const stood = await begin(3)
    await again(async () => {
      await removed('elsewhere')
      await removed('b')
      await labelled('c', 'y')
      await labelled('begins', 'x')
      await created(cluster, pods, pod('comes'))
      await created(cluster, pods, pod('passes'))
      await removed('passes')
    })
    const live = resume(gateway.connect(), asked, stood)
    await live.until(() => heldNames(live).includes('comes'))
    expect(heldNames(live)).toEqual(['a', 'begins', 'comes'])
    expect(live.seen[0]?.frame.reset).toBe(false)
    const changes = live.seen.flatMap(({ frame }) => frame.changes as Fields[])
    const byName = changes.map(({ type, objectId }) => {
      const object = live.held().get(objectId) ?? stood.held.get(objectId)
      return `${type} ${object?.metadata.name}`
    })
    expect(byName.toSorted(inOrder)).toEqual([
      'ADDED begins',
      'ADDED comes',
      'REMOVED b',
      'REMOVED c',
    ])
    expect(gateway.gateway.planned.liveState()).toMatchObject({ resumed: 1, notResumed: 0 })
    live.leave()
  })
})

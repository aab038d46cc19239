import { randomUUID } from 'node:crypto'
import { type Simulator, startSimulator, type Storage } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { startRequestProxy } from '../support/request-proxy.ts'
import { created, sent } from './created.ts'
import { type Held, type HeldBehind, resume } from './resumed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const pods = '/api/v1/namespaces/default/pods'
const pod = (name: string): Fields => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }] },
})
const podResource = { group: '', version: 'v1', resource: 'pods' }
const asked = {
  field: 'pods(coalesceMs: 0',
  selection: 'metadata { name uid resourceVersion labels }',
}
const writesApart = 40
const wait = { timeout: 60_000, interval: 50 }

/** A cluster's own namespace, by which it is known. */
const namedBy =
  (uid: string, more: (storage: Storage) => void = () => {}) =>
  (storage: Storage): void => {
    storage.create(
      { group: '', version: 'v1', resource: 'namespaces' },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid } },
    )
    more(storage)
  }
const namesOf = (held: Held): readonly string[] =>
  Array.from(held.values(), ({ metadata }) => String(metadata.name)).toSorted((a, b) =>
    a < b ? -1 : 1,
  )
const inOrder = (held: Held): readonly Fields[] =>
  [...held.values()].toSorted((a, b) => (a.metadata.uid < b.metadata.uid ? -1 : 1))

describe('a cluster that another one takes the place of', () => {
  const clusters: Simulator[] = []
  let proxy: CutProxy
  let gateway: ServedGateway
  const portOf = ({ url }: Simulator): number => Number(new URL(url).port)
  const start = async (populate: (storage: Storage) => void): Promise<Simulator> => {
    const cluster = await startSimulator({ populate })
    clusters.push(cluster)
    return cluster
  }
  const serve = async (): Promise<ServedGateway> =>
    serveGateway({ clusters: [{ name: 'one', server: `http://127.0.0.1:${proxy.port}` }] })
  /** So many writes that versions pass those of another one. */
  const pass = async (cluster: Simulator, writes = writesApart): Promise<void> => {
    await created(cluster, pods, pod('passing'))
    for (let count = 0; count < writes; count += 1) {
      await sent(cluster, 'PATCH', `${pods}/passing`, { metadata: { labels: { at: `${count}` } } })
    }
  }
  const switchTo = (cluster: Simulator): void => {
    proxy.target = portOf(cluster)
    proxy.cut()
  }
  const stand = async (): Promise<HeldBehind> => {
    const live = resume(gateway.connect(), asked)
    await live.until(({ size }) => size > 0)
    live.leave()
    const last = live.seen.at(-1)
    if (last === undefined) throw new Error('no frame')
    return last
  }
  const fresh = async (): Promise<readonly Fields[]> => {
    const live = resume(gateway.connect(), asked)
    await live.until(() => live.seen.at(-1)?.frame.synced === true)
    live.leave()
    return inOrder(live.held())
  }
  const known = async (): Promise<string | null> => {
    const { gatewayClusters } = await gateway.data('{ gatewayClusters { uid } }')
    return gatewayClusters[0].uid
  }

  beforeEach(async () => {
    proxy = await startCutProxy(0)
  })
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
    for (const cluster of clusters.splice(0)) {
      await cluster[Symbol.asyncDispose]()
    }
  })

  it('is not taken for it by a token, at another gateway, although its versions have passed that of the token', async () => {
    const first = await start(namedBy('first'))
    await created(first, pods, pod('old'))
    switchTo(first)
    gateway = await serve()
    const stood = await stand()
    await gateway[Symbol.asyncDispose]()
    const second = await start(namedBy('second'))
    await created(second, pods, pod('new'))
    await pass(second)
    switchTo(second)
    gateway = await serve()
    const live = resume(gateway.connect(), asked, stood)
    await live.until(() => live.seen.at(-1)?.frame.synced === true)
    expect(live.seen[0]?.frame.reset).toBe(true)
    expect(namesOf(live.held())).toEqual(['new', 'passing'])
    expect(gateway.gateway.planned.liveState()).toMatchObject({ resumed: 0, notResumed: 1 })
  })

  it('nor by the token of a page of a query, nor of a live page', async () => {
    const first = await start(namedBy('first'))
    await created(first, pods, pod('old'))
    switchTo(first)
    gateway = await serve()
    const { pods: page } = await gateway.data('{ pods { resumeToken nodes { id } } }')
    const { promise, resolve } = Promise.withResolvers<string>()
    const subscription =
      'subscription ($from: String) { podsPage(first: 5, resumeFrom: $from) { reset resumeToken } }'
    const leave = gateway
      .connect()
      .subscribe<Fields>(
        { query: subscription },
        { next: ({ data }) => resolve(data?.podsPage.resumeToken), error() {}, complete() {} },
      )
    const pageToken = await promise
    leave()
    await gateway[Symbol.asyncDispose]()
    const second = await start(namedBy('second'))
    await created(second, pods, pod('new'))
    await pass(second)
    switchTo(second)
    gateway = await serve()
    const held = new Map(page.nodes.map((one: Fields) => [one.id, one])) as Held
    const live = resume(gateway.connect(), asked, { frame: page, held })
    await live.until(() => live.seen.at(-1)?.frame.synced === true)
    expect(live.seen[0]?.frame.reset).toBe(true)
    const { data } = await new Promise<Fields>((answered) => {
      gateway
        .connect()
        .subscribe(
          { query: subscription, variables: { from: pageToken } },
          { next: answered, error() {}, complete() {} },
        )
    })
    expect(data.podsPage.reset).toBe(true)
  })

  it('is read anew by a gateway that is running, although its versions have passed: lists, followers, identity and ids', async () => {
    const first = await start(namedBy('first'))
    await created(first, pods, pod('old'))
    await created(first, pods, pod('same'))
    switchTo(first)
    gateway = await serve()
    expect(await known()).toBe('first')
    const live = resume(gateway.connect(), asked)
    await live.until(({ size }) => size === 2)
    const stood = live.seen.at(-1)
    const [id] = live.held().keys()
    const second = await start(namedBy('second'))
    await created(second, pods, pod('same'))
    await pass(second)
    switchTo(second)
    await live.until((held) => namesOf(held).join() === 'passing,same')
    await created(second, pods, pod('later'))
    await live.until((held) => namesOf(held).join() === 'later,passing,same')
    expect(inOrder(live.held())).toEqual(await fresh())
    expect(await known()).toBe('second')
    const { object } = await gateway.data(`{ object(id: "${id}") { id } }`)
    expect(object).toBeNull()
    live.leave()
    const again = resume(gateway.connect(), asked, stood)
    await again.until(({ size }) => size === 3)
    expect(again.seen[0]?.frame.reset).toBe(true)
    // And from here on tokens are honoured as ever.
    const stands = again.seen.at(-1)
    again.leave()
    const back = resume(gateway.connect(), asked, stands)
    await back.until(({ size }) => size === 3)
    expect(back.seen[0]?.frame.reset).toBe(false)
    back.leave()
  })

  it('is followed on where it is known by its versions first, and by its identity while it is listed anew', async () => {
    const first = await start(namedBy('first'))
    await created(first, pods, pod('old'))
    await pass(first)
    switchTo(first)
    gateway = await serve()
    const live = resume(gateway.connect(), asked)
    await live.until(({ size }) => size === 2)
    const second = await start(namedBy('second'))
    await created(second, pods, pod('new'))
    await using slow = await startRequestProxy(second.url)
    const [identified, listed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    // A list that continues nothing: of a cache that begins.
    const isFirst = (request: string): boolean =>
      request.includes('/pods?limit=500&resourceVersion=0')
    const begun = (): number => slow.requests.filter(isFirst).length
    slow.held = (request) => {
      if (request.includes('/namespaces/kube-system')) return identified.promise
      return isFirst(request) ? listed.promise : undefined
    }
    proxy.target = Number(new URL(slow.url).port)
    proxy.cut()
    await expect.poll(begun, wait).toBe(1)
    identified.resolve()
    await expect.poll(begun, wait).toBe(2)
    listed.resolve()
    await live.until((held) => namesOf(held).join() === 'new')
    await created(second, pods, pod('later'))
    await live.until((held) => namesOf(held).join() === 'later,new')
    expect(await known()).toBe('second')
  })

  it('is asked anew what it serves', async () => {
    const first = await start(namedBy('first'))
    await pass(first)
    switchTo(first)
    gateway = await serve()
    const second = await start(namedBy('second'))
    await created(second, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.stable.example.com' },
      spec: {
        group: 'stable.example.com',
        scope: 'Namespaced',
        names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    })
    await pass(second, 2 * writesApart)
    switchTo(second)
    await expect
      .poll(async () => (await gateway.query('{ stableExampleComWidgets { totalCount } }')).data, {
        timeout: 60_000,
      })
      .toEqual({ stableExampleComWidgets: { totalCount: 0 } })
  })

  describe('and that was restored from a backup', () => {
    const uid = randomUUID()
    const backup = namedBy('the same', (storage) => {
      storage.create(podResource, { ...pod('kept'), metadata: { ...pod('kept').metadata, uid } })
    })
    const lose = async (cluster: Simulator): Promise<void> => {
      for (let count = 0; count < writesApart; count += 1) {
        await sent(cluster, 'PATCH', `${pods}/kept`, { metadata: { labels: { lost: `${count}` } } })
      }
      await created(cluster, pods, pod('lost'))
    }

    it('is followed on where it was, and no token of before is taken for one of it, before and after it has passed', async () => {
      const first = await start(backup)
      await lose(first)
      switchTo(first)
      gateway = await serve()
      const live = resume(gateway.connect(), asked)
      await live.until(({ size }) => size === 2)
      const stood = live.seen.at(-1)
      switchTo(await start(backup))
      await live.until((held) => namesOf(held).join() === 'kept')
      expect(inOrder(live.held())).toEqual(await fresh())
      const behind = resume(gateway.connect(), asked, stood)
      await behind.until(({ size }) => size === 1)
      expect(behind.seen[0]?.frame.reset).toBe(true)
      behind.leave()
      const second = clusters.at(-1)
      if (second === undefined) throw new Error('no cluster')
      await pass(second, writesApart * 2)
      const passed = resume(gateway.connect(), asked, stood)
      await passed.until((held) => namesOf(held).join() === 'kept,passing')
      expect(passed.seen[0]?.frame.reset).toBe(true)
      await live.until((held) => namesOf(held).join() === 'kept,passing')
      expect(await known()).toBe('the same')
    })
  })

  it('is known by nothing where the gateway may not look, and all else goes on', async () => {
    const cluster = await start(namedBy('hidden'))
    const forbidden = { type: 'status', code: 403 } as const
    const match = { verb: 'get', path: '/api/v1/namespaces/kube-system' } as const
    cluster.faults.inject({ match, fault: forbidden, times: 1_000 })
    await created(cluster, pods, pod('a'))
    switchTo(cluster)
    gateway = await serve()
    expect(await known()).toBeNull()
    const stood = await stand()
    await created(cluster, pods, pod('b'))
    const live = resume(gateway.connect(), asked, stood)
    await live.until(({ size }) => size === 2)
    expect(live.seen[0]?.frame.reset).toBe(false)
    live.leave()
  })
})

import { randomUUID } from 'node:crypto'
import type { SimulatorOptions, Storage } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { created, sent } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { listsOf } from '../support/request-proxy.ts'
import { type HeldBehind, resume, type Resumed } from '../gateway/resumed-subscription.ts'
import {
  archiveUrls,
  asked,
  changesOf,
  namesOf,
  podOf,
  podsPath,
  RestartedGateway,
} from './restarted-gateway.ts'

const allPods = '/api/v1/pods'
const podResource = { group: '', version: 'v1', resource: 'pods' }
const namespaceResource = { group: '', version: 'v1', resource: 'namespaces' }

/** A cluster with these pods, known by the UID of its namespace. */
const clusterOf = (uid: string, pods: readonly string[], writes = 0): SimulatorOptions => ({
  populate(storage: Storage) {
    const metadata = { name: 'kube-system', uid }
    storage.create(namespaceResource, { apiVersion: 'v1', kind: 'Namespace', metadata })
    for (const name of pods) storage.create(podResource, podOf(name))
    for (let count = 0; count < writes; count += 1) {
      storage.create(podResource, podOf(`passing-${count}`, 'y'))
    }
  },
})

describe.each(['file', 'postgres'])('a gateway with an archive (%s) that starts again', (form) => {
  const uid = randomUUID()
  const nextUrl = archiveUrls(form)
  let world: RestartedGateway
  let url: string | undefined
  beforeEach(async ({ skip }) => {
    url = await nextUrl(skip)
    const options = url === undefined ? {} : { archive: { url, kinds: ['pods', 'configMaps'] } }
    world = await RestartedGateway.start(options, clusterOf(uid, []))
  })
  afterEach(() => world[Symbol.asyncDispose]())

  it('reads its kinds from the archive, at preload and at the first question, and sends no list', async () => {
    const configMaps = '{ configMaps { nodes { metadata { name } } } }'
    expect(await world.names()).toEqual(['a', 'b', 'c'])
    await world.gateway.data(configMaps)
    await world.again()
    expect(await world.names()).toEqual(['a', 'b', 'c'])
    await world.gateway.data(configMaps)
    expect(listsOf(world.proxy, allPods)).toEqual([])
    expect(listsOf(world.proxy, '/api/v1/configmaps')).toEqual([])
  })

  it('sends no list of the kinds that it keeps by default, Secrets included, but of those with masked fields', async () => {
    const place = url === undefined ? {} : { url }
    const archive = { ...place, kinds: null, masked: ['Pod:/spec/containers/*/env'] }
    await world.again(
      () =>
        created(world.cluster, '/api/v1/namespaces/default/secrets', {
          metadata: { name: 'login' },
          data: { password: 'aHVudGVy' },
        }),
      { archive },
    )
    const begun = async (): Promise<readonly string[]> => {
      const query = '{ changes(first: 1) { incomplete { type to } } }'
      const { incomplete } = (await world.gateway.data(query))['changes']
      return incomplete.filter(({ to }: Fields) => to !== null).map(({ type }: Fields) => type)
    }
    const kept = 27
    const long = { timeout: 20_000 }
    await expect.poll(async () => new Set(await begun()).size, long).toBe(kept)
    await world.again(async () => {}, { archive })
    const watched = (): readonly string[] => {
      const watches = world.proxy.requests.filter((one) => one.includes('watch=true'))
      return [...new Set(watches.map((one) => new URL(one.slice(4), 'http://host').pathname))]
    }
    await expect.poll(() => watched().length, long).toBe(kept)
    expect(watched()).toContain('/api/v1/secrets')
    const listed = watched().filter((path) => listsOf(world.proxy, path).length > 0)
    // What the cluster serves, the gateway reads from the cluster.
    const ofApi = [
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      '/apis/apiregistration.k8s.io/v1/apiservices',
    ]
    expect(listed.filter((path) => !ofApi.includes(path))).toEqual([allPods])
  })

  it('shows what happened while it was down as soon as it answers', async () => {
    expect(await world.names()).toEqual(['a', 'b', 'c'])
    for (const name of ['d', 'e']) {
      await world.again(async () => {
        await world.add(name)
        await world.label('a', name)
      })
      expect(await world.names()).toContain(name)
      expect(listsOf(world.proxy, allPods)).toEqual([])
    }
    await world.again(() => world.remove('b'))
    expect(await world.names()).toEqual(['a', 'c', 'd', 'e'])
    expect(listsOf(world.proxy, allPods)).toEqual([])
  })

  it('goes on with subscriptions: removals name what the list had, and what began to match is added', async () => {
    await world.add('elsewhere', 'y')
    await world.add('begins', 'y')
    const stood = await world.stand(3)
    await world.again(async () => {
      await world.remove('elsewhere')
      await world.remove('b')
      await world.label('c', 'y')
      await world.label('begins', 'x')
      await world.add('comes')
      await world.add('passes')
      await world.remove('passes')
    })
    const live = world.follow(stood)
    await live.until(() => namesOf(live).includes('comes'))
    expect(namesOf(live)).toEqual(['a', 'begins', 'comes'])
    expect(live.seen[0]?.frame.reset).toBe(false)
    expect(changesOf(live, stood)).toEqual([
      'ADDED begins',
      'ADDED comes',
      'REMOVED b',
      'REMOVED c',
    ])
    live.leave()
  })

  it('honours a token that was old already when it stopped, from what the archive has', async () => {
    expect(await world.names()).toEqual(['a', 'b', 'c'])
    await world.again()
    await world.add('elsewhere', 'y')
    const stood = await world.stand(3)
    const other = world.follow()
    await other.until(({ size }) => size === 3)
    await world.remove('elsewhere')
    await world.label('b', 'y')
    // It has no last change before its removal.
    world.cluster.storage.delete(podResource, 'default', 'a')
    await world.add('a')
    await world.add('d')
    await other.until(() => namesOf(other).join() === 'a,c,d')
    other.leave()
    await world.again(() => world.remove('c'))
    const live = world.follow(stood)
    await live.until(() => namesOf(live).join() === 'a,d')
    expect(live.seen[0]?.frame.reset).toBe(false)
    expect(changesOf(live, stood)).toEqual([
      'ADDED a',
      'ADDED d',
      'REMOVED a',
      'REMOVED b',
      'REMOVED c',
    ])
    live.leave()
  })

  it('tells a removal that the gateway saw late once, also to those who left between it and the next change', async () => {
    const live = world.follow(await world.stand(3))
    await live.until(({ size }) => size === 3)
    // The process stands still: what it sees in the next seconds may have happened meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_200)
    // It has no last change before its removal.
    world.cluster.storage.delete(podResource, 'default', 'a')
    await live.until(({ size }) => size === 2)
    await world.add('d')
    await live.until(({ size }) => size === 3)
    live.leave()
    const between = live.seen.find(({ held }) => held.size === 2)
    await world.again(() => world.add('e'))
    const resumed = world.follow(between)
    await resumed.until(({ size }) => size === 4)
    expect(changesOf(resumed, live.seen[0] as HeldBehind)).toEqual(['ADDED d', 'ADDED e'])
    resumed.leave()
  })

  it('lists anew where the API server has forgotten the position, and subscribers begin anew once', async () => {
    const stood = await world.stand(3)
    await world.again(async () => {
      await world.remove('a')
      await world.add('d')
      world.cluster.faults.inject({ fault: { type: 'compact-history' } })
    })
    expect(await world.names()).toEqual(['b', 'c', 'd'])
    expect(listsOf(world.proxy, allPods)).toHaveLength(1)
    const live = world.follow(stood)
    await live.until(() => namesOf(live).includes('d'))
    expect(namesOf(live)).toEqual(['b', 'c', 'd'])
    expect(live.seen.map(({ frame }) => frame.reset)).toEqual([true])
    live.leave()
    await world.again()
    expect(await world.names()).toEqual(['b', 'c', 'd'])
    expect(listsOf(world.proxy, allPods)).toEqual([])
  })

  it('takes nothing from the archive where another cluster answers under the name', async () => {
    const stood = await world.stand(3)
    await world.again(() => world.exchange(clusterOf(randomUUID(), ['other'], 50)))
    expect(await world.names()).toContain('other')
    expect(await world.names()).not.toContain('a')
    expect(listsOf(world.proxy, allPods)).not.toEqual([])
    const live = world.follow(stood)
    await live.until(() => namesOf(live).includes('other'))
    expect(namesOf(live)).toEqual(['other'])
    expect(live.seen[0]?.frame.reset).toBe(true)
    live.leave()
  })

  it('takes nothing from the archive where the cluster was restored from a backup', async () => {
    for (const name of ['d', 'e', 'f', 'g']) {
      await world.add(name)
    }
    const stood = await world.stand(7)
    // The same cluster, at an earlier version.
    await world.again(() => world.exchange(clusterOf(uid, ['a'])))
    expect(await world.names()).toEqual(['a'])
    const live = world.follow(stood)
    await live.until(() => namesOf(live).join() === 'a')
    expect(live.seen[0]?.frame.reset).toBe(true)
    live.leave()
    await world.again()
    expect(await world.names()).toEqual(['a'])
  })

  it('goes on with several clusters, and with subscriptions over them', async () => {
    const clusters = [
      { name: 'one', server: world.proxy.url },
      { name: 'two', server: world.cluster.url },
    ]
    const everywhere = { clusters }
    const counted = async (): Promise<number> => {
      const { pods } = await world.gateway.data('{ pods(clusters: ["*"]) { totalCount } }')
      return pods.totalCount
    }
    const follow = (from?: HeldBehind): Resumed =>
      resume(world.gateway.connect(), { ...asked, field: `${asked.field}, clusters: ["*"]` }, from)
    await world.again(async () => {}, everywhere)
    expect(await counted()).toBe(6)
    const before = follow()
    await before.until(({ size }) => size === 6)
    before.leave()
    const stood = before.seen.at(-1)
    await world.again(async () => {
      await world.add('d')
      await world.remove('a')
    }, everywhere)
    expect(await counted()).toBe(6)
    const live = follow(stood)
    await live.until(() => namesOf(live).join() === 'b,b,c,c,d,d')
    expect(live.seen.map(({ frame }) => frame.reset)).not.toContain(true)
    live.leave()
    expect(listsOf(world.proxy, allPods)).toEqual([])
  })

  it('lists a kind anew once it is cached by namespaces, and once it is not any more', async () => {
    expect(await world.names()).toEqual(['a', 'b', 'c'])
    const cache = { namespaces: ['default'] }
    const counts: (readonly number[])[] = []
    for (const options of [{ cache }, { cache }, {}, {}]) {
      await world.again(() => world.label('a', randomUUID().slice(0, 8)), options)
      expect(await world.names()).toEqual(['a', 'b', 'c'])
      counts.push([podsPath, allPods].map((path) => listsOf(world.proxy, path).length))
    }
    expect(counts).toEqual([
      [1, 0],
      [0, 0],
      [0, 1],
      [0, 0],
    ])
  })
})

describe('a gateway with an archive that does not keep all of an object', () => {
  it('takes Secrets from it, of which the cache has no more than their metadata', async () => {
    await using world = await RestartedGateway.start({ archive: { kinds: ['secrets'] } })
    const path = '/api/v1/namespaces/default/secrets'
    const metadata = { name: 'login', labels: { of: 'all' } }
    await created(world.cluster, path, { metadata, data: { password: 'aHVudGVy' } })
    const query = '{ secrets { nodes { metadata { name labels } json } } }'
    const before = await world.gateway.data(query)
    await world.again(() => created(world.cluster, path, { metadata: { name: 'new' } }))
    const { secrets } = await world.gateway.data(query)
    expect(secrets.nodes[0]).toEqual(before['secrets'].nodes[0])
    expect(secrets.nodes.map(({ metadata: { name } }: Fields) => name)).toEqual(['login', 'new'])
    expect(listsOf(world.proxy, '/api/v1/secrets')).toEqual([])
    // Its keys are known as they were: neither is told as a change.
    await sent(world.cluster, 'PATCH', `${path}/login`, { metadata: { labels: { of: 'none' } } })
    await vi.waitFor(async () => {
      const { changes } = await world.gateway.data(
        '{ changes(types: ["Secret"], where: { name: { eq: "login" } }) { nodes { type fields { path } } } }',
      )
      expect(changes.nodes).toEqual([
        { type: 'MODIFIED', fields: [{ path: '/metadata/labels/of' }] },
      ])
    })
  })

  it('lists Secrets anew if a tool keeps a copy of one in its annotations, which it does not keep', async () => {
    await using world = await RestartedGateway.start({ archive: { kinds: ['secrets'] } })
    const annotations = { 'kapp.k14s.io/original': '{"data":{"password":"aHVudGVy"}}' }
    const metadata = { name: 'login', annotations }
    await created(world.cluster, '/api/v1/namespaces/default/secrets', { metadata })
    const query = '{ secrets { nodes { metadata { annotations } } } }'
    const before = await world.gateway.data(query)
    await world.again()
    expect(await world.gateway.data(query)).toEqual(before)
    expect(before['secrets'].nodes).toEqual([{ metadata: { annotations } }])
    expect(listsOf(world.proxy, '/api/v1/secrets')).toHaveLength(1)
  })

  it('lists kinds with masked fields, and tells those who resume by the fields as they are', async () => {
    const archive = { masked: ['Pod:/spec/nodeName', 'Pod:/metadata/labels/tier'] }
    await using world = await RestartedGateway.start({ archive })
    const told = async (name: string) => {
      const { changes } = await world.gateway.data(
        `{ changes(types: ["Pod"], where: { name: { eq: "${name}" } }) { nodes { type } incomplete { to } } }`,
      )
      return changes
    }
    // The archive has begun.
    await vi.waitFor(async () => expect((await told('a')).incomplete[0].to).not.toBeNull())
    const shown = { ...asked, selection: 'metadata { name uid labels } spec { nodeName }' }
    const live = resume(world.gateway.connect(), shown)
    await live.until(({ size }) => size === 3)
    live.leave()
    await world.label('c', 'y')
    await world.add('d')
    await vi.waitFor(async () => expect((await told('d')).nodes).toHaveLength(1))
    await world.again(() => world.add('e'))
    await vi.waitFor(async () => expect((await told('e')).nodes).toHaveLength(1))
    expect(listsOf(world.proxy, allPods)).toHaveLength(1)
    const resumed = resume(world.gateway.connect(), shown, live.seen.at(-1))
    await resumed.until(() => namesOf(resumed).includes('e'))
    expect(namesOf(resumed)).toEqual(['a', 'b', 'd', 'e'])
    for (const { metadata, spec } of resumed.held().values()) {
      expect({ ...metadata.labels, ...spec }).toEqual({ tier: 'x', nodeName: 'node-1' })
    }
    resumed.leave()
  })
})

import { randomUUID } from 'node:crypto'
import type { Storage } from 'informerql/simulator'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { describeNamespacedAccount } from '../gateway/namespaced-account.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { listsOf } from '../support/request-proxy.ts'
import {
  archiveUrls,
  ascending,
  changesOf,
  namesOf,
  podsIn,
  RestartedGateway,
} from './restarted-gateway.ts'

const uid = randomUUID()
const populate = (storage: Storage): void => {
  const resource = { group: '', version: 'v1', resource: 'namespaces' }
  for (const metadata of [{ name: 'kube-system', uid }, { name: 'shop' }, { name: 'elsewhere' }]) {
    storage.create(resource, { apiVersion: 'v1', kind: 'Namespace', metadata })
  }
}

const cachedIn = (...namespaces: readonly string[]) => ({ cache: { namespaces } })

describe.each(['file', 'postgres'])(
  'a gateway with an archive (%s) that starts again, and caches some namespaces only',
  (form) => {
    const nextUrl = archiveUrls(form)
    let world: RestartedGateway
    beforeEach(async ({ skip }) => {
      const url = await nextUrl(skip)
      const archive = url === undefined ? {} : { archive: { url, kinds: ['pods'] } }
      world = await RestartedGateway.start(
        { ...cachedIn('default', 'shop'), ...archive },
        { populate },
      )
      await world.add('s', 'x', 'shop')
      await world.add('far', 'x', 'elsewhere')
      await world.stand(4)
    })
    afterEach(() => world[Symbol.asyncDispose]())

    const names = async (): Promise<readonly string[]> => (await world.names()).toSorted(ascending)
    /** How many lists each namespace took. */
    const lists = (): Fields => {
      const paths = ['default', 'shop', 'elsewhere'].map((one) => [one, podsIn(one)] as const)
      return Object.fromEntries(
        [...paths, ['all', '/api/v1/pods'] as const].flatMap(([name, path]) => {
          const { length } = listsOf(world.proxy, path)
          return length === 0 ? [] : [[name, length]]
        }),
      )
    }
    const toldOf = async (name: string): Promise<readonly Fields[]> => {
      const { changes } = await world.gateway.data(
        `{ changes(types: ["Pod"], where: { name: { eq: "${name}" } }) { nodes { type after } } }`,
      )
      return changes.nodes
    }
    const gaps = async (): Promise<readonly Fields[]> => {
      const { changes } = await world.gateway.data(
        '{ changes(types: ["Pod"]) { incomplete { code } } }',
      )
      return changes.incomplete.filter(({ code }: Fields) => code === 'ARCHIVE_GAP')
    }

    it('sends no list, and shows and tells what happened in each of them', async () => {
      for (const [at, name] of ['d', 'e'].entries()) {
        await world.again(async () => {
          await world.add(`${name}-default`)
          await world.add(`${name}-shop`, 'x', 'shop')
          await world.label('s', name, 'shop')
          if (at === 1) await world.remove('b')
        })
        expect(await names()).toEqual(
          at === 0
            ? ['a', 'b', 'c', 'd-default', 'd-shop', 's']
            : ['a', 'c', 'd-default', 'd-shop', 'e-default', 'e-shop', 's'],
        )
        expect(lists()).toEqual({})
      }
      await expect.poll(async () => (await toldOf('b'))[0]?.type).toBe('REMOVED')
      await expect.poll(() => toldOf('s')).not.toHaveLength(0)
      for (const name of ['b', 'd-shop', 'e-default', 's']) {
        for (const { after } of await toldOf(name)) expect(after).not.toBeNull()
      }
      await world.add('live', 'x', 'shop')
      await expect.poll(() => toldOf('live')).toEqual([{ type: 'ADDED', after: null }])
      expect(await gaps()).toEqual([])
    })

    it('goes on with subscriptions: removals name what the list had, and what began to match is added', async () => {
      await world.add('elsewhere', 'y', 'shop')
      await world.add('begins', 'y', 'shop')
      const stood = await world.stand(4)
      await world.again(async () => {
        await world.remove('elsewhere', 'shop')
        await world.remove('b')
        await world.label('s', 'y', 'shop')
        await world.label('begins', 'x', 'shop')
        await world.add('comes')
        await world.add('passes', 'x', 'shop')
        await world.remove('passes', 'shop')
      })
      const live = world.follow(stood)
      await live.until(() => namesOf(live).includes('comes'))
      expect(namesOf(live)).toEqual(['a', 'begins', 'c', 'comes'])
      expect(live.seen[0]?.frame.reset).toBe(false)
      expect(changesOf(live, stood)).toEqual([
        'ADDED begins',
        'ADDED comes',
        'REMOVED b',
        'REMOVED s',
      ])
      live.leave()
      expect(lists()).toEqual({})
    })

    it('honours a token that was old already when it stopped, from what the archive has', async () => {
      await world.again()
      await world.add('elsewhere', 'y', 'shop')
      const stood = await world.stand(4)
      const other = world.follow()
      await other.until(({ size }) => size === 4)
      await world.remove('elsewhere', 'shop')
      await world.label('b', 'y')
      await world.remove('s', 'shop')
      await world.add('s', 'x', 'shop')
      await world.add('d')
      await other.until(() => namesOf(other).join() === 'a,c,d,s')
      const last = other.seen.at(-1)
      other.leave()
      await world.again(() => world.remove('c'))
      const live = world.follow(stood)
      await live.until(() => namesOf(live).join() === 'a,d,s')
      expect(live.seen[0]?.frame.reset).toBe(false)
      expect(changesOf(live, stood)).toEqual([
        'ADDED d',
        'ADDED s',
        'REMOVED b',
        'REMOVED c',
        'REMOVED s',
      ])
      live.leave()
      const newer = world.follow(last)
      await newer.until(() => namesOf(newer).join() === 'a,d,s')
      expect(newer.seen.map(({ frame }) => frame.reset)).not.toContain(true)
      newer.leave()
      expect(lists()).toEqual({})
    })

    it('lists only the namespace whose position the API server has forgotten, and tells a gap', async () => {
      const stood = await world.stand(4)
      await world.again(async () => {
        await world.remove('s', 'shop')
        await world.add('t', 'x', 'shop')
        await world.add('d')
        const match = { path: podsIn('shop'), verb: 'watch' } as const
        world.cluster.faults.inject({ fault: { type: 'expired' }, match })
      })
      expect(await names()).toEqual(['a', 'b', 'c', 'd', 't'])
      expect(lists()).toEqual({ shop: 1 })
      const live = world.follow(stood)
      await live.until(() => namesOf(live).join() === 'a,b,c,d,t')
      expect(live.seen[0]?.frame.reset).toBe(false)
      expect(changesOf(live, stood)).toEqual(['ADDED d', 'ADDED t', 'REMOVED s'])
      live.leave()
      await expect.poll(() => toldOf('s')).toHaveLength(1)
      for (const name of ['s', 't', 'd']) {
        for (const { after } of await toldOf(name)) expect(after).not.toBeNull()
      }
      await expect.poll(gaps).toHaveLength(1)
      await world.again()
      expect(await names()).toEqual(['a', 'b', 'c', 'd', 't'])
      expect(lists()).toEqual({})
    })

    it('tells the gap of a namespace whose watch was away, also where another one has come back meanwhile', async () => {
      await world.again()
      // A watch that has seen something is opened again, and lists nothing.
      await world.add('live', 'x', 'shop')
      await world.add('live')
      await expect.poll(() => toldOf('live')).toHaveLength(2)
      // The other namespace comes back after this one has failed, and before it is listed.
      const { faults } = world.cluster
      const inShop = { resource: 'pods', namespace: 'shop' } as const
      faults.inject({ fault: { type: 'expired' }, match: { ...inShop, verb: 'watch' } })
      // The first request is that which asks whether the server knows the position.
      const late = [{ type: 'none' }, { type: 'delay', forMs: 3_000 }] as const
      faults.inject({ fault: late, match: { ...inShop, verb: 'list' } })
      const others = { resource: 'pods', namespace: 'default', verb: 'watch' } as const
      faults.inject({ fault: { type: 'delay', forMs: 1_500 }, match: others })
      const leftMs = Date.now()
      faults.inject({ fault: { type: 'drop-connections' } })
      for (const tier of ['y', 'z']) {
        const isLabelled = async (): Promise<boolean> => {
          // Its connection may have been one of those.
          const labelled = world.label('s', tier, 'shop')
          return await labelled.then(
            () => true,
            () => false,
          )
        }
        await expect.poll(isLabelled).toBe(true)
      }
      await expect.poll(() => toldOf('s')).toHaveLength(1)
      const [{ after }] = (await toldOf('s')) as [Fields]
      expect(Date.parse(after)).toBeLessThanOrEqual(leftMs + 1_000)
      await expect.poll(gaps).toHaveLength(1)
    })

    it('lists only a namespace that is new; the objects of one that is left out are told as removed', async () => {
      await world.again(() => world.add('d'), cachedIn('default', 'shop', 'elsewhere'))
      expect(await names()).toEqual(['a', 'b', 'c', 'd', 'far', 's'])
      expect(lists()).toEqual({ elsewhere: 1 })
      await world.again(() => world.add('e'), cachedIn('default', 'elsewhere'))
      expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e', 'far'])
      expect(lists()).toEqual({})
      await expect.poll(() => toldOf('s')).toHaveLength(1)
      expect((await toldOf('s'))[0]).toMatchObject({ type: 'REMOVED' })
      await world.again(() => world.add('u', 'x', 'shop'))
      expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e', 's', 'u'])
      expect(lists()).toEqual({ shop: 1 })
    })

    it('has no namespace that is left out by name, and lists those that are not any more', async () => {
      const without = { cache: { excludeNamespaces: ['shop'] } }
      const all = { cache: {} }
      const seen: (readonly string[])[] = []
      for (const options of [all, without, without, all]) {
        await world.again(async () => {}, options)
        seen.push([...(await names()), String(lists()['all'] ?? 0)])
      }
      const left = ['a', 'b', 'c', 'far']
      const every = [...left, 's']
      expect(seen).toEqual([
        [...every, '1'],
        [...left, '1'],
        [...left, '0'],
        [...every, '1'],
      ])
    })

    it('takes nothing from the archive where the cluster was restored from a backup', async () => {
      for (const name of ['d', 'e', 'f']) {
        await world.add(name)
      }
      const stood = await world.stand(7)
      await world.again(() => world.exchange({ populate }))
      expect(await names()).toEqual([])
      const live = world.follow(stood)
      await live.until(({ size }) => size === 0)
      expect(live.seen[0]?.frame.reset).toBe(true)
      live.leave()
    })
  },
)

describeNamespacedAccount('An account with Roles in some namespaces, and an archive', (world) => {
  it('sends no list after a restart but of a namespace that was granted meanwhile', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-narrow-'))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rm(folder, { recursive: true }))
    const selection = await world().selection('restarted')
    await world().letListNamespaces('restarted')
    for (const namespace of ['red', 'green']) {
      await world().grant('restarted', namespace)
    }
    let lists: string[] = []
    const noted = (message: unknown): void => {
      const { request } = message as { readonly request: ClientRequest }
      const { pathname, searchParams } = new URL(request.path, 'http://host')
      const isWatch = searchParams.has('watch') && !searchParams.has('sendInitialEvents')
      const isRead = request.method === 'GET' && !isWatch
      if (isRead && pathname.endsWith('/pods')) lists.push(pathname)
    }
    subscribe('http.client.request.start', noted)
    stack.defer(() => void unsubscribe('http.client.request.start', noted))
    const serve = (): Promise<ServedGateway> =>
      serveGateway({
        clusters: [selection],
        preload: ['pods'],
        archive: { url: `file:${join(folder, 'archive.db')}`, kinds: ['pods'] },
      })
    const shown = async (gateway: ServedGateway): Promise<string> => {
      const { data } = await gateway.query(
        '{ pods { nodes { metadata { namespace name } } incomplete { code } } }',
      )
      const nodes: Fields[] = data?.pods?.nodes ?? []
      return nodes
        .map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
        .toSorted(ascending)
        .join()
    }
    const pods = 'green/first,green/second,red/first,red/second'
    const before = await serve()
    await expect.poll(() => shown(before)).toBe(pods)
    await before[Symbol.asyncDispose]()
    lists = []
    await world().makePod('red', 'third')
    const after = await serve()
    await expect.poll(() => shown(after)).toBe(`${pods},red/third`)
    expect(lists).toEqual([])
    await after[Symbol.asyncDispose]()
    await world().grant('restarted', 'blue')
    const last = stack.use(await serve())
    await expect.poll(() => shown(last)).toBe(`blue/first,blue/second,${pods},red/third`)
    expect(lists).toEqual([podsIn('blue')])
  })
})

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { reads, type SmallWorld, startSmallWorld } from '../access/small-world.ts'
import { caller, serveViewers, tokenOf, type ViewedGateway } from '../support/viewed-gateway.ts'
import { type AppList, apps, type Filters } from './followed-clients.ts'
import { profile, shopForTests } from './shop.ts'

const waitMs = { timeout: 60_000 }
const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/two/rolebindings'

describe.each(Object.entries(apps))(
  'lists that a viewer follows in the cache of %s',
  (name, start) => {
    const shop = shopForTests({ relay: true })
    let world: SmallWorld
    let gateway: ViewedGateway
    let open: (viewer: string) => (filters: Filters, first: number) => AppList

    beforeAll(async () => {
      const app = await start(shop())
      world = await startSmallWorld()
      gateway = await serveViewers({ clusters: [world.selection], profile, relay: true })
      open = (viewer) => {
        const who = caller(viewer)
        return app.open({
          url: gateway.url,
          socket: gateway.connect(who),
          fetch: (url, init) => {
            const headers = new Headers(init?.headers)
            headers.set('authorization', tokenOf(who))
            return fetch(url, { ...init, headers })
          },
        })
      }
    })

    afterAll(async () => {
      await gateway[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    })

    const textOf = (list: AppList): string => {
      const page = list.page()
      return [page?.rows.length, page?.totalCount, page?.hasNextPage].join(' ')
    }
    let viewers = 0
    const viewer = async (...namespaces: readonly string[]): Promise<string> => {
      const user = `${name.toLowerCase().replace(' ', '-')}-${viewers++}`
      for (const namespace of namespaces) {
        await world.allow(namespace, user, user, [reads('', 'pods')])
      }
      return user
    }
    const bind = (user: string) =>
      world.make(bindings, {
        metadata: { name: user },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: user },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      })

    it('lose the rows that the viewer may not see any more, and get them when rights come', async () => {
      const user = await viewer('one', 'two')
      const listIn = open(user)
      const all = listIn({}, 10)
      const one = listIn({ namespace: 'one' }, 10)
      await all.load()
      await one.load()
      using followsAll = all.follow()
      using followsOne = one.follow()
      await Promise.all([followsAll.synced, followsOne.synced])
      expect([textOf(all), textOf(one)]).toEqual(['2 2 false', '1 1 false'])
      await world.remove(`${bindings}/${user}`)
      await vi.waitFor(() => expect(textOf(all)).toBe('1 1 false'), waitMs)
      expect(textOf(one)).toBe('1 1 false')
      await bind(user)
      await vi.waitFor(() => expect(textOf(all)).toBe('2 2 false'), waitMs)
      await vi.waitFor(
        () => expect([followsAll.status, followsOne.status]).toEqual(['live', 'live']),
        waitMs,
      )
      expect(textOf(one)).toBe('1 1 false')
    })

    it('get the rows of a namespace that is opened to the viewer, also beyond a page', async () => {
      const user = await viewer('one')
      const list = open(user)({}, 1)
      await list.load()
      using following = list.follow()
      await following.synced
      expect(textOf(list)).toBe('1 1 false')
      await world.allow('two', user, user, [reads('', 'pods')])
      await vi.waitFor(() => expect(textOf(list)).toBe('2 2 false'), waitMs)
      expect(await following.fetchMore()).toBe(false)
      expect(textOf(list)).toBe('2 2 false')
    })

    it('fail and stay as they are where nothing is left of the rights, and others go on', async () => {
      const user = await viewer('one', 'two')
      const listIn = open(user)
      const one = listIn({ namespace: 'one' }, 10)
      const two = listIn({ namespace: 'two' }, 10)
      await one.load()
      await two.load()
      using followsOne = one.follow()
      using followsTwo = two.follow()
      await Promise.all([followsOne.synced, followsTwo.synced])
      await world.remove(`${bindings}/${user}`)
      await vi.waitFor(() => expect(followsTwo.status).toBe('failed'), waitMs)
      const { error } = followsTwo.getSnapshot()
      expect(error?.cause).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
      await vi.waitFor(() => expect(followsOne.status).toBe('live'), waitMs)
      expect([textOf(two), textOf(one)]).toEqual(['1 1 false', '1 1 false'])
      await bind(user)
      await vi.waitFor(async () => {
        using again = two.follow()
        await again.synced
      }, waitMs)
      expect(textOf(two)).toBe('1 1 false')
    })
  },
)

import { Client, fetchExchange, gql, subscriptionExchange } from '@urql/core'
import { cacheExchange, type CacheExchangeOpts } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { type Frame, liveLists, type PageFrame } from 'informerql/client'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { pageFetch, podNames, shopForTests, watchConsole } from './shop.ts'
import {
  framesText,
  labelsText,
  livePageText,
  type Page,
  pageText,
  type Pod,
  podNamesOf,
} from './shop-queries.ts'

const pageQuery = gql<Page>(pageText)
const labelsQuery = gql(labelsText)
const ownersQuery = gql`
  query Objects($id: ID!) {
    object(id: $id) {
      id
      kind
      ... on Pod {
        status {
          phase
        }
      }
      ... on KubernetesObject {
        apiVersion
      }
    }
  }
`
const framesSubscription = gql(framesText)

const matching = { first: 500, labelSelector: 'app=web' }
const names = (page: Page | undefined): readonly string[] => podNamesOf(page?.pods.nodes ?? [])

describe('urql', () => {
  const open = shopForTests()
  let config: Required<Pick<CacheExchangeOpts, 'keys' | 'possibleTypes'>>

  beforeAll(async () => {
    const { project, schema } = open()
    await project.write('urql.ts', await schema('--for', 'urql'))
    const { keys, possibleTypes } = (await project.load('urql.ts')) as typeof config
    config = { keys, possibleTypes }
  })

  const clientWith = (options: CacheExchangeOpts): Client => {
    const { gateway } = open()
    const socket = gateway.connect()
    return new Client({
      url: gateway.url,
      preferGetMethod: false,
      exchanges: [
        cacheExchange({ ...config, ...options }),
        fetchExchange,
        subscriptionExchange({
          forwardSubscription: ({ query = '', variables }) => ({
            subscribe: (sink) => ({
              unsubscribe: socket.subscribe(
                { query, variables },
                {
                  ...sink,
                  next: (answer) => sink.next(answer as Parameters<typeof sink.next>[0]),
                },
              ),
            }),
          }),
        }),
      ],
    })
  }

  it('takes the keys that are written for it, strictly typed', async () => {
    const { project } = open()
    await project.write(
      'app.ts',
      `import { cacheExchange } from '@urql/exchange-graphcache'
       import { keys, possibleTypes } from './urql.ts'
       export const exchange: ReturnType<typeof cacheExchange> = cacheExchange({ keys, possibleTypes })\n`,
    )
    expect(await project.compile()).toBe('')
  })

  it('pages through a list by its cursors, and joins the pages', async () => {
    using said = watchConsole()
    const client = clientWith({ resolvers: { Query: { pods: relayPagination() } } })
    let after: string | null | undefined
    let page: Page | undefined
    do {
      const { data, error } = await client.query(pageQuery, { first: 3, after }).toPromise()
      expect(error).toBeUndefined()
      page = data
      after = page?.pods.pageInfo.endCursor
    } while (page?.pods.pageInfo.hasNextPage === true)
    expect(names(page)).toEqual(podNames)
    expect(page?.pods.totalCount).toBe(podNames.length)
    expect(said.lines).toEqual([])
  })

  it('holds an object once, with all that several queries read of it', async () => {
    using said = watchConsole()
    const client = clientWith({})
    const variables = { first: 500 }
    await client.query(pageQuery, variables).toPromise()
    await client.query(labelsQuery, {}).toPromise()
    const page = client.readQuery(pageQuery, variables)?.data
    expect(names(page)).toEqual(podNames)
    const id = page?.pods.nodes[0]?.id
    const { data } = await client.query(ownersQuery, { id }).toPromise()
    expect(data?.object).toMatchObject({ id, kind: 'Pod', status: expect.anything() })
    expect(names(client.readQuery(pageQuery, variables)?.data)).toEqual(podNames)
    expect(said.lines).toEqual([])
  })

  it('asks by GET from a page of the same origin, as it does by itself', async () => {
    const page = pageFetch()
    const client = new Client({
      url: open().gateway.url,
      exchanges: [fetchExchange],
      fetch: page.fetch,
      preferGetMethod: 'within-url-limit',
    })
    const { data, error } = await client.query(pageQuery, { first: 500 }).toPromise()
    expect(error).toBeUndefined()
    expect(names(data)).toEqual(podNames)
    expect(page.methods).toEqual(['GET'])
  })

  it('folds the frames of a subscription into its lists', async () => {
    using said = watchConsole()
    const { addPod, deletePod, labelPod } = open()
    const client = clientWith({ updates: { Subscription: { pods: liveLists('pods') } } })
    const all = { first: 400 }
    await client.query(pageQuery, all).toPromise()
    await client.query(pageQuery, matching).toPromise()
    const listed = () => names(client.readQuery(pageQuery, matching)?.data)
    let synced = false
    const frames = client.subscription<{ pods: Frame<Pod> }>(framesSubscription, {
      labelSelector: 'app=web',
    })
    const following = frames.subscribe(({ data }) => {
      synced ||= data?.pods.synced === true
    })
    await vi.waitUntil(() => synced, 10_000)
    expect(listed()).toEqual(podNames)
    await addPod('web-new')
    await labelPod('web-d', 'other')
    const without = podNames.filter((name) => name !== 'web-d')
    await vi.waitFor(() => expect(listed()).toEqual([...without, 'web-new']), 10_000)
    // What only no longer matches is still there for others.
    expect(names(client.readQuery(pageQuery, all)?.data)).toEqual(podNames)
    await deletePod('web-c')
    const left = [...without.filter((name) => name !== 'web-c'), 'web-new']
    await vi.waitFor(() => expect(listed()).toEqual(left), 10_000)
    // A list with an object that is gone has to be asked for again.
    expect(client.readQuery(pageQuery, all)).toBeNull()
    following.unsubscribe()
    expect(said.lines).toEqual([])
  })

  it('pages through a list that frames change, without repetitions', async () => {
    using said = watchConsole()
    const { addPod, deletePod, labelPod } = open()
    const client = clientWith({
      resolvers: { Query: { pods: relayPagination() } },
      updates: { Subscription: { pods: liveLists('pods') } },
    })
    for (const name of ['p-b', 'p-d', 'p-f', 'p-h', 'p-j', 'p-l', 'p-n']) {
      await addPod(name)
      await labelPod(name, 'paged')
    }
    const variables = { first: 3, labelSelector: 'app=paged' }
    const fetched = async (after?: string | null) => {
      const { data } = await client
        .query(pageQuery, { ...variables, after }, { requestPolicy: 'cache-first' })
        .toPromise()
      return data?.pods
    }
    await vi.waitFor(async () => {
      const context = { requestPolicy: 'network-only' } as const
      const { data } = await client.query(pageQuery, variables, context).toPromise()
      expect(data?.pods.totalCount).toBe(7)
    }, 10_000)
    const page = () => client.readQuery(pageQuery, variables)?.data?.pods
    const listed = () => podNamesOf(page()?.nodes ?? []).join(' ')
    let synced = false
    const following = client
      .subscription<{ pods: Frame<Pod> }>(framesSubscription, { labelSelector: 'app=paged' })
      .subscribe(({ data }) => (synced ||= data?.pods.synced === true))
    await vi.waitUntil(() => synced, 10_000)
    expect(listed()).toBe('p-b p-d p-f')
    await fetched(page()?.pageInfo.endCursor)
    await vi.waitFor(() => expect(listed()).toBe('p-b p-d p-f p-h p-j p-l'))
    // A partial list takes rows out, and leaves rows that are behind it to the next page.
    await addPod('p-m')
    await labelPod('p-m', 'paged')
    await labelPod('p-d', 'other')
    await labelPod('p-l', 'other')
    await vi.waitFor(() => expect(listed()).toBe('p-b p-f p-h p-j'), 10_000)
    await vi.waitFor(() => expect(page()?.totalCount).toBe(6), 10_000)
    expect(page()?.pageInfo.hasNextPage).toBe(true)
    await fetched(page()?.pageInfo.endCursor)
    await vi.waitFor(() => expect(listed()).toBe('p-b p-f p-h p-j p-m p-n'))
    expect(page()?.pageInfo.hasNextPage).toBe(false)
    // A list that has no next page takes all.
    await addPod('p-a')
    await labelPod('p-a', 'paged')
    await vi.waitFor(() => expect(listed()).toBe('p-b p-f p-h p-j p-m p-n p-a'), 10_000)
    await vi.waitFor(() => expect(page()?.totalCount).toBe(7))
    following.unsubscribe()
    for (const letter of 'abdfhjlmn') await deletePod(`p-${letter}`)
    expect(said.lines).toEqual([])
  })

  it('keeps a list as its live page has it', async () => {
    using said = watchConsole()
    const { addPod, deletePod } = open()
    const client = clientWith({ updates: { Subscription: { podsPage: liveLists('pods') } } })
    const variables = { first: 3 }
    await client.query(pageQuery, variables).toPromise()
    const page = () => client.readQuery(pageQuery, variables)?.data?.pods
    const following = client
      .subscription<{ podsPage: PageFrame<Pod> }>(gql(livePageText), variables)
      .subscribe(() => {})
    await addPod('web-0')
    await vi.waitFor(() => expect(podNamesOf(page()?.nodes ?? [])[0]).toBe('web-0'), 10_000)
    expect(page()?.nodes).toHaveLength(3)
    expect(page()?.pageInfo).toMatchObject({ hasNextPage: true, endCursor: null })
    const { totalCount = 0 } = page() ?? {}
    await deletePod('web-0')
    await vi.waitFor(() => expect(podNamesOf(page()?.nodes ?? [])[0]).toBe('web-a'), 10_000)
    expect(page()?.totalCount).toBe(totalCount - 1)
    following.unsubscribe()
    expect(said.lines).toEqual([])
  })
})

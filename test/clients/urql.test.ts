import { Client, fetchExchange, gql, subscriptionExchange } from '@urql/core'
import {
  cacheExchange,
  type CacheExchangeOpts,
  type UpdateResolver,
} from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { type Frame, foldNodes, goneObjects } from 'informerql/client'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { pageFetch, podNames, shopForTests, watchConsole } from './shop.ts'
import {
  framesText,
  labelsText,
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

/** Folds frames into the list that they are about, and forgets what is gone. */
const foldPods: UpdateResolver = (result, _args, cache) => {
  const frame = result['pods'] as Frame<Pod>
  cache.updateQuery({ query: pageQuery, variables: matching }, (page) =>
    page === null
      ? page
      : { ...page, pods: { ...page.pods, nodes: foldNodes(page.pods.nodes, frame) } },
  )
  for (const id of goneObjects(frame)) cache.invalidate({ __typename: 'Pod', id })
}

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
    const client = clientWith({ updates: { Subscription: { pods: foldPods } } })
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
})

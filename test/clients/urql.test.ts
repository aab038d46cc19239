import { Client, fetchExchange, gql, subscriptionExchange } from '@urql/core'
import { cacheExchange, type CacheExchangeOpts } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { buildSchema, type GraphQLInterfaceType, isAbstractType } from 'graphql'
import type { Frame, withNewerKinds } from 'informerql/client'
import { followUrqlList, liveCache } from 'informerql/client/urql'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { define, definitionOf, versionOf } from '../gateway/definitions.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { pageFetch, podNames, profile, shop, shopForTests, watchConsole } from './shop.ts'
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

const cardText = `
  fragment Card on KubernetesObject {
    id
    kind
    metadata { name }
  }
`
const cardQuery = gql(`
  query Card($id: ID!, $version: Boolean!) {
    object(id: $id) {
      ...Card
      ... on KubernetesObject @include(if: $version) { apiVersion }
    }
  }
  ${cardText}
`)
const widgetsQuery = gql(`
  query Widgets {
    stableExampleComWidgets {
      nodes { ...Card ... on StableExampleComWidget { spec { ruleId: id size } } }
    }
  }
  ${cardText}
`)
const widgetFrames = gql<{ stableExampleComWidgets: Frame<Pod> }>(`
  subscription WidgetFrames {
    stableExampleComWidgets {
      reset synced
      changes { type removal objectId object { ...Card ... on KubernetesObject { labels } } }
    }
  }
  ${cardText}
`)

const matching = { first: 500, labelSelector: 'app=web' }
const names = (page: Page | undefined): readonly string[] => podNamesOf(page?.pods.nodes ?? [])

/** A `fetch` that notes the bodies that it sends. */
const recorded =
  (bodies: unknown[]): typeof fetch =>
  (url, init) => {
    bodies.push(init?.body)
    return fetch(url, init)
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

  interface ClientWith {
    readonly gateway?: ServedGateway
    /** What is around the cache; default: {@link liveCache}. */
    readonly newer?: typeof withNewerKinds
    readonly fetchWith?: typeof fetch
  }

  const clientWith = (
    options: CacheExchangeOpts,
    { gateway = open().gateway, newer, fetchWith = fetch }: ClientWith = {},
  ): Client => {
    const socket = gateway.connect()
    return new Client({
      url: gateway.url,
      fetch: fetchWith,
      preferGetMethod: false,
      exchanges: [
        newer === undefined
          ? liveCache(cacheExchange, { ...config, ...options })
          : newer(cacheExchange({ ...config, ...options })),
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
    const { project, schema } = open()
    // It is types only that come from elsewhere.
    const text = await schema('--for', 'urql')
    expect(text.match(/^import .*/gm)).toEqual([expect.stringMatching(/^import type /)])
    await project.write(
      'app.ts',
      `import type { Exchange } from '@urql/core'
       import { cacheExchange } from '@urql/exchange-graphcache'
       import { withNewerKinds } from '@informerql/client'
       import { keys, possibleTypes } from './urql.ts'
       export const exchange: Exchange = withNewerKinds(cacheExchange({ keys, possibleTypes }))\n`,
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

  it('may drop conditions on KubernetesObject, since all objects of an abstract type are of it', async () => {
    const schema = buildSchema(await open().schema())
    const abstract = Object.values(schema.getTypeMap()).filter((type) => isAbstractType(type))
    const all = new Set(
      schema.getPossibleTypes(schema.getType('KubernetesObject') as GraphQLInterfaceType),
    )
    expect(abstract.map(({ name }) => name)).toEqual(['KubernetesObject', 'Workload'])
    for (const type of abstract) {
      expect(schema.getPossibleTypes(type).filter((one) => !all.has(one))).toEqual([])
    }
  })

  it('shows objects of a kind that is newer than its module, by fragments on KubernetesObject', async () => {
    using said = watchConsole()
    const { cluster } = open()
    const group = 'stable.example.com'
    const include = { ...profile.include, groups: [group] }
    const clusters = [{ name: 'default', ...cluster.selection }]
    await using gateway = await serveGateway({ clusters, profile: { include } })
    const properties = { id: { type: 'string' }, size: { type: 'integer' } }
    await define(cluster, definitionOf('Widget', group, [versionOf('v1', properties)]))
    for (const [name, size] of Object.entries({ gear: 3, wheel: 5 })) {
      const metadata = { name, labels: { size: String(size) } }
      const body = { apiVersion: `${group}/v1`, kind: 'Widget', metadata, spec: { id: 'a', size } }
      await vi.waitFor(async () => {
        const path = `/apis/${group}/v1/namespaces/${shop}/widgets`
        expect(await cluster.request(path, { method: 'POST', body })).toMatchObject({ status: 201 })
      }, 10_000)
    }
    const listed = await vi.waitFor(
      () => gateway.data('{ stableExampleComWidgets { nodes { id } } }'),
      20_000,
    )
    const [{ id }] = listed.stableExampleComWidgets.nodes

    const sent: unknown[] = []
    const client = clientWith({}, { gateway, fetchWith: recorded(sent) })
    const gear = {
      id,
      kind: 'Widget',
      metadata: { name: 'gear' },
    }
    const variables = { id, version: true }
    const asked = await client.query(cardQuery, variables).toPromise()
    const object = { ...gear, apiVersion: `${group}/v1` }
    expect(asked.data).toMatchObject({ object })
    expect(client.readQuery(cardQuery, variables)?.data).toMatchObject({ object })
    // The cache has less where the query asks for less.
    const less = client.readQuery(cardQuery, { id, version: false })?.data?.object
    expect(less).toMatchObject(gear)
    expect(less).not.toHaveProperty('apiVersion')

    await client.query(widgetsQuery, {}).toPromise()
    const sizes = client.readQuery(widgetsQuery, {})?.data
    const specs = [{ size: 3 }, { size: 5 }].map((spec) => ({ spec }))
    expect(sizes).toMatchObject({ stableExampleComWidgets: { nodes: specs } })

    const frames: unknown[] = []
    const following = client.subscription(widgetFrames, {}).subscribe(({ data }) => {
      frames.push(...(data?.stableExampleComWidgets.changes ?? []))
    })
    await vi.waitFor(() => expect(frames).toHaveLength(2), 10_000)
    expect(frames).toContainEqual(
      expect.objectContaining({
        object: expect.objectContaining({ ...gear, labels: { size: '3' } }),
      }),
    )
    following.unsubscribe()
    expect(said.lines).toEqual([])

    // By itself, the cache leaves such fragments out of what it answers, and asks the same.
    const alone: unknown[] = []
    const plain = clientWith({}, { gateway, newer: (cache) => cache, fetchWith: recorded(alone) })
    const blank = await plain.query(cardQuery, variables).toPromise()
    expect(blank.data?.object).not.toHaveProperty('kind')
    await plain.query(widgetsQuery, {}).toPromise()
    expect(sent).toEqual(alone)
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
    const client = clientWith({})
    const all = { first: 400 }
    await client.query(pageQuery, all).toPromise()
    await client.query(pageQuery, matching).toPromise()
    const listed = () => names(client.readQuery(pageQuery, matching)?.data)
    const following = followUrqlList<Pod, object>(client, {
      query: pageQuery,
      variables: matching,
      subscription: framesSubscription,
    })
    await following.synced
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
    following.close()
    expect(said.lines).toEqual([])
  })

  it('pages through a list that frames change, without repetitions', async () => {
    using said = watchConsole()
    const { addPod, deletePod, labelPod } = open()
    const client = clientWith({ resolvers: { Query: { pods: relayPagination() } } })
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
    const following = followUrqlList<Pod, object>(client, {
      query: pageQuery,
      variables,
      subscription: framesSubscription,
    })
    await following.synced
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
    following.close()
    for (const letter of 'abdfhjlmn') await deletePod(`p-${letter}`)
    expect(said.lines).toEqual([])
  })

  it('keeps a list as its live page has it', async () => {
    using said = watchConsole()
    const { addPod, deletePod } = open()
    const client = clientWith({})
    const variables = { first: 3 }
    await client.query(pageQuery, variables).toPromise()
    const page = () => client.readQuery(pageQuery, variables)?.data?.pods
    const following = followUrqlList<Pod, object>(client, {
      query: pageQuery,
      variables,
      subscription: gql(livePageText),
    })
    await addPod('web-0')
    await vi.waitFor(() => expect(podNamesOf(page()?.nodes ?? [])[0]).toBe('web-0'), 10_000)
    expect(page()?.nodes).toHaveLength(3)
    expect(page()?.pageInfo).toMatchObject({ hasNextPage: true, endCursor: null })
    const { totalCount = 0 } = page() ?? {}
    await deletePod('web-0')
    await vi.waitFor(() => expect(podNamesOf(page()?.nodes ?? [])[0]).toBe('web-a'), 10_000)
    expect(page()?.totalCount).toBe(totalCount - 1)
    following.close()
    expect(said.lines).toEqual([])
  })
})

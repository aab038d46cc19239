import { ApolloClient, gql, InMemoryCache, type InMemoryCacheConfig } from '@apollo/client/core'
import { HttpLink } from '@apollo/client/link/http'
import { Client, fetchExchange, gql as urqlGql } from '@urql/core'
import { cacheExchange, type CacheExchangeOpts } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { liveCache } from 'informerql/client/urql'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { compileRelayApp, type RelayApp } from './relay-app.ts'
import { shop, shopForTests, watchConsole } from './shop.ts'

const labelsText = 'id ... on Pod { metadata { labels } }'
const nowText = `query PastNowQuery($id: ID!) { object(id: $id) { ${labelsText} } }`
const thenText = `query PastThenQuery($id: ID!, $at: DateTime) { object(id: $id, at: $at) { ${labelsText} } }`
const changesText = `query PastChangesQuery($first: Int, $after: String) {
  changes(first: $first, after: $after, types: ["Pod"], where: { type: { eq: MODIFIED } }) {
    edges { cursor node { id type object { id name } } } pageInfo { endCursor hasNextPage } } }`
const historyText = `query PastHistoryQuery($id: ID!, $first: Int, $after: String) {
  object(id: $id) { id ... on Pod { history(first: $first, after: $after) {
    edges { cursor node { id type fields { path } } } pageInfo { endCursor hasNextPage } } } } }`

/** As a client of a fleet would read it: by a cache that knows objects by their `id` alone. */
interface ReadingClient {
  readonly query: (text: string, variables: Fields) => Promise<Fields>
  /** What the cache has, without a request. */
  readonly cached: (text: string, variables: Fields) => Promise<Fields>
}

describe('The past, in a cache that normalises', () => {
  const open = shopForTests({ relay: true, archive: { url: 'memory:', kinds: ['pods'] } })
  let apollo: InMemoryCacheConfig
  let urql: Required<Pick<CacheExchangeOpts, 'keys' | 'possibleTypes'>>
  let relay: RelayApp
  let id = ''
  /** Before the pod was noted. */
  let before = ''

  beforeAll(async () => {
    const { project, schema, gateway, notePod } = open()
    await project.write('apollo.ts', await schema('--for', 'apollo'))
    apollo = (await project.load('apollo.ts')) as InMemoryCacheConfig
    await project.write('urql.ts', await schema('--for', 'urql'))
    const { keys, possibleTypes } = (await project.load('urql.ts')) as typeof urql
    urql = { keys, possibleTypes }
    const operations = [nowText, thenText, changesText, historyText]
    const sources = operations.map((text, at) => `export const past${at} = graphql\`${text}\``)
    relay = await compileRelayApp(project, await schema('--for', 'relay'), sources.join('\n'))
    await vi.waitFor(async () => {
      const { changes } = await gateway.data('{ changes(types: ["Pod"]) { incomplete { to } } }')
      if (changes.incomplete[0]?.to === null) throw new Error('it has not begun')
    }, 20_000)
    before = new Date().toISOString()
    for (const name of ['web-a', 'web-b', 'web-c']) await notePod(name, 'new')
    await vi.waitFor(async () => {
      const { changes } = await gateway.data(changesText, { first: 10 })
      if (changes.edges.length < 3) throw new Error('not seen')
    }, 20_000)
    const { pod } = await gateway.data(`{ pod(namespace: "${shop}", name: "web-a") { id } }`)
    ;({ id } = pod)
  })

  const clients: readonly (readonly [string, () => ReadingClient])[] = [
    [
      'Apollo Client',
      () => {
        const link = new HttpLink({ uri: open().gateway.url })
        const client = new ApolloClient({ cache: new InMemoryCache(apollo), link })
        return {
          query: async (text, variables) =>
            (await client.query<Fields>({ query: gql(text), variables })).data ?? {},
          cached: async (text, variables) =>
            client.readQuery<Fields>({ query: gql(text), variables }),
        }
      },
    ],
    [
      'urql',
      () => {
        const pages = { Query: { changes: relayPagination() }, Pod: { history: relayPagination() } }
        const cache = liveCache(cacheExchange, { ...urql, resolvers: pages })
        const { url } = open().gateway
        const client = new Client({
          url,
          preferGetMethod: false,
          exchanges: [cache, fetchExchange],
        })
        const read = async (text: string, variables: Fields, offline: boolean): Promise<Fields> => {
          const requestPolicy = offline ? 'cache-only' : 'cache-first'
          const result = await client.query(urqlGql(text), variables, { requestPolicy }).toPromise()
          return result.data
        }
        return {
          query: (text, variables) => read(text, variables, false),
          cached: (text, variables) => read(text, variables, true),
        }
      },
    ],
    [
      'Relay',
      () => {
        const { gateway } = open()
        const store = relay.open(gateway, gateway.connect())
        const nameOf = (text: string): string => /query (\w+)/.exec(text)?.[1] ?? ''
        return {
          query: async (text, variables) => (await store.run(nameOf(text), variables)) as Fields,
          cached: async (text, variables) => (await store.look(nameOf(text), variables)) as Fields,
        }
      },
    ],
  ]

  describe.each(clients)('of %s', (_name, start) => {
    it('a past object does not stand for the present one, and is fetched again by its own id', async () => {
      using said = watchConsole()
      const client = start()
      const now = await client.query(nowText, { id })
      const then = await client.query(thenText, { id, at: before })
      expect(now['object'].metadata.labels).toMatchObject({ note: 'new' })
      expect(then['object'].metadata.labels).not.toHaveProperty('note')
      expect(await client.cached(nowText, { id })).toEqual(now)
      expect(await client.cached(thenText, { id, at: before })).toEqual(then)
      const again = await client.query(nowText, { id: then['object'].id })
      expect(again['object']).toEqual(then['object'])
      expect(said.lines).toEqual([])
    })

    it('changes and the history of an object are connections with pages', async () => {
      using said = watchConsole()
      const client = start()
      const names: string[] = []
      for (let after: string | undefined; ;) {
        const { changes } = await client.query(changesText, { first: 1, after })
        names.push(changes.edges.at(-1).node.object.name)
        if (changes.pageInfo.hasNextPage !== true) break
        after = changes.pageInfo.endCursor
      }
      expect(names).toEqual(['web-c', 'web-b', 'web-a'])
      const { object } = await client.query(historyText, { id, first: 1 })
      expect(object.history.edges).toMatchObject([{ node: { type: 'MODIFIED' } }])
      expect(said.lines).toEqual([])
    })
  })

  it('only look-ups read the id of a past object', async () => {
    const { gateway } = open()
    const { object } = await gateway.data(thenText, { id, at: before })
    expect(object.id).toBe(`${id}@${before}`)
    const refused = await gateway.query(
      'query ($id: ID!) { changes(ids: [$id]) { nodes { id } } pods(ids: [$id]) { nodes { id } } objects(ids: [$id]) { id } fetch__Pod(id: $id) { id } fetch__Node(id: $id) { id } }',
      { id: object.id },
    )
    expect(refused.data).toEqual({
      changes: null,
      pods: null,
      objects: [{ id: object.id }],
      fetch__Pod: { id: object.id },
      fetch__Node: null,
    })
    expect(refused.errors?.map(({ extensions }) => extensions.code)).toEqual([
      'BAD_USER_INPUT',
      'BAD_USER_INPUT',
      'BAD_USER_INPUT',
    ])
  })
})

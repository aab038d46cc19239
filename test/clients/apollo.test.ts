import { createHash } from 'node:crypto'
import {
  ApolloClient,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
  type InMemoryCacheConfig,
  type OperationVariables,
} from '@apollo/client/core'
import { OperationTypeNode } from 'graphql'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { ApolloLink } from '@apollo/client/link'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import {
  foldConnection,
  type Frame,
  FrameFold,
  goneObjects,
  PageFold,
  type PageFrame,
} from 'informerql/client'
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

const pageQuery = gql(pageText)
const labelsQuery = gql(labelsText)
const framesSubscription = gql(framesText)
const edgesQuery = gql`
  query Edges($after: String) {
    node(name: "n-0") {
      id
      pods(first: 3, after: $after) {
        edges {
          cursor
          node {
            id
            metadata {
              name
            }
          }
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  }
`

describe('Apollo Client', () => {
  const open = shopForTests()
  let config: InMemoryCacheConfig

  beforeAll(async () => {
    const { project, schema } = open()
    await project.write('apollo.ts', await schema('--for', 'apollo'))
    config = (await project.load('apollo.ts')) as InMemoryCacheConfig
  })

  const clientWith = (cache: InMemoryCache): ApolloClient => {
    const { gateway } = open()
    const link = ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink(gateway.connect()),
      new HttpLink({ uri: gateway.url }),
    )
    return new ApolloClient({ cache, link })
  }

  it('asks by the hashes of documents by GET from a page of the same origin', async () => {
    const page = pageFetch()
    const link = new PersistedQueryLink({
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
      useGETForHashedQueries: true,
    }).concat(new HttpLink({ uri: open().gateway.url, fetch: page.fetch }))
    const client = new ApolloClient({ cache: new InMemoryCache(config), link })
    const options = { query: pageQuery, variables: { first: 500 } } as const
    for (const methods of [['GET', 'POST'], ['GET']]) {
      const { data } = await client.query<Page>({ ...options, fetchPolicy: 'network-only' })
      expect(podNamesOf(data?.pods.nodes ?? [])).toEqual(podNames)
      expect(page.methods.splice(0)).toEqual(methods)
    }
  })

  it('takes the policies that are written for it, strictly typed', async () => {
    const { project, schema } = open()
    const text = await schema('--for', 'apollo')
    const imports = text.match(/^import (?!type ).*/gm)
    expect(imports).toEqual([expect.stringMatching(/ from '@informerql\/client'$/)])
    await project.write(
      'app.ts',
      `import { InMemoryCache } from '@apollo/client/core'
       import { possibleTypes, typePolicies } from './apollo.ts'
       export const cache: InMemoryCache = new InMemoryCache({ possibleTypes, typePolicies })\n`,
    )
    expect(await project.compile()).toBe('')
  })

  it('pages through a list by its cursors', async () => {
    using said = watchConsole()
    const client = clientWith(new InMemoryCache(config))
    const variables = { first: 3 }
    await client.query({ query: pageQuery, variables })
    const list = client.watchQuery<Page>({ query: pageQuery, variables })
    const watching = list.subscribe(() => {})
    const page = () => (list.getCurrentResult().data as Page).pods
    const cursors: (string | null)[] = []
    while (page().pageInfo.hasNextPage) {
      const { nodes, pageInfo } = page()
      cursors.push(pageInfo.endCursor)
      await list.fetchMore({ variables: { after: pageInfo.endCursor } })
      // Watchers hear of it in a moment.
      await vi.waitUntil(() => page().nodes.length > nodes.length)
    }
    watching.unsubscribe()
    expect(podNamesOf(page().nodes)).toEqual(podNames)
    expect(page().totalCount).toBe(podNames.length)
    const [after] = cursors
    const second = client.readQuery<Page>({ query: pageQuery, variables: { first: 3, after } })
    expect(podNamesOf(second?.pods.nodes ?? [])).toEqual(podNames.slice(3, 6))
    // A list of another length is another list.
    expect(client.readQuery({ query: pageQuery, variables: { first: 2 } })).toBeNull()
    expect(said.lines).toEqual([])
  })

  it('pages through a relation by the cursors of its edges', async () => {
    const client = clientWith(new InMemoryCache(config))
    interface Edges {
      readonly node: {
        readonly pods: {
          readonly edges: readonly { readonly cursor: string; readonly node: Pod }[]
        }
      }
    }
    await client.query({ query: edgesQuery })
    const list = client.watchQuery<Edges>({ query: edgesQuery })
    const watching = list.subscribe(() => {})
    const edges = () => (list.getCurrentResult().data as Edges).node.pods.edges
    while (edges().length < podNames.length) {
      const { length } = edges()
      await list.fetchMore({ variables: { after: edges().at(-1)?.cursor } })
      await vi.waitUntil(() => edges().length > length)
    }
    expect(podNamesOf(edges().map(({ node }) => node))).toEqual(podNames)
    client.cache.evict({
      id: client.cache.identify({ __typename: 'Pod', id: edges()[0]?.node.id ?? '' }) ?? '',
    })
    await vi.waitUntil(() => edges().length < podNames.length)
    expect(podNamesOf(edges().map(({ node }) => node))).toEqual(podNames.slice(1))
    watching.unsubscribe()
  })

  it('shows objects of kinds that are newer than its policies', () => {
    using said = watchConsole()
    const cache = new InMemoryCache(config)
    const __typename = 'StableExampleComWidget'
    const card = gql`
      query Card($id: ID!) {
        object(id: $id) {
          ...Card
        }
      }
      fragment Card on KubernetesObject {
        id
        kind
        metadata {
          name
        }
      }
    `
    const spec = (field: 'size' | 'color') => gql`
      query Spec($id: ID!) {
        object(id: $id) {
          id
          ... on StableExampleComWidget {
            spec {
              ${field}
            }
          }
        }
      }
    `
    const variables = { id: '1' }
    const metadata = { __typename: 'ObjectMeta', name: 'gear' }
    const object = { __typename, id: '1', kind: 'Widget', metadata }
    cache.writeQuery({ query: card, variables, data: { object } })
    for (const part of [{ size: 3 }, { color: 'red' }]) {
      const data = { object: { __typename, id: '1', spec: { __typename: 'WidgetSpec', ...part } } }
      cache.writeQuery({ query: spec('size' in part ? 'size' : 'color'), variables, data })
    }
    expect(cache.readQuery({ query: card, variables })).toEqual({ object })
    for (const [field, value] of Object.entries({ size: 3, color: 'red' })) {
      expect(cache.readQuery({ query: spec(field as 'size'), variables })).toMatchObject({
        object: { spec: { [field]: value } },
      })
    }
    expect(Object.keys(cache.extract())).toContain(`${__typename}:{"id":"1"}`)
    // In development, Apollo Client says once what its policies do not have.
    expect(said.lines).toEqual([expect.stringMatching(`Inferring subtype .*${__typename}`)])
  })

  it('keeps the rest of an answer when a list is refused', async () => {
    using said = watchConsole()
    const client = clientWith(new InMemoryCache(config))
    const query = gql`
      query Both($first: Int, $after: String) {
        nodes {
          nodes {
            id
            metadata {
              name
            }
          }
        }
        pods(first: $first, after: $after) {
          nodes {
            id
          }
        }
      }
    `
    const ask = async (variables: OperationVariables) => {
      const { data, error } = await client.query<Record<'nodes' | 'pods', unknown>>({
        query,
        variables,
        errorPolicy: 'all',
        fetchPolicy: 'network-only',
      })
      return { ...data, code: CombinedGraphQLErrors.is(error) && error.errors[0]?.extensions }
    }
    const whole = { nodes: { nodes: [{ metadata: { name: 'n-0' } }] } }
    const refused = (argument: string) => ({
      ...whole,
      pods: null,
      code: { code: 'BAD_USER_INPUT', argument },
    })
    expect(await ask({ first: 600 })).toMatchObject(refused('first'))
    expect(client.readQuery({ query, variables: { first: 600 } })).toMatchObject({ pods: null })
    expect(await ask({ first: 2, after: 'no cursor' })).toMatchObject(refused('after'))
    expect(await ask({ first: 2 })).toMatchObject({ ...whole, pods: { nodes: [{}, {}] } })
    expect(said.lines).toEqual([])
  })

  it('holds an object once, with all that several queries read of it', async () => {
    using said = watchConsole()
    const read = async (cache: InMemoryCache): Promise<Page | null> => {
      const client = clientWith(cache)
      await client.query({ query: pageQuery, variables: { first: 500 } })
      await client.query({ query: labelsQuery })
      return client.readQuery<Page>({ query: pageQuery, variables: { first: 500 } })
    }
    const cache = new InMemoryCache(config)
    expect(podNamesOf((await read(cache))?.pods.nodes ?? [])).toEqual(podNames)
    const held = Object.keys(cache.extract()).filter((id) => id.startsWith('Pod:'))
    expect(held).toHaveLength(podNames.length)
    expect(said.lines).toEqual([])
    // By its defaults, the second query takes the names away.
    expect(await read(new InMemoryCache())).toBeNull()
  })

  it('folds the frames of a subscription into its lists', async () => {
    using said = watchConsole()
    const { addPod, deletePod, labelPod } = open()
    const cache = new InMemoryCache(config)
    const client = clientWith(cache)
    const all = { query: pageQuery, variables: { first: 500 } }
    const matching = { query: pageQuery, variables: { first: 500, labelSelector: 'app=web' } }
    await client.query(all)
    await client.query(matching)
    const listed = (of: typeof all): readonly string[] =>
      podNamesOf(client.readQuery<Page>(of)?.pods.nodes ?? [])
    const frames = client.subscribe<{ pods: Frame<Pod> }>({
      query: framesSubscription,
      variables: { labelSelector: 'app=web' },
    })
    const fold = new FrameFold<Pod>()
    const following = frames.subscribe(({ data }) => {
      if (data === undefined) return
      fold.apply(data.pods)
      cache.updateQuery<Page>(matching, (page) =>
        page === null ? page : { ...page, pods: foldConnection(page.pods, fold) },
      )
      for (const id of goneObjects(data.pods)) {
        cache.evict({ id: cache.identify({ __typename: 'Pod', id }) ?? '' })
      }
    })
    await vi.waitUntil(() => fold.complete, 10_000)
    expect(listed(matching)).toEqual(podNames)
    await addPod('web-new')
    await deletePod('web-c')
    await labelPod('web-d', 'other')
    const expected = [...podNames.filter((name) => name !== 'web-c' && name !== 'web-d'), 'web-new']
    await vi.waitFor(() => expect(listed(matching)).toEqual(expected), 10_000)
    following.unsubscribe()
    // What is deleted is gone from every list; what only no longer matches is still in the others.
    expect(listed(all)).toEqual(podNames.filter((name) => name !== 'web-c'))
    expect(said.lines).toEqual([])
  })

  it('pages through a list that frames change, without repetitions', async () => {
    using said = watchConsole()
    const { addPod, deletePod, labelPod } = open()
    const cache = new InMemoryCache(config)
    const client = clientWith(cache)
    const label = { app: 'paged' }
    for (const name of ['p-b', 'p-d', 'p-f', 'p-h', 'p-j', 'p-l', 'p-n']) {
      await addPod(name)
      await labelPod(name, label.app)
    }
    const labelSelector = `app=${label.app}`
    const options = { query: pageQuery, variables: { first: 3, labelSelector } }
    await vi.waitFor(async () => {
      const { data } = await client.query<Page>({ ...options, fetchPolicy: 'network-only' })
      expect(data?.pods.totalCount).toBe(7)
    }, 10_000)
    const list = client.watchQuery<Page>(options)
    const watching = list.subscribe(() => {})
    const page = () => client.readQuery<Page>(options)?.pods
    const names = () => podNamesOf(page()?.nodes ?? []).join(' ')
    const fold = new FrameFold<Pod>()
    const following = client
      .subscribe<{ pods: Frame<Pod> }>({ query: framesSubscription, variables: { labelSelector } })
      .subscribe(({ data }) => {
        if (data === undefined) return
        fold.apply(data.pods)
        cache.updateQuery<Page>(options, (found) =>
          found === null ? found : { ...found, pods: foldConnection(found.pods, fold) },
        )
      })
    await vi.waitUntil(() => fold.complete, 10_000)
    expect(names()).toBe('p-b p-d p-f')
    await list.fetchMore({ variables: { after: page()?.pageInfo.endCursor } })
    await vi.waitFor(() => expect(names()).toBe('p-b p-d p-f p-h p-j p-l'))
    // A partial list takes rows out, and leaves rows that are behind it to the next page.
    await addPod('p-m')
    await labelPod('p-m', label.app)
    await labelPod('p-d', 'other')
    await labelPod('p-l', 'other')
    await vi.waitFor(() => expect(names()).toBe('p-b p-f p-h p-j'), 10_000)
    await vi.waitFor(() => expect(page()?.totalCount).toBe(6), 10_000)
    expect(page()?.pageInfo.hasNextPage).toBe(true)
    await list.fetchMore({ variables: { after: page()?.pageInfo.endCursor } })
    await vi.waitFor(() => expect(names()).toBe('p-b p-f p-h p-j p-m p-n'))
    expect(page()?.pageInfo.hasNextPage).toBe(false)
    // A list that has no next page takes all.
    await addPod('p-a')
    await labelPod('p-a', label.app)
    await vi.waitFor(() => expect(names()).toBe('p-b p-f p-h p-j p-m p-n p-a'), 10_000)
    expect(page()?.totalCount).toBe(7)
    following.unsubscribe()
    watching.unsubscribe()
    for (const name of fold.objects.values()) await deletePod(name.metadata.name)
    for (const name of ['p-d', 'p-l']) await deletePod(name)
    expect(said.lines).toEqual([])
  })

  it('keeps a list as its live page has it', async () => {
    using said = watchConsole()
    const { addPod, deletePod } = open()
    const cache = new InMemoryCache(config)
    const client = clientWith(cache)
    const options = { query: pageQuery, variables: { first: 3 } }
    await client.query<Page>(options)
    const fold = new PageFold<Pod>()
    const following = client
      .subscribe<{ podsPage: PageFrame<Pod> }>({
        query: gql(livePageText),
        variables: { first: 3 },
      })
      .subscribe(({ data }) => {
        if (data === undefined) return
        fold.apply(data.podsPage)
        cache.updateQuery<Page>(options, (page) =>
          page === null ? page : { ...page, pods: foldConnection(page.pods, fold) },
        )
      })
    const listed = () => client.readQuery<Page>(options)?.pods
    await addPod('web-0')
    await vi.waitFor(() => expect(podNamesOf(listed()?.nodes ?? [])[0]).toBe('web-0'), 10_000)
    expect(listed()?.nodes).toHaveLength(3)
    expect(listed()?.totalCount).toBe(fold.totalCount)
    expect(listed()?.pageInfo).toMatchObject({ hasNextPage: true, endCursor: null })
    await deletePod('web-0')
    await vi.waitFor(() => expect(podNamesOf(listed()?.nodes ?? [])[0]).toBe('web-a'), 10_000)
    following.unsubscribe()
    expect(said.lines).toEqual([])
  })

  it('forgets the pages behind a first one that ends elsewhere than before', async () => {
    const client = clientWith(new InMemoryCache(config))
    const options = { query: pageQuery, variables: { first: 3 } }
    const { data } = await client.query<Page>(options)
    const { nodes = [], pageInfo } = data?.pods ?? {}
    await client.query({
      query: pageQuery,
      variables: { first: 3, after: pageInfo?.endCursor },
    })
    const listed = () => podNamesOf(client.readQuery<Page>(options)?.pods.nodes ?? [])
    expect(listed()).toHaveLength(6)
    await open().addPod('web-aa')
    await vi.waitUntil(async () => {
      await client.query({ ...options, fetchPolicy: 'network-only' })
      return listed().includes('web-aa')
    }, 10_000)
    expect(listed()).toEqual(['web-a', 'web-aa', nodes[1]?.metadata.name])
  })
})

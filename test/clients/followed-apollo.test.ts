import {
  ApolloClient,
  type DocumentNode,
  gql,
  HttpLink,
  InMemoryCache,
  type InMemoryCacheConfig,
} from '@apollo/client/core'
import { ApolloLink } from '@apollo/client/link'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { OperationTypeNode } from 'graphql'
import { followApolloList } from 'informerql/client/apollo'
import { Observable } from 'rxjs'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { shop, shopForTests, watchConsole } from './shop.ts'
import { type Page, type Pod, podNamesOf } from './shop-queries.ts'

const pageQuery = gql`
  query Page($first: Int, $after: String, $labelSelector: String) {
    pods(namespace: "${shop}", first: $first, after: $after, labelSelector: $labelSelector) {
      nodes { id metadata { name labels } }
      totalCount
      pageInfo { endCursor hasNextPage }
    }
  }
`
const framesSubscription = gql`
  subscription Frames($labelSelector: String, $resumeFrom: String) {
    pods(namespace: "${shop}", labelSelector: $labelSelector, resumeFrom: $resumeFrom, coalesceMs: 0) {
      reset synced resumeToken
      changes { type removal objectId object { id metadata { name labels } } }
    }
  }
`
const livePageSubscription = gql`
  subscription LivePage($first: Int, $labelSelector: String) {
    podsPage(namespace: "${shop}", first: $first, labelSelector: $labelSelector, coalesceMs: 0) {
      reset synced totalCount
      changes { step index from objectId object { id metadata { name labels } } }
    }
  }
`
const waitMs = { timeout: 10_000 }

/** A link in front of the frames: closed, it keeps them. */
class Gate extends ApolloLink {
  #open = true
  readonly #kept: (() => void)[] = []

  override request(
    operation: ApolloLink.Operation,
    forward: ApolloLink.ForwardFunction,
  ): Observable<ApolloLink.Result> {
    return new Observable((sink) =>
      forward(operation).subscribe({
        next: (value) => this.#pass(() => sink.next(value)),
        error: (error: unknown) => this.#pass(() => sink.error(error)),
        complete: () => this.#pass(() => sink.complete()),
      }),
    )
  }

  close(): void {
    this.#open = false
  }

  open(): void {
    this.#open = true
    for (const pass of this.#kept.splice(0)) pass()
  }

  #pass(pass: () => void): void {
    if (this.#open) pass()
    else this.#kept.push(pass)
  }
}

describe('a list that is followed in the cache of Apollo Client', () => {
  const open = shopForTests()
  let config: InMemoryCacheConfig
  let label = 0

  beforeAll(async () => {
    const { project, schema } = open()
    await project.write('apollo.ts', await schema('--for', 'apollo'))
    config = (await project.load('apollo.ts')) as InMemoryCacheConfig
  })

  /** A client, pods of an own label, and what its cache shows of them. */
  const opened = async (letters: string, cacheConfig = config) => {
    const { gateway, addPod, deletePod, labelPod } = open()
    const app = `app-${label++}`
    const add = async (letter: string) => {
      await addPod(`${app}-${letter}`)
      await labelPod(`${app}-${letter}`, app)
    }
    for (const letter of letters) await add(letter)
    const gate = new Gate()
    const cache = new InMemoryCache(cacheConfig)
    const link = ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      gate.concat(new GraphQLWsLink(gateway.connect())),
      new HttpLink({ uri: gateway.url }),
    )
    const client = new ApolloClient({ cache, link })
    const variables = { first: 3, labelSelector: `app=${app}` }
    const options = { query: pageQuery, variables } as const
    const counts = async (count: number) =>
      vi.waitFor(async () => {
        const { data } = await client.query<Page>({ ...options, fetchPolicy: 'no-cache' })
        expect(data?.pods.totalCount).toBe(count)
      }, waitMs)
    await counts(letters.length)
    const page = () => client.readQuery<Page>(options)?.pods
    const names = () =>
      podNamesOf(page()?.nodes ?? [])
        .map((name) => name.slice(app.length + 1))
        .join('')
    /** Every state in which the cache says that the list is whole. */
    const whole: string[] = []
    const note = () => {
      if (page()?.pageInfo.hasNextPage === false && whole.at(-1) !== names()) whole.push(names())
    }
    cache.watch({ ...options, optimistic: false, callback: note })
    return {
      ...{ client, cache, gate, options, page, names, whole, counts, add, app },
      follow: (more: { compare?: (a: Pod, b: Pod) => number; subscription?: DocumentNode } = {}) =>
        followApolloList<Pod, object>(client, { ...options, subscription: framesSubscription, ...more }),
      remove: (letter: string) => deletePod(`${app}-${letter}`),
      relabel: (letter: string) => labelPod(`${app}-${letter}`, 'other'),
    }
  }

  it('is whole when it is fetched to its end, whatever came into the pages before', async () => {
    using said = watchConsole()
    const list = await opened('bdfhjln')
    await list.client.query(list.options)
    using following = list.follow()
    await following.synced
    expect(list.names()).toBe('bdf')
    await list.add('a')
    await list.add('e')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(9), waitMs)
    while (await following.fetchMore()) expect(list.page()?.pageInfo.hasNextPage).toBe(true)
    expect([...list.names()].toSorted().join('')).toBe('abdefhjln')
    expect(list.page()).toMatchObject({ totalCount: 9, pageInfo: { hasNextPage: false } })
    expect(new Set(list.whole.map((one) => one.length))).toEqual(new Set([9]))
    expect(said.lines).toEqual([])
  })

  it('is not said to be whole before the frames have what its pages count', async () => {
    const list = await opened('bdfhjln')
    await list.client.query(list.options)
    using following = list.follow()
    await following.synced
    list.gate.close()
    await list.add('a')
    await list.add('c')
    await list.remove('d')
    await list.counts(8)
    let isDone = false
    const fetched = (async () => {
      while (await following.fetchMore());
      isDone = true
    })()
    await vi.waitFor(() => expect(list.names().length).toBeGreaterThan(5), waitMs)
    expect(isDone).toBe(false)
    expect(list.whole).toEqual([])
    list.gate.open()
    await fetched
    expect([...list.names()].toSorted().join('')).toBe('abcfhjln')
    expect(new Set(list.whole.map((one) => one.length))).toEqual(new Set([8]))
  })

  it('is not said to be whole before the first snapshot, however it is fetched', async () => {
    const list = await opened('bdfhjln')
    const watched = list.client.watchQuery<Page>(list.options)
    const watching = watched.subscribe(() => {})
    await vi.waitFor(() => expect(list.names()).toBe('bdf'), waitMs)
    list.gate.close()
    using following = list.follow()
    await list.add('a')
    await list.counts(8)
    // As a component does, with the cursors of the list.
    for (let pages = 0; pages < 2; pages++) {
      await watched.fetchMore({ variables: { after: list.page()?.pageInfo.endCursor } })
    }
    await vi.waitFor(() => expect(list.names()).toBe('bdfhjln'), waitMs)
    expect(list.page()?.pageInfo.hasNextPage).toBe(true)
    list.gate.open()
    await following.synced
    await vi.waitFor(() => expect(list.page()?.pageInfo.hasNextPage).toBe(false), waitMs)
    expect([...list.names()].toSorted().join('')).toBe('abdfhjln')
    expect(new Set(list.whole.map((one) => one.length))).toEqual(new Set([8]))
    watching.unsubscribe()
  })

  it('takes rows out and evicts what is deleted, and leaves what another list shows', async () => {
    const list = await opened('abc')
    const other = { query: pageQuery, variables: { first: 400 } }
    await list.client.query(list.options)
    await list.client.query(other)
    using following = list.follow()
    await following.synced
    const [a, b] = list.page()?.nodes ?? []
    await list.relabel('a')
    await list.remove('b')
    await vi.waitFor(() => expect(list.names()).toBe('c'), waitMs)
    const shown = podNamesOf(list.client.readQuery<Page>(other)?.pods.nodes ?? [])
    expect(shown).toContain(a?.metadata.name)
    expect(shown).not.toContain(b?.metadata.name)
    const id = list.cache.identify({ __typename: 'Pod', id: b?.id ?? '' }) ?? ''
    expect(Object.keys(list.cache.extract())).not.toContain(id)
  })

  it('keeps an order, and joins a new row at its place', async () => {
    const list = await opened('bdf')
    await list.client.query(list.options)
    const byName = (one: Pod, other: Pod) => (one.metadata.name < other.metadata.name ? -1 : 1)
    using following = list.follow({ compare: byName })
    await following.synced
    await list.add('c')
    await list.add('a')
    await vi.waitFor(() => expect(list.names()).toBe('abcdf'), waitMs)
  })

  it('does not bring back what a mutation has evicted', async () => {
    const list = await opened('abc')
    await list.client.query(list.options)
    using following = list.follow()
    await following.synced
    const [a] = list.page()?.nodes ?? []
    list.cache.evict({ id: list.cache.identify({ ...a, __typename: 'Pod' }) ?? '' })
    expect(list.names()).toBe('bc')
    await list.add('d')
    await vi.waitFor(() => expect(list.names()).toContain('d'), waitMs)
    expect(list.names()).toBe('bcd')
    await list.remove('a')
  })

  it('follows a list that comes into the cache later, and again after a reset of the store', async () => {
    const list = await opened('bdfh')
    using following = list.follow()
    await following.synced
    expect(await following.fetchMore()).toBe(true)
    expect(list.names()).toBe('bdf')
    await list.add('a')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(5), waitMs)
    expect(await following.fetchMore()).toBe(false)
    expect(list.names()).toBe('bdfha')
    await list.client.clearStore()
    await list.client.query(list.options)
    await Promise.resolve()
    expect(list.page()).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: true } })
    expect(await following.fetchMore()).toBe(false)
    expect([...list.names()].toSorted().join('')).toBe('abdfh')
  })

  it('stays a list of its own when it is closed, and says no more than it knows', async () => {
    const list = await opened('bdfhj')
    await list.client.query(list.options)
    const following = list.follow()
    await following.synced
    await list.add('a')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(6), waitMs)
    expect(await following.fetchMore()).toBe(false)
    following.close()
    expect([...list.names()].toSorted().join('')).toBe('abdfhj')
    await list.add('k')
    await list.counts(7)
    const { data } = await list.client.query<Page>({ ...list.options, fetchPolicy: 'network-only' })
    expect(data?.pods).toMatchObject({ totalCount: 7, pageInfo: { hasNextPage: true } })
  })

  it('is what its live page is', async () => {
    const list = await opened('bdfh')
    await list.client.query(list.options)
    using following = list.follow({ subscription: livePageSubscription })
    await following.synced
    await list.add('a')
    await vi.waitFor(() => expect(list.names()).toBe('abd'), waitMs)
    expect(list.page()).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: true } })
    await expect(following.fetchMore()).rejects.toThrow('a live page has no next page')
  })

  it('needs no policies but keys', async () => {
    const list = await opened('bdfh', { typePolicies: { Pod: { keyFields: ['id'] } } })
    using following = list.follow()
    await list.client.query(list.options)
    await following.synced
    await list.add('a')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(5), waitMs)
    expect(await following.fetchMore()).toBe(false)
    expect(list.names()).toBe('bdfha')
  })

  it('says which field its subscription lacks', async () => {
    const list = await opened('a')
    const subscription = gql`
      subscription Frames($labelSelector: String) {
        pods(labelSelector: $labelSelector) { reset synced changes { type objectId object { id } } }
      }
    `
    using following = list.follow({ subscription })
    await expect(following.synced).rejects.toThrow('must select `changes { removal }`')
    expect(following.status).toBe('failed')
  })
})

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client/core'
import type { InMemoryCacheConfig, TypedDocumentNode } from '@apollo/client/core'
import { ApolloLink } from '@apollo/client/link'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { Client, fetchExchange, gql as urqlGql, subscriptionExchange } from '@urql/core'
import { cacheExchange, type CacheExchangeOpts } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { OperationTypeNode } from 'graphql'
import type { Client as SocketClient } from 'graphql-ws'
import { followApolloList, type FollowedList } from 'informerql/client/apollo'
import { followRelayList, liveEnvironment } from 'informerql/client/relay'
import { followUrqlList, liveCache } from 'informerql/client/urql'
import {
  createOperationDescriptor,
  fetchQuery,
  getRequest,
  type GraphQLResponse,
  type GraphQLTaggedNode,
  Network,
  Observable,
  RecordSource,
  Store,
} from 'relay-runtime'
import type { Shop } from './shop.ts'
import type { Page, Pod } from './shop-queries.ts'

interface AppPage {
  readonly names: readonly string[]
  readonly rows: readonly AppRow[]
  readonly totalCount: number
  readonly hasNextPage: boolean
}

interface AppRow extends Pod {
  readonly clusterName: string
  readonly metadata: Pod['metadata'] & { readonly labels: Readonly<Record<string, string>> }
}

/** A list of pods, as an app has it in the cache of its client. */
export interface AppList {
  /** The list in the cache; `undefined` while it is not there. */
  readonly page: () => AppPage | undefined
  /** Reads the first page. */
  readonly load: () => Promise<void>
  /** Reads the next page, without the help of the follower. */
  readonly next: () => Promise<void>
  readonly follow: (options?: FollowWith) => FollowedList<Pod>
  /** Calls the listener with each state of the list in the cache. */
  readonly onChange: (listener: (page: AppPage | undefined) => void) => void
  /** Lets the cache drop what nothing holds, where it does so by itself; and how many records it has. */
  readonly collect?: () => void
  readonly records?: () => number
}

interface FollowWith {
  readonly compare?: (one: Pod, other: Pod) => number
  readonly isPage?: boolean
  /** A subscription without `removal`. */
  readonly isBroken?: boolean
  readonly socket?: SocketClient
}

/** Which pods are in a list. */
export interface Filters {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly clusters?: readonly string[]
  readonly clusterSelector?: string
}

/** How a client reaches its gateway. */
export interface Reach {
  readonly url: string
  readonly socket: SocketClient
  readonly fetch?: typeof fetch
}

export interface App {
  /** A client with an empty cache; returns a list in it. */
  readonly open: (reach: Reach) => (filters: Filters, first: number) => AppList
}

const row = 'id clusterName metadata { name labels }'
const filterNames = ['namespace', 'labelSelector', 'clusters', 'clusterSelector'] as const
const declared =
  '$namespace: String, $labelSelector: String, $clusters: [String!], $clusterSelector: String'
const passed = filterNames.map((name) => `${name}: $${name}`).join(', ')
const texts = {
  page: `query Page($first: Int, $after: String, ${declared}) {
    pods(${passed}, first: $first, after: $after) {
      nodes { ${row} } totalCount pageInfo { endCursor hasNextPage }
    }
  }`,
  frames: `subscription Frames(${declared}, $resumeFrom: String) {
    pods(${passed}, resumeFrom: $resumeFrom, coalesceMs: 0) {
      reset synced resumeToken incomplete { cluster code }
      changes { type removal objectId object { ${row} } }
    }
  }`,
  live: `subscription Live($first: Int, ${declared}) {
    podsPage(${passed}, first: $first, coalesceMs: 0) {
      reset synced totalCount
      changes { step index from objectId object { ${row} } }
    }
  }`,
  broken: `subscription Broken(${declared}) {
    pods(${passed}) {
      reset synced changes { type objectId object { ${row} } }
    }
  }`,
}

interface AppPods extends Omit<Page['pods'], 'nodes'> {
  readonly nodes: readonly AppRow[]
}

const textOf = ({ isPage = false, isBroken = false }: FollowWith): string =>
  isPage ? texts.live : isBroken ? texts.broken : texts.frames

const shown = (list: AppPods | undefined): AppPage | undefined =>
  list && {
    names: list.nodes.map(({ metadata }) => metadata.name),
    rows: list.nodes,
    totalCount: list.totalCount,
    hasNextPage: list.pageInfo.hasNextPage,
  }

async function openApollo({ project, schema }: Shop): Promise<App> {
  await project.write('apollo.ts', await schema('--for', 'apollo'))
  const config = (await project.load('apollo.ts')) as InMemoryCacheConfig
  return {
    open({ url, socket, fetch: fetchBy = fetch }) {
      const cache = new InMemoryCache(config)
      const link = ApolloLink.split(
        ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
        new GraphQLWsLink(socket),
        new HttpLink({ uri: url, fetch: fetchBy }),
      )
      const client = new ApolloClient({ cache, link })
      const query: TypedDocumentNode<{ readonly pods: AppPods }> = gql(texts.page)
      return (filters, first) => {
        const variables = { first, ...filters }
        const list = () => client.readQuery({ query, variables })?.pods
        return {
          page: () => shown(list()),
          load: async () =>
            void (await client.query({ query, variables, fetchPolicy: 'network-only' })),
          async next() {
            const watched = client.watchQuery({ query, variables })
            const watching = watched.subscribe(() => {})
            await watched.fetchMore({ variables: { after: list()?.pageInfo.endCursor } })
            watching.unsubscribe()
          },
          follow: (options = {}) =>
            followApolloList<Pod, object>(client, {
              ...options,
              query,
              variables,
              subscription: gql(textOf(options)),
            }),
          onChange(listener) {
            const callback = () => listener(shown(list()))
            cache.watch({ query, variables, optimistic: false, callback })
          },
        }
      }
    },
  }
}

async function openUrql({ project, schema }: Shop): Promise<App> {
  await project.write('urql.ts', await schema('--for', 'urql'))
  const config = (await project.load('urql.ts')) as CacheExchangeOpts
  return {
    open({ url, socket, fetch: fetchBy = fetch }) {
      const client = new Client({
        url,
        fetch: fetchBy,
        preferGetMethod: false,
        exchanges: [
          liveCache(cacheExchange, {
            keys: config.keys ?? {},
            possibleTypes: config.possibleTypes ?? {},
            resolvers: { Query: { pods: relayPagination() } },
          }),
          fetchExchange,
          subscriptionExchange({
            forwardSubscription: ({ query = '', variables = {} }) => ({
              subscribe: (sink) => ({
                unsubscribe: socket.subscribe({ query, variables }, sink as never),
              }),
            }),
          }),
        ],
      })
      const query = urqlGql<{ readonly pods: AppPods }, object>(texts.page)
      return (filters, first) => {
        const variables = { first, ...filters }
        const list = () => client.readQuery(query, variables)?.data?.pods
        const ask = async (more: object) =>
          void (await client
            .query(query, { ...variables, ...more }, { requestPolicy: 'network-only' })
            .toPromise())
        return {
          page: () => shown(list()),
          load: () => ask({}),
          next: () => ask({ after: list()?.pageInfo.endCursor }),
          follow: (options = {}) =>
            followUrqlList<Pod, object>(client, {
              ...options,
              query,
              variables,
              subscription: textOf(options),
            }),
          onChange(listener) {
            client
              .query(query, variables, { requestPolicy: 'cache-only' })
              .subscribe(({ data }) => listener(shown(data?.pods)))
          },
        }
      }
    },
  }
}

async function openRelay({ project, schema }: Shop): Promise<App> {
  await mkdir(join(project.dir, 'src'), { recursive: true })
  await project.write('schema.graphql', await schema('--for', 'relay'))
  const page = `query FollowedPageQuery($first: Int, $after: String, ${declared}) {
    pods(${passed}, first: $first, after: $after)
      @connection(key: "Followed_pods", filters: ${JSON.stringify(filterNames)}) {
      totalCount
      edges { node { ${row} } }
    }
  }`
  const named = (text: string, name: string) =>
    text.replace(/subscription \w+/, `subscription ${name}`)
  const all = [
    page,
    named(texts.frames, 'FollowedFramesSubscription'),
    named(texts.live, 'FollowedLiveSubscription'),
    named(texts.broken, 'FollowedBrokenSubscription'),
  ]
  await project.write(
    'src/Followed.js',
    `import { graphql } from 'relay-runtime'\n${all.map((text, at) => `export const d${at} = graphql\`${text}\``).join('\n')}`,
  )
  const settings = { src: './src', schema: './schema.graphql', language: 'javascript' }
  await project.write('relay.config.json', JSON.stringify({ ...settings, eagerEsModules: true }))
  await project.program('relay-compiler', 'relay.config.json')
  const artifact = async (name: string): Promise<GraphQLTaggedNode> =>
    (
      (await project.load(`src/__generated__/Followed${name}.graphql.js`)) as {
        default: GraphQLTaggedNode
      }
    ).default
  const query = await artifact('PageQuery')
  const frames = await artifact('FramesSubscription')
  const live = await artifact('LiveSubscription')
  const broken = await artifact('BrokenSubscription')
  return {
    open({ url, socket, fetch: fetchBy = fetch }) {
      const environment = liveEnvironment({
        network: Network.create(
          async ({ text }, variables) => {
            const response = await fetchBy(url, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ query: text, variables }),
            })
            return (await response.json()) as GraphQLResponse
          },
          ({ text }, variables) =>
            Observable.create((sink) =>
              socket.subscribe({ query: text ?? '', variables }, sink as never),
            ),
        ),
        // Collects what nothing holds as early as it can.
        store: new Store(new RecordSource(), { gcReleaseBufferSize: 0 }),
      })
      return (filters, first) => {
        const variables = { first, ...filters }
        const operation = createOperationDescriptor(getRequest(query), variables)
        environment.retain(operation)
        interface Connection {
          readonly totalCount: number
          readonly edges: readonly { readonly node: AppRow | null }[]
          readonly pageInfo: Page['pods']['pageInfo']
        }
        const list = () => {
          const { data } = environment.lookup(operation.fragment)
          const { pods } = (data ?? {}) as { readonly pods?: Connection }
          return pods && { ...pods, nodes: pods.edges.flatMap(({ node }) => node ?? []) }
        }
        const ask = async (more: object) => {
          const force = { networkCacheConfig: { force: true } }
          await fetchQuery(environment, query, { ...variables, ...more }, force).toPromise()
        }
        return {
          page: () => shown(list()),
          load: () => ask({}),
          next: () => ask({ after: list()?.pageInfo.endCursor }),
          follow: ({ compare, isPage = false, isBroken = false, socket: followed } = {}) =>
            followRelayList<Pod>(environment, {
              compare,
              socket: followed,
              connection: 'Followed_pods',
              filters,
              subscription: isPage ? live : isBroken ? broken : frames,
              variables: isPage ? variables : filters,
              query,
              queryVariables: variables,
              cursorVariable: 'after',
            }),
          onChange(listener) {
            const snapshot = environment.lookup(operation.fragment)
            environment.subscribe(snapshot, () => listener(shown(list())))
          },
          collect: () =>
            environment.retain(createOperationDescriptor(getRequest(live), {})).dispose(),
          records: () => environment.getStore().getSource().getRecordIDs().length,
        }
      }
    },
  }
}

/** The clients that keep lists in a cache, in the settings that docs/clients.md shows. */
export const apps: Readonly<Record<string, (shop: Shop) => Promise<App>>> = {
  'Apollo Client': openApollo,
  urql: openUrql,
  Relay: openRelay,
}

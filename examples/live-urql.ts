/**
 * A list in urql's Graphcache, kept right by a subscription. Prints it whenever it changes.
 *
 *     npm exec -- node --conditions=informerql-source examples/live-urql.ts [url]
 *     node node_modules/informerql/dist/examples/live-urql.js [url]   # with @informerql/client, @urql/core and Graphcache
 */
import { followUrqlList, liveCache } from '@informerql/client/urql'
import { Client, fetchExchange, gql, subscriptionExchange } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'

interface PodList {
  readonly pods: {
    readonly nodes: readonly { readonly id: string; readonly metadata: { readonly name: string } }[]
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
  }
}

const podList = gql<PodList, { first: number; after?: string }>`
  query PodList($first: Int, $after: String) {
    pods(first: $first, after: $after) {
      nodes {
        id
        metadata {
          name
        }
      }
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`
const podFrames = gql`
  subscription PodFrames($resumeFrom: String) {
    pods(resumeFrom: $resumeFrom) {
      reset
      synced
      resumeToken
      changes {
        type
        removal
        objectId
        object {
          id
          metadata {
            name
          }
        }
      }
    }
  }
`

const url = process.argv[2] ?? 'http://127.0.0.1:4000/graphql'
const socket = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket })
const part = (): null => null
const client = new Client({
  url,
  preferGetMethod: false,
  exchanges: [
    liveCache(cacheExchange, {
      // A portal takes the keys that `informerql schema --for urql` writes.
      keys: { ObjectMeta: part, PodFrame: part, PodChange: part },
      resolvers: { Query: { pods: relayPagination() } },
    }),
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: ({ query = '', variables }) => ({
        subscribe: (sink) => ({
          unsubscribe: socket.subscribe({ query, variables: variables as {} }, sink as never),
        }),
      }),
    }),
  ],
})

const variables = { first: 100 }
const following = followUrqlList(client, {
  query: podList,
  variables,
  subscription: podFrames,
  socket,
})
client.query(podList, variables, { requestPolicy: 'cache-only' }).subscribe(({ data }) => {
  if (data === undefined || data === null) return
  const names = data.pods.nodes.map(({ metadata }) => metadata.name)
  const more = data.pods.pageInfo.hasNextPage ? ' …' : ''
  console.log(`pods: ${names.toSorted().join(' ')}${more}`)
})
following.subscribe(() => {
  const { status, error } = following.getSnapshot()
  if (error !== undefined) console.error(`${status}: ${error.message}`)
})
while (await following.fetchMore());

/**
 * A list in the cache of Apollo Client, kept right by a subscription. Prints it whenever it changes.
 *
 *     npm exec -- node --conditions=informerql-source examples/live-apollo.ts [url]
 *     node node_modules/informerql/dist/examples/live-apollo.js [url]   # with @informerql/client and @apollo/client
 */
import {
  ApolloClient,
  gql,
  HttpLink,
  InMemoryCache,
  type TypedDocumentNode,
} from '@apollo/client/core'
import { ApolloLink } from '@apollo/client/link'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { followApolloList } from '@informerql/client/apollo'
import { OperationTypeNode } from 'graphql'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'

interface PodList {
  readonly pods: {
    readonly nodes: readonly { readonly id: string; readonly metadata: { readonly name: string } }[]
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
  }
}

const podList: TypedDocumentNode<PodList, { first: number; after?: string }> = gql`
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
const client = new ApolloClient({
  // A portal takes the policies that `informerql schema --for apollo` writes.
  cache: new InMemoryCache({ typePolicies: { Pod: { keyFields: ['id'] } } }),
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(socket),
    new HttpLink({ uri: url }),
  ),
})

const variables = { first: 100 }
const following = followApolloList(client, {
  query: podList,
  variables,
  subscription: podFrames,
  socket,
})
client
  .watchQuery({ query: podList, variables, fetchPolicy: 'cache-only' })
  .subscribe(({ data, dataState }) => {
    if (dataState !== 'complete') return
    const names = data.pods.nodes.map((pod) => pod.metadata.name)
    const more = data.pods.pageInfo.hasNextPage ? ' …' : ''
    console.log(`pods: ${names.toSorted().join(' ')}${more}`)
  })
following.subscribe(() => {
  const { status, error } = following.getSnapshot()
  if (error !== undefined) console.error(`${status}: ${error.message}`)
})
while (await following.fetchMore());

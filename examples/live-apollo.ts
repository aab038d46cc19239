/**
 * A list in the cache of Apollo Client, kept right by the frames of a subscription. Prints it whenever it changes.
 *
 *     npm exec -- node --conditions=informerql-source examples/live-apollo.ts [url]
 *     node node_modules/informerql/dist/examples/live-apollo.js [url]   # where the package is installed
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
import { OperationTypeNode } from 'graphql'
import { createClient } from 'graphql-ws'
import { foldConnection, type Frame, FrameFold, goneObjects } from 'informerql/client'
import { WebSocket } from 'ws'

interface Pod {
  readonly id: string
  readonly metadata: { readonly name: string }
}

interface PodList {
  readonly pods: {
    readonly nodes: readonly Pod[]
    readonly pageInfo: { readonly hasNextPage: boolean }
    readonly resumeToken: string
  }
}

const podList: TypedDocumentNode<PodList, object> = gql`
  query PodList {
    pods(first: 500) {
      nodes {
        id
        metadata {
          name
        }
      }
      pageInfo {
        hasNextPage
      }
      resumeToken
    }
  }
`
const podFrames: TypedDocumentNode<{ pods: Frame<Pod> }, { resumeFrom?: string }> = gql`
  subscription PodFrames($resumeFrom: String) {
    pods(resumeFrom: $resumeFrom) {
      reset
      synced
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

const { data } = await client.query({ query: podList })
client.watchQuery({ query: podList, fetchPolicy: 'cache-only' }).subscribe((result) => {
  const names = result.data?.pods?.nodes?.map((pod) => pod?.metadata?.name ?? '') ?? []
  console.log(`pods: ${names.toSorted().join(' ')}`)
})
// A whole list goes on as a subscription from where it was read. For a part of one, the subscription begins with a snapshot.
const isWhole = data?.pods.pageInfo.hasNextPage === false
const fold = new FrameFold(isWhole ? data.pods.nodes : undefined)
const variables = isWhole ? { resumeFrom: data.pods.resumeToken } : {}
client.subscribe({ query: podFrames, variables }).subscribe((result) => {
  const frame = result.data?.pods
  if (frame === undefined) return
  fold.apply(frame)
  client.cache.updateQuery({ query: podList }, (page) =>
    page === null ? undefined : { ...page, pods: foldConnection(page.pods, fold) },
  )
  for (const id of goneObjects(frame)) {
    client.cache.evict({ id: client.cache.identify({ __typename: 'Pod', id }) ?? '' })
  }
})

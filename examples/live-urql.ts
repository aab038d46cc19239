/**
 * Frames of a subscription by urql, folded into a list. Prints it whenever it changes.
 *
 *     npm exec -- node --conditions=informerql-source examples/live-urql.ts [url]
 *     node node_modules/informerql/dist/examples/live-urql.js [url]   # where the package is installed
 */
import { Client, fetchExchange, gql, subscriptionExchange } from '@urql/core'
import { createClient } from 'graphql-ws'
import { type Frame, FrameFold } from 'informerql/client'
import { WebSocket } from 'ws'

interface Pod {
  readonly id: string
  readonly metadata: { readonly name: string }
}

const podFrames = gql<{ pods: Frame<Pod> }, object>`
  subscription PodFrames {
    pods {
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
const client = new Client({
  url,
  preferGetMethod: false,
  exchanges: [
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

const pods = new FrameFold<Pod>()
client.subscription(podFrames, {}).subscribe(({ data, error }) => {
  if (error !== undefined) throw error
  if (data === undefined) return
  pods.apply(data.pods)
  if (!pods.synced) return
  const names = [...pods.objects.values()].map(({ metadata }) => metadata.name)
  console.log(`pods: ${names.toSorted().join(' ')}`)
})

/**
 * Follows the pods of a running gateway by graphql-ws and prints how many there are in each phase, whenever that changes. The
 * gateway may go and come back meanwhile.
 *
 *     npm start                                                        # in one terminal
 *     npm exec -- node --conditions=informerql-source examples/live-pods.ts [url]   # in another
 *     node node_modules/informerql/dist/examples/live-pods.js [url]   # where the package is installed
 */
import { createClient } from 'graphql-ws'
import { liveCollection } from '@informerql/client'
import { WebSocket } from 'ws'

interface Pod {
  readonly status: { readonly phase: string | null } | null
}

const url = process.argv[2] ?? 'ws://127.0.0.1:4000/graphql'
const client = createClient({ url, webSocketImpl: WebSocket, shouldRetry: () => true })
const pods = liveCollection<Pod>({
  client,
  query: `subscription ($resumeFrom: String) {
    pods(resumeFrom: $resumeFrom) {
      reset synced resumeToken
      changes { type removal objectId object { status { phase } } }
    }
  }`,
})

let printed = ''
pods.subscribe(() => {
  const { rows, status, error } = pods.getSnapshot()
  if (status === 'failed') throw error
  if (status === 'loading') return
  const phases = Map.groupBy(rows, (pod) => pod.status?.phase ?? 'Unknown')
  const counts = [...phases].map(([phase, { length }]) => `${phase} ${length}`).toSorted()
  const line = [status, ...counts].join('  ')
  if (line !== printed) console.log(line)
  printed = line
})

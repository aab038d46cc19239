/**
 * Follows the pods of a running gateway and prints how many there are in each phase, whenever that changes.
 *
 *     npm start                                                        # in one terminal
 *     npm exec -- node --conditions=informerql-source examples/live-pods.ts [url]   # in another
 */
import { createClient } from 'graphql-ws'
import { type Frame, FrameFold } from 'informerql/client'
import { WebSocket } from 'ws'

interface Pod {
  readonly status: { readonly phase: string | null } | null
}

const url = process.argv[2] ?? 'ws://127.0.0.1:4000/graphql'
const client = createClient({ url, webSocketImpl: WebSocket })
const pods = new FrameFold<Pod>()

const answers = client.iterate<{ pods: Frame<Pod> }>({
  query: `subscription {
    pods {
      reset synced resumeToken
      changes { type objectId object { status { phase } } }
    }
  }`,
})
let printed = ''
for await (const { data, errors } of answers) {
  if (errors !== undefined) throw new AggregateError(errors)
  if (data === undefined || data === null) continue
  pods.apply(data.pods)
  if (!pods.synced) continue
  const phases = Map.groupBy(pods.objects.values(), (pod) => pod.status?.phase ?? 'Unknown')
  const line = [...phases]
    .map(([phase, { length }]) => `${phase} ${length}`)
    .toSorted()
    .join('  ')
  if (line !== printed) console.log(line)
  printed = line
}

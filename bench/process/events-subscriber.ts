/**
 * A graphql-ws client that folds the frames of all pods. Arguments: the gateway's URL, how long in milliseconds, and how
 * many pods the snapshot has.
 */
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { EventReport } from '../support/event-report.ts'
import { writtenAnnotation } from '../support/pod-updates.ts'

interface Pod {
  readonly metadata: { readonly name: string; readonly annotation: string | null }
}

interface Answer {
  readonly pods: {
    readonly reset: boolean
    readonly synced: boolean
    readonly changes: readonly {
      readonly type: string
      readonly objectId: string
      readonly object: Pod | null
    }[]
  }
}

const query = `subscription {
  pods(coalesceMs: 0) {
    reset synced
    changes {
      type objectId
      object {
        metadata { name namespace annotation(key: "${writtenAnnotation}") }
        status { phase containerStatuses { restartCount } }
      }
    }
  }
}`

const [url = '', durationMs = '', pods = ''] = process.argv.slice(2)
const client = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket })
const report = new EventReport()
const held = new Map<string, Pod | null>()
const synced = Promise.withResolvers<void>()
let isSynced = false

async function fold(): Promise<never> {
  for await (const { data, errors } of client.iterate<Answer>({ query })) {
    if (errors !== undefined || data == null) throw new Error(JSON.stringify(errors))
    const { reset, changes } = data.pods
    if (reset) held.clear()
    for (const { type, objectId, object } of changes) {
      if (type === 'REMOVED') held.delete(objectId)
      else held.set(objectId, object)
      if (isSynced) report.written(object?.metadata.annotation)
    }
    if (data.pods.synced) {
      isSynced = true
      synced.resolve()
    }
  }
  throw new Error('the subscription has ended')
}

const folding = fold()
await Promise.race([synced.promise, folding])
if (held.size !== Number(pods)) throw new Error(`${held.size} pods of ${pods}`)
await Promise.race([report.run(Number(durationMs)), folding])
process.exit(0)

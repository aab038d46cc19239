/**
 * The resync walk-through: two handlers on one informer, one with a resync every second and one every five. A resync lists
 * nothing; it delivers the store again, as updates whose two objects have the same resource version. Edit a label in between
 * (`kubectl label node NAME colour=blue`) and see an update whose versions differ.
 *
 *     npm exec -- node --conditions=informerql-source examples/resync.ts [--server=http://127.0.0.1:8001]
 *     node node_modules/informerql/dist/examples/resync.js [--server=http://127.0.0.1:8001]   # where the package is installed
 */
import { parseArgs } from 'node:util'
import { createApiServer, loadClusterConfig } from 'informerql/cluster'
import { createSharedInformer, resources } from 'informerql/informer'

const { values: where } = parseArgs({ options: { server: { type: 'string' } } })
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())

const apiServer = createApiServer({ config: loadClusterConfig(where) })
const nodes = createSharedInformer({ apiServer, resource: resources.nodes })
for (const seconds of [1, 5]) {
  nodes.addEventHandler(
    {
      onUpdate({ metadata: before }, { metadata: after }) {
        const what =
          before.resourceVersion === after.resourceVersion
            ? `resync at ${after.resourceVersion}`
            : `update ${before.resourceVersion} -> ${after.resourceVersion}`
        console.log(`every ${seconds} s: ${after.name}: ${what}`)
      },
    },
    { resyncPeriodMs: seconds * 1000 },
  )
}
const running = nodes.run(stop.signal)
await nodes.waitForSync({ deadlineMs: 30_000, signal: stop.signal })
console.log(`synced, ${nodes.store.size} nodes`)
await running
await apiServer[Symbol.asyncDispose]()

/**
 * The informer library on its own: a cache of all pods, indexed by IP, that tells of every change. Reads the cluster that
 * kubectl would read, or the server given as an argument.
 *
 *     npm exec -- node --conditions=informerql-source examples/pod-watcher.ts [--server=http://127.0.0.1:8001]
 *     node node_modules/informerql/dist/examples/pod-watcher.js [--server=http://127.0.0.1:8001]   # where the package is installed
 */
import { parseArgs } from 'node:util'
import { createApiServer, loadClusterConfig } from 'informerql/cluster'
import { createSharedInformerFactory, resources } from 'informerql/informer'

const { values: where } = parseArgs({ options: { server: { type: 'string' } } })
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())

const apiServer = createApiServer({ config: loadClusterConfig(where) })
const factory = createSharedInformerFactory({ apiServer })

const pods = factory.informer(resources.pods)
pods.addIndexers({
  byIP: ({ status }) => status?.podIPs?.map(({ ip }) => ip) ?? [],
})
pods.addEventHandler({
  onAdd: ({ metadata }, isInInitialList) => {
    if (!isInInitialList) console.log(`+ ${metadata.namespace}/${metadata.name}`)
  },
  onUpdate: (previous, { metadata }) => {
    const { resourceVersion } = previous.metadata
    console.log(`~ ${metadata.name} ${resourceVersion} -> ${metadata.resourceVersion}`)
  },
  onDelete: ({ metadata }) => console.log(`- ${metadata.namespace}/${metadata.name}`),
})
factory.start()
await pods.waitForSync({ deadlineMs: 30_000, signal: stop.signal })
const { store } = pods
console.log(`${store.size} pods; ${[...store.index('byIP').values()].length} addresses`)
await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }))
await factory.shutdown()
await apiServer[Symbol.asyncDispose]()

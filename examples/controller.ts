/**
 * A small controller: every namespace gets a ConfigMap `pod-count` that says how many pods there are. Events only name
 * the namespace to look at; the reconcile reads the caches and writes what differs. Talks to the cluster that kubectl
 * would talk to, or to `--server`; ends on SIGINT and SIGTERM, after what it has begun.
 *
 *     npm exec -- node --conditions=informerql-source examples/controller.ts [--server http://127.0.0.1:8001]
 *     node node_modules/informerql/dist/examples/controller.js [--server http://127.0.0.1:8001]   # where the package is installed
 */
import { parseArgs } from 'node:util'
import { createApiServer, isConflict, loadClusterConfig } from 'informerql/cluster'
import {
  createSharedInformerFactory,
  createWorkQueue,
  isBeingDeleted,
  type KubernetesObject,
  type ReconcileError,
  resources,
  runWorkers,
} from 'informerql/informer'

const { values: where } = parseArgs({ options: { server: { type: 'string' } } })
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())

const name = 'pod-count'
const labels = { 'app.kubernetes.io/managed-by': 'pod-counter' }
const apiServer = createApiServer({ config: loadClusterConfig(where) })
const factory = createSharedInformerFactory({ apiServer })
const namespaces = factory.informer(resources.namespaces)
const pods = factory.informer(resources.pods, { metadataOnly: true })
const configMaps = factory.informer(resources.configMaps, {
  fieldSelector: `metadata.name=${name}`,
})
const client = apiServer.client(resources.configMaps, { fieldManager: 'pod-counter' })

const queue = createWorkQueue()
const enqueue = ({ kind, metadata }: KubernetesObject) => {
  queue.add(kind === 'Namespace' ? metadata.name : (metadata.namespace ?? ''))
}
const handler = {
  onAdd: enqueue,
  onUpdate: (_: KubernetesObject, object: KubernetesObject) => enqueue(object),
  onDelete: enqueue,
}
for (const watched of [namespaces, pods, configMaps]) watched.addEventHandler(handler)

async function reconcile(namespace: string, signal: AbortSignal): Promise<void> {
  const owner = namespaces.lister().find(namespace)
  if (owner === undefined || isBeingDeleted(owner)) return
  const data = { pods: `${pods.lister().namespaced(namespace).list().length}` }
  const current = configMaps.lister().namespaced(namespace).find(name)
  if (current === undefined) {
    await client.create({ metadata: { namespace, name, labels }, data }, { signal })
  } else {
    if (current.data?.['pods'] === data.pods) return
    // The version makes it a conflict if the cache is behind.
    const { resourceVersion = '' } = current.metadata
    const change = { merge: { metadata: { labels }, data } }
    await client.patch(current.metadata, change, { preconditions: { resourceVersion }, signal })
  }
  console.log(`${namespace}: ${data.pods} pods`)
}

// Every key is tried until it succeeds: there are no maxRetries.
const onFailure = ({ cause, key, message }: ReconcileError<string>) => {
  console.log(isConflict(cause) ? `${key}: the cache was behind, trying again` : message)
}

factory.start()
try {
  await factory.waitForCacheSync({ deadlineMs: 30_000, signal: stop.signal })
  console.log(`counting the pods of ${namespaces.store.size} namespaces`)
  const { abandoned } = await runWorkers(queue, 4, reconcile, stop.signal, { onFailure })
  console.log(`stopped, ${abandoned.length} namespaces left for the next start`)
} catch (error) {
  if (!stop.signal.aborted) throw error
}
await factory.shutdown()
await apiServer[Symbol.asyncDispose]()

/**
 * A small controller: every namespace gets a ConfigMap `pod-count` that says how many pods there are. Events only name
 * the namespace to look at; the reconcile reads the caches and writes what differs. Talks to the cluster that kubectl
 * would talk to, or to `--server`; ends on SIGINT, after what it has begun.
 *
 *     npm exec -- node --conditions=informerql-source examples/controller.ts [--server http://127.0.0.1:8001]
 */
import { parseArgs } from 'node:util'
import { createApiServer, loadClusterConfig } from 'informerql/cluster'
import {
  ApiStatusError,
  createSharedInformerFactory,
  createWorkQueue,
  DeletedFinalStateUnknown,
  type KubernetesObject,
  type Lister,
  ObjectNotFoundError,
  type ReconcileError,
  runWorkers,
} from 'informerql/informer'

const { values } = parseArgs({ options: { server: { type: 'string' } } })
const stop = new AbortController()
process.once('SIGINT', () => stop.abort())

const name = 'pod-count'
const labels = { 'app.kubernetes.io/managed-by': 'pod-counter' }
const config = loadClusterConfig(values.server === undefined ? {} : { server: values.server })
await using apiServer = createApiServer({ name: 'cluster', config })
await using factory = createSharedInformerFactory({
  source: (resource, options) => apiServer.resource(resource, options),
})
const { resources } = await apiServer.discover(stop.signal)
const informer = (plural: string, options = {}) => {
  const resource = resources.find((one) => one.group === '' && one.resource === plural)
  if (resource === undefined) throw new Error(`this server has no ${plural}`)
  return factory.informer(resource, options)
}
const namespaces = informer('namespaces')
const pods = informer('pods', { metadataOnly: true })
const configMaps = informer('configmaps', { fieldSelector: `metadata.name=${name}` })

await using queue = createWorkQueue()
const namespaceOf = ({ kind, metadata }: KubernetesObject) =>
  kind === 'Namespace' ? metadata.name : (metadata.namespace ?? '')
for (const watched of [namespaces, pods, configMaps]) {
  watched.addEventHandler({
    onAdd: (object) => void queue.add(namespaceOf(object)),
    onUpdate: (_, object) => void queue.add(namespaceOf(object)),
    onDelete: (deleted) => {
      const last = deleted instanceof DeletedFinalStateUnknown ? deleted.object : deleted
      queue.add(namespaceOf(last))
    },
  })
}

const cached = (lister: Lister, key: string) => {
  try {
    return lister.get(key)
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return undefined
    throw error
  }
}

async function reconcile(namespace: string, signal: AbortSignal): Promise<void> {
  const owner = cached(namespaces.lister(), namespace)
  if (owner === undefined || owner.metadata.deletionTimestamp !== undefined) return
  const data = { pods: `${pods.lister().namespaced(namespace).list().length}` }
  const current = cached(configMaps.lister().namespaced(namespace), name)
  const collection = `/api/v1/namespaces/${namespace}/configmaps`
  if (current === undefined) {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data }
    await apiServer.request('POST', collection, { body, signal })
  } else {
    if ((current['data'] as typeof data | undefined)?.pods === data.pods) return
    // A patch, since the cache does not hold all of the object; the version makes it a conflict if the cache is behind.
    const { resourceVersion } = current.metadata
    const body = { metadata: { resourceVersion, labels }, data }
    const contentType = 'application/merge-patch+json'
    await apiServer.request('PATCH', `${collection}/${name}`, { body, contentType, signal })
  }
  console.log(`${namespace}: ${data.pods} pods`)
}

const onFailure = ({ cause, key, message }: ReconcileError) => {
  const isConflict = cause instanceof ApiStatusError && cause.httpStatus === 409
  console.log(isConflict ? `${key}: the cache was behind, trying again` : message)
}

factory.start()
const synced = await factory.waitForCacheSync({ deadlineMs: 30_000, signal: stop.signal })
const missing = [...synced].flatMap(([resource, hasSynced]) => (hasSynced ? [] : [resource]))
if (missing.length === 0) {
  console.log(`counting the pods of ${namespaces.store.size} namespaces`)
  const { abandoned } = await runWorkers(queue, 4, reconcile, stop.signal, { onFailure })
  console.log(`stopped, ${abandoned.length} namespaces left for the next start`)
} else if (!stop.signal.aborted) throw new Error(`not synced: ${missing.join(', ')}`)

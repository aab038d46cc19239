/**
 * A small controller: every namespace gets a ConfigMap `pod-count` that says how many pods there are. Events only name
 * the namespace to look at; the reconcile reads the caches and writes what differs. Talks to the cluster that kubectl
 * would talk to, or to `--server`; ends on SIGINT and SIGTERM, after what it has begun.
 * `examples/website-controller.ts` shows more: a custom resource, owners, a finalizer, conditions, a leader election.
 *
 *     npm exec -- node --conditions=informerql-source examples/controller.ts [--server http://127.0.0.1:8001]
 *     node node_modules/informerql/dist/examples/controller.js [--server http://127.0.0.1:8001]   # where the package is installed
 */
import { parseArgs } from 'node:util'
import { createApiServer, loadClusterConfig } from 'informerql/cluster'
import { runController } from 'informerql/controller'
import { isBeingDeleted, type KubernetesObject, resources } from 'informerql/informer'

const { values: where } = parseArgs({ options: { server: { type: 'string' } } })
const { configMaps, namespaces, pods } = resources
const name = 'pod-count'
const labels = { 'app.kubernetes.io/managed-by': 'pod-counter' }
const ofNamespace = ({ metadata }: KubernetesObject) => [metadata.namespace ?? '']

const apiServer = createApiServer({ config: loadClusterConfig(where) })
await runController({
  name: 'pod-counter',
  apiServer,
  for: namespaces,
  watches: [
    { resource: pods, informer: { metadataOnly: true }, map: ofNamespace },
    {
      resource: configMaps,
      informer: { fieldSelector: `metadata.name=${name}` },
      map: ofNamespace,
    },
  ],
  async reconcile({ name: namespace }, { object, client, lister }) {
    if (object === undefined || isBeingDeleted(object)) return
    const data = { pods: `${lister(pods).namespaced(namespace).list().length}` }
    const current = lister(configMaps).namespaced(namespace).find(name)
    if (current === undefined) {
      await client(configMaps).create({ metadata: { namespace, name, labels }, data })
    } else {
      if (current.data?.['pods'] === data.pods) return
      // The version makes it a conflict if the cache is behind: then it is tried again.
      const { resourceVersion = '' } = current.metadata
      const change = { merge: { metadata: { labels }, data } }
      await client(configMaps).patch(current.metadata, change, {
        preconditions: { resourceVersion },
      })
    }
    console.log(`${namespace}: ${data.pods} pods`)
  },
})
await apiServer[Symbol.asyncDispose]()

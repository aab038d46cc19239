/** As the guide shows it: a program in TypeScript that watches, writes and reconciles. */
export const consumer: string = `
import { createApiServer, retryOnConflict } from 'informerql/cluster'
import {
  createSharedInformerFactory,
  createWorkQueue,
  type KubernetesObject,
  type Resource,
  resources,
  runWorkers,
} from 'informerql/informer'
import type { ConfigMap, Pod } from 'informerql/kubernetes'

interface Widget extends KubernetesObject {
  readonly spec: { readonly size: number }
}
export const widgets: Resource<Widget> = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
}

const stop = new AbortController()
await using apiServer = createApiServer({ server: process.argv[2] ?? '' })
await using factory = createSharedInformerFactory({ apiServer })
const maps = factory.informer(resources.configMaps, {
  indexers: { byTeam: ({ data }) => (data?.['team'] === undefined ? [] : [data['team']]) },
})
const client = apiServer.client(resources.configMaps)
const queue = createWorkQueue()
const registration = maps.addEventHandler({
  onAdd: ({ metadata }) => void queue.add(\`\${metadata.namespace}/\${metadata.name}\`),
  onDelete: (map: ConfigMap, { finalStateKnown }) => console.log(map.metadata.name, finalStateKnown),
})
factory.start()
await factory.waitForCacheSync({ deadlineMs: 10_000 })
await registration.waitForSync({ deadlineMs: 10_000 })
const created = await client.create({ metadata: { namespace: 'default', name: 'a' }, data: { team: 'blue' } })
await retryOnConflict(async () => client.update({ ...(await client.get(created.metadata)), data: { team: 'red' } }))
await maps.store.waitForResourceVersion(
  (await client.get(created.metadata)).metadata.resourceVersion as never,
  { deadlineMs: 10_000 },
)
console.log(maps.indexer().indexKeys('byTeam', 'red').join())
await runWorkers(queue, 2, (key) => {
  console.log('reconciled', key)
  if (key === 'default/a') stop.abort()
}, stop.signal)
export type PodOfUser = Pod
`

/**
 * Follows a custom resource by its name alone: waits until its definition is installed, then prints every change. The
 * type of its objects is whatever you say it is.
 *
 *     npm exec -- node --conditions=informerql-source examples/custom-resources.ts widgets.v1.example.com [--server=…]
 *     node node_modules/informerql/dist/examples/custom-resources.js widgets.v1.example.com [--server=…]   # where the package is installed
 */
import { parseArgs } from 'node:util'
import { createApiServer, loadClusterConfig } from 'informerql/cluster'
import { createDynamicInformerFactory, type KubernetesObject } from 'informerql/informer'

interface Custom extends KubernetesObject {
  readonly spec?: Readonly<Record<string, unknown>>
}

const { values: where, positionals } = parseArgs({
  options: { server: { type: 'string' } },
  allowPositionals: true,
})
const [resource = '', version = '', ...group] = (positionals[0] ?? '').split('.')
if (version === '') throw new Error('name a resource: widgets.v1.example.com')
const wanted = { group: group.join('.'), version, resource }
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())

const apiServer = createApiServer({ config: loadClusterConfig(where) })
const factory = createDynamicInformerFactory({
  apiServer,
  backoff: { initialMs: 200, maxMs: 5000 },
  observer: { failed: (failure, error) => console.log(`! ${failure}: ${error.message}`) },
})
console.log(`waiting for ${resource}`)
await factory.waitForResource(wanted, { deadlineMs: 600_000, signal: stop.signal })
const informer = await factory.informer<Custom>(wanted)
informer.addEventHandler({
  onAdd: ({ metadata, spec }) => console.log(`+ ${metadata.name} ${JSON.stringify(spec)}`),
  onUpdate: (_, { metadata, spec }) => console.log(`~ ${metadata.name} ${JSON.stringify(spec)}`),
  onDelete: ({ metadata }) => console.log(`- ${metadata.name}`),
})
factory.start()
await informer.waitForSync({ deadlineMs: 30_000, signal: stop.signal })
console.log(`synced, ${informer.store.size} ${resource}`)
await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }))
await factory.shutdown()
await apiServer[Symbol.asyncDispose]()

/**
 * Ours: api-server and shared informer, as the gateway uses them. Arguments: the API server's URL, and `gateway` for the
 * gateway's indexes of pods or `standard` for the indexes of every store.
 */
import { createApiServer } from '../../src/api-server/api-server.ts'
import { loadClusterConfig } from '../../src/api-server/kubeconfig/cluster-lookup.ts'
import { createSharedInformer } from '../../src/informer.ts'
import { gatewayPodIndexers } from '../support/gateway-indexers.ts'
import { pods } from '../support/pod-resource.ts'
import { reportSync } from '../support/sync-report.ts'

const [url = '', indexes = 'standard'] = process.argv.slice(2)
const server = createApiServer({ name: 'bench', config: loadClusterConfig({ server: url }) })
const indexers = indexes === 'gateway' ? await gatewayPodIndexers(server) : {}
await reportSync(async () => {
  const informer = createSharedInformer({
    resource: pods,
    source: server.resource(pods),
    indexers,
    observer: {
      failed: (failure, error) => {
        throw new Error(failure, { cause: error })
      },
    },
  })
  void informer.run(new AbortController().signal)
  await informer.waitForSync({ deadlineMs: 300_000 })
  return { pods: informer.store.size, cache: informer }
})

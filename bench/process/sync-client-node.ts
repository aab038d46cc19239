/**
 * Baseline: `makeInformer` of @kubernetes/client-node as its documentation shows it, save that managedFields are
 * forgotten, which is in its favour. Argument: the API server's URL.
 */
import { CoreV1Api, KubeConfig, makeInformer, type V1Pod } from '@kubernetes/client-node'
import { reportSync } from '../support/sync-report.ts'

const [url = ''] = process.argv.slice(2)
const config = new KubeConfig()
config.loadFromClusterAndUser(
  { name: 'bench', server: url, skipTLSVerify: true },
  { name: 'bench' },
)
const api = config.makeApiClient(CoreV1Api)
await reportSync(async () => {
  const informer = makeInformer<V1Pod>(config, '/api/v1/pods', async () => {
    const list = await api.listPodForAllNamespaces()
    for (const { metadata } of list.items) if (metadata !== undefined) forgetManagedFields(metadata)
    return list
  })
  await informer.start()
  return { pods: informer.list().length, cache: informer }
})

function forgetManagedFields(metadata: { managedFields?: unknown }): void {
  metadata.managedFields = undefined
}

import {
  CoreV1Api,
  type Informer,
  KubeConfig,
  makeInformer,
  type ObjectCache,
  type V1Pod,
} from '@kubernetes/client-node'

/** client-node's informer of pods on a real API server, without managedFields as far as it allows; not yet started. */
export function clientNodePods(kubeconfig: string): Informer<V1Pod> & ObjectCache<V1Pod> {
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  const api = config.makeApiClient(CoreV1Api)
  const informer = makeInformer<V1Pod>(config, '/api/v1/pods', async () => {
    const list = await api.listPodForAllNamespaces()
    for (const { metadata } of list.items) if (metadata !== undefined) forgetManagedFields(metadata)
    return list
  })
  informer.on('error', (error: unknown) => {
    throw error
  })
  return informer
}

function forgetManagedFields(metadata: { managedFields?: unknown }): void {
  metadata.managedFields = undefined
}

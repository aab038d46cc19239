import { createApiServer } from '../../src/api-server/api-server.ts'
import { loadClusterConfig } from '../../src/api-server/kubeconfig/cluster-lookup.ts'
import {
  createSharedInformer,
  type KubernetesObject,
  type SharedInformer,
} from '../../src/informer.ts'
import { pods } from './pod-resource.ts'

type Pod = KubernetesObject & { readonly spec?: { readonly nodeName?: string } }

/** Our informer of pods on a real API server, indexed by node besides the standard indexes; not yet running. */
export function podInformer(kubeconfig: string): SharedInformer<Pod> {
  const server = createApiServer({ name: 'bench', config: loadClusterConfig({ kubeconfig }) })
  return createSharedInformer<Pod>({
    resource: pods,
    source: server.resource(pods),
    indexers: { podsByNode: ({ spec }) => [spec?.nodeName ?? ''] },
    observer: { failed: (failure, error) => console.error(failure, error) },
  })
}

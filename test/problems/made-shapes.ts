import { type Fields, must, type TestCluster } from '../gateway/test-cluster.ts'
import type { ProblemShape, ShapedObject } from './shape-parts.ts'

/** The resources of the kinds of shapes. */
const resources: Readonly<Record<string, string>> = {
  'v1 Pod': 'pods',
  'v1 Node': 'nodes',
  'v1 Event': 'events',
  'v1 PersistentVolumeClaim': 'persistentvolumeclaims',
  'apps/v1 Deployment': 'deployments',
  'apps/v1 ReplicaSet': 'replicasets',
  'apps/v1 StatefulSet': 'statefulsets',
  'apps/v1 DaemonSet': 'daemonsets',
  'batch/v1 Job': 'jobs',
  'batch/v1 CronJob': 'cronjobs',
  'autoscaling/v2 HorizontalPodAutoscaler': 'horizontalpodautoscalers',
  'apiregistration.k8s.io/v1 APIService': 'apiservices',
  'storage.k8s.io/v1 StorageClass': 'storageclasses',
  'cert-manager.io/v1 Certificate': 'certificates',
  'v1 ConfigMap': 'configmaps',
  'v1 Namespace': 'namespaces',
  'v1 ResourceQuota': 'resourcequotas',
  'v1 Secret': 'secrets',
  'v1 Service': 'services',
  'networking.k8s.io/v1 Ingress': 'ingresses',
  'policy/v1 PodDisruptionBudget': 'poddisruptionbudgets',
  'gateway.networking.k8s.io/v1 HTTPRoute': 'httproutes',
  'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration':
    'validatingwebhookconfigurations',
  'admissionregistration.k8s.io/v1 MutatingWebhookConfiguration': 'mutatingwebhookconfigurations',
}

const clusterScoped = new Set([
  'Node',
  'APIService',
  'StorageClass',
  'Namespace',
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
])

/** Where the objects of a kind are; `Kind` of a namespace. */
export const pathOf = (is: string, namespace: string): string => {
  const [apiVersion = '', kind = ''] = is.split(' ')
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  const place = clusterScoped.has(kind) ? '' : `/namespaces/${namespace}`
  return `${root}${place}/${resources[is] ?? ''}`
}

/** Creates an object with its status, and answers with it. */
export const made = async (
  cluster: TestCluster,
  namespace: string,
  { is, name, owner, object = {}, status, isDeleted }: ShapedObject,
  before: ReadonlyMap<string, Fields> = new Map(),
): Promise<Fields> => {
  const [apiVersion, kind = ''] = is.split(' ')
  const path = pathOf(is, namespace)
  const above = owner === undefined ? undefined : before.get(owner)
  const ownerReferences =
    above === undefined
      ? {}
      : {
          ownerReferences: [
            {
              apiVersion: above.apiVersion,
              kind: above.kind,
              name: above.metadata.name,
              uid: above.metadata.uid,
              controller: true,
            },
          ],
        }
  const about =
    object.involvedObject === undefined
      ? {}
      : { involvedObject: { namespace, ...object.involvedObject } }
  const body = {
    apiVersion,
    kind,
    ...object,
    ...about,
    metadata: {
      name,
      ...(clusterScoped.has(kind) ? {} : { namespace }),
      ...object.metadata,
      ...ownerReferences,
    },
  }
  const created = await must(cluster, path, { method: 'POST', body })
  const told =
    status === undefined
      ? created
      : await must(cluster, `${path}/${name}/status`, {
          method: 'PATCH',
          contentType: 'application/merge-patch+json',
          body: { status },
        })
  if (isDeleted === true) await must(cluster, `${path}/${name}`, { method: 'DELETE' })
  return told
}

/** Creates a namespace, and the objects of a shape in it. */
export const madeShape = async (
  cluster: TestCluster,
  namespace: string,
  { objects }: ProblemShape,
): Promise<void> => {
  await must(cluster, '/api/v1/namespaces', {
    method: 'POST',
    body: { metadata: { name: namespace } },
  })
  const before = new Map<string, Fields>()
  for (const shaped of objects) {
    // `NS` stands for the namespace.
    const one = JSON.parse(JSON.stringify(shaped).replaceAll('"NS"', `"${namespace}"`))
    const object = await made(cluster, namespace, one, before)
    before.set(`${one.is.split(' ')[1]}/${one.name}`, object)
  }
}

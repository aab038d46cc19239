import { type Fields, must, type TestCluster } from '../gateway/test-cluster.ts'
import type { ProblemShape, ShapedObject } from './problem-shapes.ts'

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
}

const clusterScoped = new Set(['Node', 'APIService', 'StorageClass'])

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
  { is, name, owner, object = {}, status }: ShapedObject,
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
  if (status === undefined) return created
  return must(cluster, `${path}/${name}/status`, {
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    body: { status },
  })
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
  for (const one of objects) {
    // oxlint-disable-next-line no-await-in-loop -- an object names its owner's UID
    const object = await made(cluster, namespace, one, before)
    before.set(`${one.is.split(' ')[1]}/${one.name}`, object)
  }
}

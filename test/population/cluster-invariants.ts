import type { KubernetesObject } from 'informerql/kubernetes'
import type { ResourceName, Storage } from 'informerql/simulator'
import { Collected, hasLabels, valueAt, valuesAt } from './collected.ts'

/** Everything that a storage holds of the population's kinds. */
export function stored(storage: Storage): Collected {
  const collected = new Collected()
  for (const resource of resourcesOf(storage))
    for (const object of storage.list(resource)) collected.add(object)
  return collected
}

/** Every resource once, in the version in which it is held. */
export function resourcesOf(storage: Storage): readonly ResourceName[] {
  const all = storage.registry
    .builtIn()
    .filter(({ apiVersion, stored: { apiVersion: held } }) => apiVersion === held)
  return [...new Map(all.map((one) => [one.stored.groupResource, one])).values()]
}

/** What disagrees in a cluster that is not in the middle of a step; nothing should. */
export function inconsistencies(cluster: Collected): readonly string[] {
  const pods = cluster.all('Pod')
  const owned = Map.groupBy(pods, (pod) => pod.metadata.ownerReferences?.[0]?.uid ?? '')
  const podsOf = ({ metadata }: KubernetesObject): readonly KubernetesObject[] =>
    owned.get(metadata.uid ?? '') ?? []
  const workloads = [...cluster.all('ReplicaSet'), ...cluster.all('StatefulSet')]
  return [
    ...workloads.flatMap((workload) => countProblems(workload, podsOf(workload))),
    ...cluster.all('Deployment').flatMap((deployment) => {
      const replicaSets = cluster
        .all('ReplicaSet')
        .filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === deployment.metadata.uid)
      const limit = Number(valueAt(deployment, 'spec.revisionHistoryLimit'))
      const history =
        replicaSets.length > limit + 2 ? [`${deployment.metadata.name}: ReplicaSets pile up`] : []
      return [...countProblems(deployment, replicaSets.flatMap(podsOf)), ...history]
    }),
    ...cluster.all('Service').flatMap((service) => endpointProblems(cluster, service)),
    ...pods
      .filter(({ metadata }) => !cluster.uids.has(metadata.ownerReferences?.[0]?.uid ?? ''))
      .map(({ metadata }) => `${metadata.name}: its owner is gone`),
    ...addressProblems(pods),
  ]
}

const isTerminating = ({ metadata }: KubernetesObject): boolean =>
  metadata.deletionTimestamp !== undefined

const isActive = (pod: KubernetesObject): boolean =>
  !isTerminating(pod) && !['Succeeded', 'Failed'].includes(String(valueAt(pod, 'status.phase')))

const isReady = (pod: KubernetesObject): boolean =>
  valuesAt(pod, 'status.conditions[*]').some(
    (condition) =>
      valueAt(condition, 'type') === 'Ready' && valueAt(condition, 'status') === 'True',
  )

function countProblems(workload: KubernetesObject, pods: readonly KubernetesObject[]): string[] {
  const active = pods.filter(isActive)
  const expected = {
    replicas: active.length,
    readyReplicas: active.filter(isReady).length,
    ...(workload.kind === 'StatefulSet'
      ? {}
      : { terminatingReplicas: pods.length - active.length }),
  }
  return Object.entries(expected).flatMap(([field, count]) => {
    const shown = valueAt(workload, `status.${field}`) ?? 0
    const { kind, metadata } = workload
    return shown === count
      ? []
      : [`${kind} ${metadata.name}: ${field} ${JSON.stringify(shown)}, not ${count}`]
  })
}

/** The endpoints of a Service are the pods that it selects and that have an address, with their readiness. */
function endpointProblems(cluster: Collected, service: KubernetesObject): string[] {
  const { namespace, name, uid } = service.metadata
  const listed = cluster
    .all('EndpointSlice')
    .filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid)
    .flatMap((slice) => valuesAt(slice, 'endpoints[*]'))
    .map((endpoint) =>
      [
        valueAt(endpoint, 'targetRef.uid'),
        valuesAt(endpoint, 'addresses[*]'),
        valueAt(endpoint, 'conditions.ready'),
      ].join(' '),
    )
  const selector = valueAt(service, 'spec.selector')
  const selected = cluster
    .all('Pod')
    .filter((pod) => pod.metadata.namespace === namespace)
    .filter((pod) => hasLabels(pod, selector))
    .filter((pod) => valueAt(pod, 'status.podIP') !== undefined)
    .map((pod) => {
      const ready = isReady(pod) && !isTerminating(pod)
      return [pod.metadata.uid, valueAt(pod, 'status.podIP'), ready].join(' ')
    })
  const missing = selected.filter((pod) => !listed.includes(pod))
  const surplus = listed.filter((pod) => !selected.includes(pod))
  const twice = listed.length - new Set(listed).size
  return [
    ...missing.map((pod) => `Service ${name}: ${pod} is not among its endpoints`),
    ...surplus.map((pod) => `Service ${name}: ${pod} should not be among its endpoints`),
    ...(twice === 0 ? [] : [`Service ${name}: ${twice} endpoints twice`]),
  ]
}

function addressProblems(pods: readonly KubernetesObject[]): string[] {
  const taken = pods
    .filter((pod) => isActive(pod) && valueAt(pod, 'spec.hostNetwork') !== true)
    .flatMap((pod) => valuesAt(pod, 'status.podIP'))
  return new Set(taken).size === taken.length ? [] : ['two pods have one address']
}

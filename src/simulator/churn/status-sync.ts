import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { equalJson } from '../api/json.ts'
import { resources } from '../population/object.ts'
import {
  type Backend,
  budgetStatus,
  daemonSetStatus,
  deploymentStatus,
  endpointOf,
  endpointSliceItem,
  endpointsPerSlice,
  jobStatus,
  type PodCounts,
  type Progress,
  replicaSetStatus,
  statefulSetStatus,
  type WorkloadCondition,
} from '../population/workload-status.ts'
import {
  activePods,
  type Cluster,
  type DeploymentRecord,
  isFinished,
  type PodGroup,
  replicasOf,
  type ServiceRecord,
} from './cluster.ts'
import { controllerResources } from './pods.ts'

/** Updates the counters, endpoints and budgets of all changed groups. Writes only differences. */
export function syncChanged(cluster: Cluster): void {
  const groups = [...cluster.changed]
  cluster.changed.clear()
  for (const group of groups) syncController(cluster, group)
  for (const deployment of new Set(groups.map((group) => cluster.deploymentOf(group))))
    if (deployment !== undefined) syncDeployment(cluster, deployment)
  for (const service of new Set(groups.flatMap((group) => cluster.servicesOf(group))))
    syncService(cluster, service)
  for (const budget of new Set(groups.flatMap((group) => cluster.budgetsOf(group))))
    cluster.changeIfThere(resources.disruptionBudgets, budget, (object) =>
      withStatus(
        object,
        budgetStatus(object, countPods(cluster.selectedBy(budget)), cluster.now()),
      ),
    )
}

function syncController(cluster: Cluster, group: PodGroup): void {
  cluster.changeIfThere(controllerResources[group.kind], group, (object) => {
    const counts = countPods([group])
    const { generation = 1, creationTimestamp } = object.metadata
    switch (group.kind) {
      case 'ReplicaSet':
        return withStatus(object, replicaSetStatus(generation, counts))
      case 'StatefulSet':
        return withStatus(object, statefulSetStatus(generation, counts, revisionOf(object)))
      case 'DaemonSet':
        return withStatus(object, daemonSetStatus(generation, counts))
      case 'Job': {
        if (group.outcome !== undefined) return undefined
        const failed = [...group.pods].filter(({ stage }) => stage === 'failed').length
        const startedAtMs = Date.parse(creationTimestamp ?? '') || cluster.now()
        const outcome = { kind: 'active', ready: counts.ready } as const
        return withStatus(object, jobStatus(startedAtMs, failed, outcome))
      }
    }
  })
}

/** The revision that a StatefulSet gives its pods. */
export function revisionOf(statefulSet: Unstructured): string {
  const { updateRevision = '' } = (statefulSet['status'] ?? {}) as { updateRevision?: string }
  return updateRevision
}

/** Counts the pods of some controllers. */
export function countPods(groups: Iterable<PodGroup>): PodCounts {
  const counts = { active: 0, ready: 0, terminating: 0 }
  for (const { pods } of groups) {
    for (const pod of pods) {
      if (pod.terminating) counts.terminating += 1
      else if (!isFinished(pod)) {
        counts.active += 1
        if (pod.ready) counts.ready += 1
      }
    }
  }
  return counts
}

function syncDeployment(cluster: Cluster, deployment: DeploymentRecord): void {
  const revisions = cluster.ownedBy(deployment)
  const current = revisions.at(-1)
  if (current === undefined) return
  cluster.changeIfThere(resources.deployments, deployment, (object) => {
    const desired = replicasOf(object)
    const { conditions = [] } = (object['status'] ?? {}) as {
      readonly conditions?: readonly WorkloadCondition[]
    }
    const counts = countPods(revisions)
    const updated = activePods(current).length
    const complete = updated === desired && counts.active === desired && counts.ready === desired
    const before = conditions.find(({ type }) => type === 'Progressing')
    // A finished rollout stays finished, whatever happens to its pods later.
    const isSame = before?.message.includes(`"${current.name}"`) === true
    const going = isSame ? (before.reason as Progress) : 'ReplicaSetUpdated'
    const status = deploymentStatus({
      desired,
      counts,
      updated,
      generation: object.metadata.generation ?? 1,
      replicaSetName: current.name,
      progress: complete ? 'NewReplicaSetAvailable' : going,
      atMs: cluster.now(),
      previous: conditions,
    })
    return withStatus(object, status)
  })
}

/** Rewrites changed endpoint slices. Adds and removes slices as needed. */
function syncService(cluster: Cluster, service: ServiceRecord): void {
  const { namespace, name, slices } = service
  const backends = cluster.selectedBy(service).flatMap(backendsOf)
  const needed = Math.max(1, Math.ceil(backends.length / endpointsPerSlice))
  for (let number = 0; number < needed; number++) {
    const from = number * endpointsPerSlice
    const endpoints = backends
      .slice(from, from + endpointsPerSlice)
      .map((one) => endpointOf(one, namespace, cluster.nodes.get(one.at.nodeName)?.zone ?? ''))
    const written = JSON.stringify(endpoints)
    const slice = slices[number]
    if (slice?.written === written) continue
    const at = { namespace, name: slice?.name ?? `${name}-${cluster.random.suffix(5)}` }
    if (slice === undefined || cluster.get(resources.endpointSlices, at) === undefined) {
      const object = cluster.get(resources.services, service)
      if (object === undefined) return
      const identity = { name: at.name, uid: cluster.random.uid(), createdAtMs: cluster.now() }
      cluster.create(endpointSliceItem(object, endpoints, identity))
    } else {
      cluster.change(resources.endpointSlices, at, (object) =>
        equalJson(object['endpoints'], endpoints)
          ? undefined
          : { ...touched(object, cluster.now()), endpoints },
      )
    }
    const kept = slices.find((one) => one.name === at.name)
    if (kept !== undefined) kept.written = written
  }
  for (const { name: extra } of slices.splice(needed))
    cluster.remove(resources.endpointSlices, { namespace, name: extra })
}

function backendsOf({ pods }: PodGroup): Backend[] {
  return [...pods].flatMap((pod) => {
    const { name, uid, at, ready, terminating } = pod
    if (at === undefined || at.podIP === '' || isFinished(pod)) return []
    return [{ name, uid, at, ready, terminating }]
  })
}

function touched(object: Unstructured, atMs: number): Unstructured {
  const { metadata } = object
  const annotations = {
    ...metadata.annotations,
    'endpoints.kubernetes.io/last-change-trigger-time': timestamp(atMs),
  }
  const generation = (metadata.generation ?? 0) + 1
  return { ...object, metadata: { ...metadata, annotations, generation } }
}

/** The object with a new status; `undefined` if the status is the same. */
export function withStatus(
  object: Unstructured,
  status: Readonly<Record<string, unknown>>,
): Unstructured | undefined {
  return equalJson(object['status'], status) ? undefined : { ...object, status }
}

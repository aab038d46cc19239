import type { Unstructured } from '../../kubernetes/object.ts'
import type { BackendPod } from '../population/app-context.ts'
import { endpointOf, endpointSliceItem, endpointsPerSlice } from '../population/endpoint-slice.ts'
import { resources } from '../population/resources.ts'
import { statefulSetStatus } from '../population/stateful-set.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import {
  deploymentStatus,
  type PodCounts,
  type Progress,
  replicaSetStatus,
  type WorkloadCondition,
} from '../population/workload-status.ts'
import type { Cluster } from './cluster.ts'
import {
  activePods,
  type DeploymentRecord,
  type PodGroup,
  type SelectorRecord,
  type ServiceRecord,
} from './cluster-records.ts'

/** Brings everything that counts or lists the group's pods in step with them, and writes only what changed. */
export function syncGroup(cluster: Cluster, group: PodGroup): void {
  syncController(cluster, group)
  if (group.deployment !== undefined) syncDeployment(cluster, group.deployment)
  for (const service of group.services) syncService(cluster, service)
  for (const budget of group.budgets) syncBudget(cluster, budget)
}

function syncController(cluster: Cluster, group: PodGroup): void {
  const { kind, namespace, name } = group
  const counts = countPods([group])
  const counted = `${counts.active} ${counts.ready} ${counts.terminating}`
  if (group.counted === counted) return
  group.counted = counted
  if (kind === 'ReplicaSet') {
    cluster.changeIfThere(resources.replicaSets, namespace, name, (object) =>
      withStatus(object, replicaSetStatus(object.metadata.generation ?? 1, counts)),
    )
  } else if (kind === 'StatefulSet') {
    const { active, ready } = counts
    cluster.changeIfThere(resources.statefulSets, namespace, name, (object) => {
      const { updateRevision = '' } = (object['status'] ?? {}) as { updateRevision?: string }
      const generation = object.metadata.generation ?? 1
      return withStatus(object, statefulSetStatus(generation, active, ready, updateRevision))
    })
  }
}

/** Counts the pods of some groups. */
export function countPods(groups: readonly PodGroup[]): PodCounts {
  const counts = { active: 0, ready: 0, terminating: 0 }
  for (const group of groups) {
    for (const { terminating, finished, ready } of group.pods.values()) {
      if (terminating) counts.terminating += 1
      else if (!finished) {
        counts.active += 1
        if (ready) counts.ready += 1
      }
    }
  }
  return counts
}

/** Brings a Deployment's status in step with its ReplicaSets. */
export function syncDeployment(cluster: Cluster, record: DeploymentRecord): void {
  const { namespace, name, revisions } = record
  const current = revisions.at(-1)
  if (current === undefined) return
  cluster.changeIfThere(resources.deployments, namespace, name, (object) => {
    const { replicas: desired = 1 } = object['spec'] as { readonly replicas?: number }
    const { conditions = [] } = (object['status'] ?? {}) as {
      readonly conditions?: readonly WorkloadCondition[]
    }
    const counts = countPods(revisions)
    const updated = activePods(current).length
    const complete = updated === desired && counts.active === desired && counts.ready === desired
    const before = conditions.find(({ type }) => type === 'Progressing')?.reason
    const progress = {
      reason: complete
        ? 'NewReplicaSetAvailable'
        : record.rollingOut
          ? 'ReplicaSetUpdated'
          : (before ?? 'ReplicaSetUpdated'),
    } as Progress
    const status = deploymentStatus({
      generation: object.metadata.generation ?? 1,
      desired,
      counts,
      updated,
      replicaSetName: current.name,
      progress,
      atMs: cluster.now(),
      previous: conditions,
    })
    return withStatus(object, status)
  })
}

/** Rewrites the endpoint slices whose endpoints have changed; adds and removes slices as needed. */
function syncService(cluster: Cluster, service: ServiceRecord): void {
  const { namespace, name, slices } = service
  const backends = [...service.groups].flatMap(backendsOf)
  const needed = Math.max(1, Math.ceil(backends.length / endpointsPerSlice))
  for (let number = 0; number < needed; number++) {
    const from = number * endpointsPerSlice
    const part = backends.slice(from, from + endpointsPerSlice)
    const { zones } = cluster.index.addresses
    const endpoints = part.map((backend) => endpointOf(backend, namespace, zones))
    const written = JSON.stringify(endpoints)
    const slice = slices[number]
    if (slice?.written === written) continue
    if (
      slice === undefined ||
      cluster.get(resources.endpointSlices, namespace, slice.name) === undefined
    ) {
      const object = cluster.get(resources.services, namespace, name)
      if (object === undefined) return
      const sliceName = slice?.name ?? `${name}-${cluster.random.suffix(5)}`
      const identity = { name: sliceName, uid: cluster.random.uid(), createdAtMs: cluster.now() }
      cluster.create(endpointSliceItem(object, part, zones, identity))
      slices[number] = { name: sliceName, written }
      continue
    }
    slice.written = written
    cluster.change(resources.endpointSlices, namespace, slice.name, (object) =>
      sameJson(object['endpoints'], endpoints)
        ? undefined
        : { ...touched(object, cluster.now()), endpoints },
    )
  }
  for (const { name: extra } of slices.splice(needed))
    cluster.remove(resources.endpointSlices, namespace, extra)
}

function backendsOf(group: PodGroup): BackendPod[] {
  const backends: BackendPod[] = []
  for (const { name, uid, at, addressed, ready, terminating, finished } of group.pods.values()) {
    if (at !== undefined && addressed && !finished)
      backends.push({ name, uid, at, ready, terminating })
  }
  return backends
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

function syncBudget(cluster: Cluster, budget: SelectorRecord): void {
  const { namespace, name, groups } = budget
  const { active: expectedPods, ready: currentHealthy } = countPods([...groups])
  const desiredHealthy = Math.max(0, expectedPods - 1)
  const disruptionsAllowed = Math.max(0, currentHealthy - desiredHealthy)
  const counted = `${expectedPods} ${currentHealthy}`
  if (budget.counted === counted) return
  budget.counted = counted
  cluster.changeIfThere(resources.disruptionBudgets, namespace, name, (object) => {
    const allowed = disruptionsAllowed > 0
    const { conditions = [], ...rest } = object['status'] as {
      readonly conditions?: readonly { readonly status: string }[]
    }
    const status = allowed ? 'True' : 'False'
    const numbers = { ...rest, currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods }
    const reason = allowed ? 'SufficientPods' : 'InsufficientPods'
    const lastTransitionTime = timestamp(cluster.now())
    return withStatus(object, {
      ...numbers,
      conditions: conditions.map((before) =>
        before.status === status ? before : { ...before, lastTransitionTime, reason, status },
      ),
    })
  })
}

/** The object with another status; `undefined` where it has that already. */
export function withStatus(
  object: Unstructured,
  status: Readonly<Record<string, unknown>>,
): Unstructured | undefined {
  return sameJson(object['status'], status) ? undefined : { ...object, status }
}

/** Compares JSON whatever the order of its keys: what was read back may have another. */
function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) =>
    sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  )
}

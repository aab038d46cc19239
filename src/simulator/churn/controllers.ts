import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { equalJson } from '../api/json.ts'
import { evictedPod, recoveredNode, lostNode, unreadyPod } from '../population/node-health.ts'
import { resources } from '../population/object.ts'
import { type PodTemplate, statefulPodIdentity, templateOf } from '../population/pod.ts'
import {
  hashLabel,
  replicaSetItem,
  revisionAnnotation,
  revisionLabel,
} from '../population/workloads.ts'
import { jobStatus, maxSurge, maxUnavailable } from '../population/workload-status.ts'
import {
  activePods,
  type Cluster,
  type DeploymentRecord,
  type Outage,
  type PodGroup,
  type PodRecord,
  type Reconciled,
  replicasOf,
} from './cluster.ts'
import type { EventRecorder } from './events.ts'
import { controllerResources, type PodLifecycle } from './pods.ts'
import { countPods, revisionOf } from './status-sync.ts'

export interface Loop {
  readonly cluster: Cluster
  readonly events: EventRecorder
  readonly lifecycle: PodLifecycle
}

/**
 * Brings an object one step closer to its desired state. Works from the current state only, so changes by clients are
 * handled like its own. Returns `false` if nothing is left to do, or if the rest has to wait.
 */
export function reconcile(loop: Loop, item: Reconciled): boolean {
  if (item.kind === 'Outage') return reconcileOutage(loop, item)
  if (item.kind === 'Deployment') return reconcileDeployment(loop, item)
  if (item.orphaned) return collectGarbage(loop, item)
  if (loop.lifecycle.advance(item)) return true
  if (item.kind === 'StatefulSet') return reconcileStatefulSet(loop, item)
  return item.kind === 'Job' && reconcileJob(loop, item)
}

function reconcileDeployment(loop: Loop, record: DeploymentRecord): boolean {
  const { cluster, lifecycle } = loop
  const revisions = cluster.ownedBy(record)
  if (revisions.some((group) => lifecycle.advance(group))) return true
  const deployment = cluster.require(resources.deployments, record)
  const template = templateOf(deployment)
  const fresh = revisions.findLast((group) => hasTemplate(cluster, group, template))
  if (fresh === undefined || fresh !== revisions.at(-1)) {
    makeCurrent(loop, record, deployment, fresh)
    return true
  }
  const desired = replicasOf(deployment)
  const { active, ready } = countPods(revisions)
  const updated = activePods(fresh)
  const old = revisions.flatMap((group) => (group === fresh ? [] : activePods(group)))
  const surge = old.length === 0 ? 0 : maxSurge(desired)
  if (updated.length < desired && active < desired + surge) {
    setReplicas(loop, deployment, fresh, old.length === 0 ? desired : updated.length + 1)
    lifecycle.create(fresh)
    return true
  }
  if (updated.length > desired) {
    setReplicas(loop, deployment, fresh, desired)
    // Deletes pods that are not ready first, then the youngest.
    lifecycle.terminate(updated.find((pod) => !pod.ready) ?? (updated.at(-1) as PodRecord))
    return true
  }
  // Deletes old pods that are not ready first. Deletes ready pods as long as enough ready pods remain.
  const [first] = old
  const spare = ready > desired - maxUnavailable(desired) ? first : undefined
  const surplus = old.find((pod) => !pod.ready) ?? spare
  if (surplus !== undefined) {
    setReplicas(loop, deployment, surplus.group, activePods(surplus.group).length - 1)
    lifecycle.terminate(surplus)
    return true
  }
  if (old.length > 0) return false
  const before = cluster.writes
  for (const group of revisions) setReplicas(loop, deployment, group, group === fresh ? desired : 0)
  prune(loop, revisions, deployment)
  return cluster.writes > before
}

function hasTemplate(cluster: Cluster, group: PodGroup, { metadata, spec }: PodTemplate): boolean {
  const replicaSet = cluster.get(resources.replicaSets, group)
  if (replicaSet === undefined) return false
  const own = templateOf(replicaSet)
  const { [hashLabel]: _hash, ...labels } = own.metadata.labels ?? {}
  const isSame = equalJson(labels, metadata.labels ?? {}) && equalJson(own.spec, spec)
  return isSame && equalJson(own.metadata.annotations ?? {}, metadata.annotations ?? {})
}

/** Creates a ReplicaSet of the Deployment's template, or reuses that of an older revision with the same template. */
function makeCurrent(
  { cluster, events }: Loop,
  record: DeploymentRecord,
  deployment: Unstructured,
  old: PodGroup | undefined,
): void {
  const revision = String((cluster.ownedBy(record).at(-1)?.revision ?? 0) + 1)
  const numbered = (object: Unstructured): Unstructured => {
    const annotations = { ...object.metadata.annotations, [revisionAnnotation]: revision }
    return { ...object, metadata: { ...object.metadata, annotations } }
  }
  const changed = cluster.change(resources.deployments, record, numbered)
  if (old !== undefined) {
    cluster.change(resources.replicaSets, old, numbered)
    cluster.changed.add(old)
    return
  }
  const hash = cluster.random.suffix(9)
  const name = `${record.name}-${hash}`
  const item = replicaSetItem(changed, templateOf(deployment), {
    name,
    hash,
    revision: Number(revision),
    replicas: 0,
    desired: replicasOf(deployment),
    uid: cluster.random.uid(),
    createdAtMs: cluster.now(),
    counts: { active: 0, ready: 0, terminating: 0 },
  })
  cluster.create(item)
  const message = `Created new replica set "${name}"`
  events.normal(changed, 'deployment-controller', 'NewReplicaSetCreated', message)
}

/** Changes `spec.replicas` of a ReplicaSet, and reports the change as the Deployment controller does. */
function setReplicas(
  { cluster, events }: Loop,
  deployment: Unstructured,
  group: PodGroup,
  replicas: number,
): void {
  let from = replicas
  cluster.change(resources.replicaSets, group, (object) => {
    from = replicasOf(object)
    if (from === replicas) return undefined
    const generation = (object.metadata.generation ?? 1) + 1
    const metadata = { ...object.metadata, generation }
    return { ...object, metadata, spec: { ...(object['spec'] as object), replicas } }
  })
  if (from === replicas) return
  cluster.changed.add(group)
  const way = replicas > from ? 'up' : 'down'
  const message = `Scaled ${way} replica set ${group.name} from ${from} to ${replicas}`
  events.normal(deployment, 'deployment-controller', 'ScalingReplicaSet', message)
}

function prune({ cluster }: Loop, revisions: readonly PodGroup[], deployment: Unstructured): void {
  const { revisionHistoryLimit = 10 } = deployment['spec'] as { revisionHistoryLimit?: number }
  const old = revisions.slice(0, -1).filter((group) => group.pods.size === 0)
  for (const group of old.slice(0, Math.max(0, old.length - revisionHistoryLimit)))
    cluster.remove(resources.replicaSets, group)
}

/** Does the garbage collector's work: deletes the pods of an orphaned controller one by one, then the controller. */
function collectGarbage({ cluster }: Loop, group: PodGroup): boolean {
  const [pod] = group.pods
  if (pod !== undefined) {
    cluster.remove(resources.pods, pod)
    return true
  }
  const controller = cluster.get(controllerResources[group.kind], group)
  if (controller?.metadata.uid === group.uid) cluster.remove(controllerResources[group.kind], group)
  cluster.forget(group)
  return false
}

const ordinalOf = ({ name }: PodRecord): number => Number(name.slice(name.lastIndexOf('-') + 1))

/** Creates the missing pod with the lowest number. Deletes surplus pods from the highest number down. */
function reconcileStatefulSet({ cluster, lifecycle }: Loop, group: PodGroup): boolean {
  const statefulSet = cluster.require(resources.statefulSets, group)
  const replicas = replicasOf(statefulSet)
  const there = new Map([...group.pods].map((pod) => [ordinalOf(pod), pod]))
  for (let ordinal = 0; ordinal < replicas; ordinal++) {
    const pod = there.get(ordinal)
    if (pod !== undefined) {
      if (pod.ready) continue
      return false
    }
    const hash = revisionOf(statefulSet).slice(group.name.length + 1)
    lifecycle.create(group, hash === '' ? {} : { [revisionLabel]: hash }, (controller) =>
      statefulPodIdentity(controller, ordinal),
    )
    return true
  }
  const last = Math.max(...there.keys())
  const surplus = last < replicas ? undefined : there.get(last)
  if (surplus === undefined || surplus.terminating) return false
  lifecycle.terminate(surplus)
  return true
}

/** Runs one pod at a time until one succeeds or too many have failed. */
function reconcileJob(loop: Loop, group: PodGroup): boolean {
  const { cluster, lifecycle } = loop
  if (group.outcome !== undefined) return false
  const job = cluster.require(resources.jobs, group)
  const { backoffLimit = 6, suspend = false } = job['spec'] as {
    readonly backoffLimit?: number
    readonly suspend?: boolean
  }
  const pods = [...group.pods]
  const failed = pods.filter(({ stage }) => stage === 'failed').length
  const running = pods.find(({ stage, ready }) => stage === 'running' && ready)
  if (pods.some(({ stage }) => stage === 'succeeded')) endJob(loop, group, job, 'complete', failed)
  else if (failed > backoffLimit) endJob(loop, group, job, 'failed', failed)
  // A Job that has failed once fails again.
  else if (running !== undefined)
    lifecycle.finish(running, failed === 0 && !cluster.random.chance(0.1))
  else if (activePods(group).length === 0 && !suspend) lifecycle.create(group)
  else return false
  return true
}

function endJob(
  loop: Loop,
  group: PodGroup,
  job: Unstructured,
  kind: 'complete' | 'failed',
  failed: number,
): void {
  const { cluster, events } = loop
  const finishedAtMs = cluster.now()
  const startedAtMs = Date.parse(job.metadata.creationTimestamp ?? '')
  const status = jobStatus(startedAtMs, failed, { kind, finishedAtMs })
  const ended = cluster.change(resources.jobs, group, (object) => ({ ...object, status }))
  if (kind === 'complete') events.normal(ended, 'job-controller', 'Completed', 'Job completed')
  else {
    const message = 'Job has reached the specified backoff limit'
    const report = { type: 'Warning', reason: 'BackoffLimitExceeded', message } as const
    events.record({ regarding: ended, component: 'job-controller', ...report })
  }
  const last = kind === 'complete' ? { lastSuccessfulTime: timestamp(finishedAtMs) } : {}
  const cronJob = [...cluster.cronJobs.values()].find(({ uid }) => uid === group.owner)
  if (cronJob === undefined) return
  const object = syncCronJob(cluster, cronJob, last)
  if (object === undefined) return
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = object['spec'] as {
    readonly successfulJobsHistoryLimit?: number
    readonly failedJobsHistoryLimit?: number
  }
  const limit = kind === 'complete' ? successfulJobsHistoryLimit : failedJobsHistoryLimit
  const alike = cluster.ownedBy(cronJob).filter(({ outcome }) => outcome === kind)
  for (const one of alike.slice(0, Math.max(0, alike.length - limit))) cluster.orphan(one)
}

/** Updates the status of a CronJob: its active Jobs, and `more`. Returns the CronJob if it exists. */
export function syncCronJob(
  cluster: Cluster,
  cronJob: { readonly namespace: string; readonly name: string; readonly uid: string },
  more: Readonly<Record<string, unknown>>,
): Unstructured | undefined {
  if (cluster.get(resources.cronJobs, cronJob) === undefined) return undefined
  const going = cluster.ownedBy(cronJob).filter(({ outcome }) => outcome === undefined)
  const active = going.map(({ name, namespace, uid }) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    name,
    namespace,
    uid,
  }))
  return cluster.change(resources.cronJobs, cronJob, (object) => {
    const { active: _before, ...rest } = (object['status'] ?? {}) as { active?: unknown }
    const status = { ...rest, ...more, ...(active.length === 0 ? {} : { active }) }
    return equalJson(status, object['status']) ? undefined : { ...object, status }
  })
}

/** Whether a CronJob has an unfinished Job. */
export function isRunning(
  cluster: Cluster,
  cronJob: { readonly namespace: string; readonly uid: string },
): boolean {
  return cluster.ownedBy(cronJob).some(({ outcome }) => outcome === undefined)
}

/**
 * Works through the effects of a silent node: its pods become not ready, then they are evicted, and Deployments start
 * replacements elsewhere. Pods of StatefulSets wait for the node, those of DaemonSets stay. After a while the node
 * comes back.
 */
function reconcileOutage({ cluster, events }: Loop, outage: Outage): boolean {
  const node = cluster.nodes.get(outage.node)
  // A client may have restored or deleted the node.
  if (node === undefined || node.ready) return false
  for (const pod of node.pods) {
    if (!pod.ready) continue
    cluster.change(resources.pods, pod, (object) => unreadyPod(object, cluster.now()))
    return true
  }
  for (const pod of node.pods) {
    const { group, namespace, name } = pod
    // Pods that are broken on purpose stay visible.
    const stays = group.kind === 'DaemonSet' || cluster.badImages.has(pod.image)
    if (pod.terminating || stays) continue
    const evicted = cluster.change(resources.pods, pod, (object) =>
      evictedPod(object, cluster.now()),
    )
    const message = `Marking for deletion Pod ${namespace}/${name}`
    events.normal(evicted, 'taint-eviction-controller', 'TaintManagerEviction', message)
    cluster.activate(group)
    outage.turnsLeft += 3
    return true
  }
  outage.turnsLeft -= 1
  if (outage.turnsLeft > 0) return true
  setNodeHealth({ cluster, events }, outage.node, recoveredNode, 'NodeReady')
  return false
}

/** Writes the change of a node that became silent or came back, and its Event. */
export function setNodeHealth(
  { cluster, events }: Pick<Loop, 'cluster' | 'events'>,
  name: string,
  change: (node: Unstructured, atMs: number) => Unstructured,
  reason: 'NodeNotReady' | 'NodeReady',
): void {
  const at = { namespace: '', name }
  const node = cluster.change(resources.nodes, at, (object) => change(object, cluster.now()))
  events.normal(node, 'node-controller', reason, `Node ${name} status is now: ${reason}`)
}

/** Makes a node silent. It stays silent for longer the more pods are evicted. */
export function beginOutage(loop: Loop, name: string): void {
  setNodeHealth(loop, name, lostNode, 'NodeNotReady')
  loop.cluster.active.add({ kind: 'Outage', node: name, turnsLeft: 10 })
}

/*
 * The controllers. Each `reconcile` brings one object a step closer to its desired state, from the current state only:
 * a Deployment makes and shrinks ReplicaSets, a StatefulSet its pods in order, a Job one pod at a time, and a silent
 * node loses its pods.
 */

import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type { Deployment, StatefulSet } from '../../kubernetes/wire/apps-v1.ts'
import type { CronJob } from '../../kubernetes/wire/batch-v1.ts'
import { equalJson } from '../api/json.ts'
import {
  activePods,
  type Cluster,
  type Controller,
  controllerResources,
  type Outage,
  type PodRecord,
  replicasOf,
  revisionAnnotation,
} from './cluster.ts'
import { advancePods, createPod, finishPod, terminatePod } from './pods.ts'
import { evictPod, loseNode, recoverNode } from './nodes.ts'
import { identified, minute, ownerReference } from './object.ts'
import { labelled, type PodIdentity, type PodTemplate, templateOf } from './pod.ts'
import { countPods, failedPods, jobStatus, maxSurge, maxUnavailable, withStatus } from './status.ts'

/**
 * Brings an object one step closer to its desired state. Works from the current state only, so changes by clients are
 * handled like its own. Returns `false` if nothing is left to do, or if the rest has to wait.
 */
export function reconcile(cluster: Cluster, item: Controller | Outage): boolean {
  if (item.kind === 'Outage') return reconcileOutage(cluster, item)
  if (item.orphaned) {
    // The garbage collector deletes the pods one by one, then the controller.
    const [pod] = item.pods
    const resource = controllerResources[item.kind]
    if (pod !== undefined) cluster.remove(resources.pods, pod)
    else {
      if (cluster.get(resource, item)?.metadata.uid === item.uid) cluster.remove(resource, item)
      cluster.forget(item)
    }
    return pod !== undefined
  }
  if (item.kind === 'Deployment') return reconcileDeployment(cluster, item)
  if (advancePods(cluster, item)) return true
  if (item.kind === 'StatefulSet') return reconcileStatefulSet(cluster, item)
  if (item.kind !== 'Job' || item.outcome !== undefined) return false
  // A Job runs one pod at a time until one succeeds or too many have failed.
  const { spec } = cluster.require(resources.jobs, item)
  const pods = [...item.pods]
  const running = pods.find(({ stage, ready }) => stage === 'running' && ready)
  if (pods.some(({ stage }) => stage === 'succeeded')) endJob(cluster, item, 'complete')
  else if (failedPods(item) > (spec?.backoffLimit ?? 6)) endJob(cluster, item, 'failed')
  else if (running !== undefined) finishPod(cluster, running, !cluster.badImages.has(running.image))
  else if (activePods(item).length === 0 && spec?.suspend !== true) createPod(cluster, item)
  else return false
  return true
}

function reconcileDeployment(cluster: Cluster, record: Controller): boolean {
  const revisions = cluster.ownedBy(record)
  if (revisions.some((group) => advancePods(cluster, group))) return true
  const deployment = cluster.require(resources.deployments, record)
  const template = templateOf(deployment)
  const { labels = {}, annotations = {} } = template.metadata ?? {}
  const fresh = revisions.findLast((group) => {
    const replicaSet = cluster.get(resources.replicaSets, group)
    if (replicaSet === undefined) return false
    const { metadata, spec } = templateOf(replicaSet)
    const { [hashLabel]: _hash, ...own } = metadata?.labels ?? {}
    const isSame = equalJson(own, labels) && equalJson(spec, template.spec)
    return isSame && equalJson(metadata?.annotations ?? {}, annotations)
  })
  if (fresh === undefined || fresh !== revisions.at(-1)) {
    makeCurrent(cluster, record, fresh)
    return true
  }
  const desired = replicasOf(deployment)
  const { active, ready } = countPods(revisions)
  const updated = activePods(fresh)
  const old = revisions.flatMap((group) => (group === fresh ? [] : activePods(group)))
  const surge = old.length === 0 ? 0 : maxSurge(desired)
  if (updated.length < desired && active < desired + surge) {
    setReplicas(cluster, deployment, fresh, old.length === 0 ? desired : updated.length + 1)
    createPod(cluster, fresh)
    return true
  }
  // Deletes pods that are not ready first, then the youngest.
  const extra =
    updated.length > desired ? (updated.find((pod) => !pod.ready) ?? updated.at(-1)) : undefined
  // Deletes old pods that are not ready first. Deletes ready pods as long as enough ready pods remain.
  const spare = ready > desired - maxUnavailable(desired) ? old[0] : undefined
  const surplus = extra ?? old.find((pod) => !pod.ready) ?? spare
  if (surplus !== undefined) {
    const { controller } = surplus
    const left = controller === fresh ? desired : activePods(controller).length - 1
    setReplicas(cluster, deployment, controller, left)
    terminatePod(cluster, surplus)
    return true
  }
  if (old.length > 0) return false
  const before = cluster.writes
  for (const group of revisions)
    setReplicas(cluster, deployment, group, group === fresh ? desired : 0)
  const gone = revisions.slice(0, -1).filter((group) => group.pods.size === 0)
  const limit = deployment.spec?.revisionHistoryLimit ?? 10
  for (const group of gone.slice(0, Math.max(0, gone.length - limit)))
    cluster.remove(resources.replicaSets, group)
  return cluster.writes > before
}

/** The label that identifies the revision of a Deployment's pods. */
const hashLabel = 'pod-template-hash'

/** Creates a ReplicaSet of the Deployment's template, or reuses that of an older revision with the same template. */
function makeCurrent(cluster: Cluster, record: Controller, old: Controller | undefined): void {
  const revision = (cluster.ownedBy(record).at(-1)?.revision ?? 0) + 1
  const numbered = (object: Unstructured): Unstructured => {
    const annotations = { ...object.metadata.annotations, [revisionAnnotation]: String(revision) }
    return { ...object, metadata: { ...object.metadata, annotations } }
  }
  const deployment = numbered(cluster.require(resources.deployments, record))
  cluster.update(resources.deployments, deployment)
  if (old !== undefined) {
    cluster.change(resources.replicaSets, old, numbered)
    cluster.changed.add(old)
    return
  }
  const { name } = createReplicaSet(cluster, deployment, templateOf(deployment), revision, 0)
  const message = `Created new replica set "${name}"`
  cluster.record(deployment, 'deployment-controller', 'NewReplicaSetCreated', message)
}

/** Creates the ReplicaSet of a revision of a Deployment. */
export function createReplicaSet(
  cluster: Cluster,
  deployment: Unstructured,
  template: PodTemplate,
  revision: number,
  replicas: number,
): Controller {
  const hash = cluster.random.suffix(9)
  const uid = cluster.random.uid()
  const hashed = labelled(template, { [hashLabel]: hash })
  const { namespace = '', name } = deployment.metadata
  const { selector } = (deployment as Deployment & Unstructured).spec ?? {}
  const matchLabels = { ...selector?.matchLabels, [hashLabel]: hash }
  const desired = replicasOf(deployment)
  const metadata = {
    name: `${name}-${hash}`,
    namespace,
    generation: 1,
    labels: hashed.metadata?.labels ?? {},
    annotations: {
      'deployment.kubernetes.io/desired-replicas': String(desired),
      'deployment.kubernetes.io/max-replicas': String(desired + maxSurge(desired)),
      [revisionAnnotation]: String(revision),
    },
    ownerReferences: [ownerReference(deployment)],
  }
  const spec = { replicas, selector: { ...selector, matchLabels }, template: hashed }
  const status = { replicas: 0 }
  return create(cluster, 'ReplicaSet', { metadata, spec, status }, uid)
}

function create(
  cluster: Cluster,
  kind: Controller['kind'],
  written: Parameters<typeof identified>[1],
  uid: string,
): Controller {
  const resource = controllerResources[kind]
  cluster.create(resource, identified(resource, written, { uid, createdAtMs: cluster.now() }))
  return cluster.controllers.get(uid) as Controller
}

/** Changes `spec.replicas` of a ReplicaSet, and reports the change as the Deployment controller does. */
function setReplicas(
  cluster: Cluster,
  deployment: Unstructured,
  group: Controller,
  replicas: number,
): void {
  const replicaSet = cluster.get(resources.replicaSets, group)
  const from = replicaSet === undefined ? replicas : replicasOf(replicaSet)
  if (replicaSet === undefined || from === replicas) return
  cluster.update(resources.replicaSets, withSpec(replicaSet, { replicas }))
  cluster.changed.add(group)
  const way = replicas > from ? 'up' : 'down'
  const message = `Scaled ${way} replica set ${group.name} from ${from} to ${replicas}`
  cluster.record(deployment, 'deployment-controller', 'ScalingReplicaSet', message)
}

/** An object with other fields of its spec, and so the next generation. */
export function withSpec(object: Unstructured, fields: object): Unstructured {
  const { metadata } = object
  const generation = (metadata.generation ?? 1) + 1
  const spec = { ...(object['spec'] as object), ...fields }
  return { ...object, metadata: { ...metadata, generation }, spec }
}

const ordinalOf = ({ name }: PodRecord): number => Number(name.slice(name.lastIndexOf('-') + 1))

/** Creates the missing pod with the lowest number. Deletes surplus pods from the highest number down. */
function reconcileStatefulSet(cluster: Cluster, group: Controller): boolean {
  const statefulSet = cluster.require(resources.statefulSets, group)
  const replicas = replicasOf(statefulSet)
  const there = new Map([...group.pods].map((pod) => [ordinalOf(pod), pod]))
  for (let ordinal = 0; ordinal < replicas; ordinal++) {
    const pod = there.get(ordinal)
    if (pod?.ready === true) continue
    if (pod !== undefined) return false
    const hash = (statefulSet.status?.updateRevision ?? '').slice(group.name.length + 1)
    createPod(cluster, group, hash === '' ? {} : { [revisionLabel]: hash }, (controller) =>
      statefulPodIdentity(controller, ordinal),
    )
    return true
  }
  const last = Math.max(...there.keys())
  const surplus = last < replicas ? undefined : there.get(last)
  if (surplus === undefined || surplus.terminating) return false
  terminatePod(cluster, surplus)
  return true
}

/** The label that identifies the revision of a StatefulSet's or DaemonSet's pods. */
export const revisionLabel = 'controller-revision-hash'

/** The ordinal, the host name and the volumes of a StatefulSet's pod. */
export function statefulPodIdentity(
  statefulSet: Unstructured,
  ordinal: number,
): Pick<PodIdentity, 'name' | 'labels' | 'spec'> {
  const { spec } = statefulSet as StatefulSet & Unstructured
  const name = `${statefulSet.metadata.name}-${ordinal}`
  const labels = {
    'apps.kubernetes.io/pod-index': String(ordinal),
    'statefulset.kubernetes.io/pod-name': name,
  }
  const claims = (spec?.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? '')
  const volumes = claims.map((claim) => ({
    name: claim,
    persistentVolumeClaim: { claimName: `${claim}-${name}` },
  }))
  const subdomain = spec?.serviceName === undefined ? {} : { subdomain: spec.serviceName }
  return { name, labels, spec: { hostname: name, ...subdomain, volumes } }
}

/** Starts a Job of a CronJob. `template` is the CronJob or an earlier version of it. */
export function startJob(
  cluster: Cluster,
  record: Controller,
  template: CronJob & Unstructured,
): Controller {
  const cronJob = cluster.require(resources.cronJobs, record)
  const { namespace } = record
  // The first minute with a free name. A busy loop may run a CronJob twice in a minute.
  let scheduledAtMs = Math.floor(cluster.now() / minute) * minute
  const nameAt = (atMs: number): string => `${record.name}-${Math.floor(atMs / minute)}`
  while (cluster.get(resources.jobs, { namespace, name: nameAt(scheduledAtMs) }) !== undefined)
    scheduledAtMs += minute
  const name = nameAt(scheduledAtMs)
  const uid = cluster.random.uid()
  const { metadata, spec } = template.spec.jobTemplate
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  }
  const startedAt = timestamp(scheduledAtMs)
  const job = {
    metadata: {
      name,
      namespace,
      generation: 1,
      labels: { ...metadata?.labels, ...labels },
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': startedAt },
      ownerReferences: [ownerReference(cronJob)],
    },
    spec: {
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      completions: 1,
      manualSelector: false,
      parallelism: 1,
      podReplacementPolicy: 'TerminatingOrFailed',
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      suspend: false,
      ...spec,
      template: labelled(spec?.template as PodTemplate, labels),
    },
  }
  const started = create(cluster, 'Job', job, uid)
  reportRun(cluster, record, { lastScheduleTime: startedAt })
  cluster.record(cronJob, 'cronjob-controller', 'SuccessfulCreate', `Created job ${name}`)
  return started
}

function reportRun(cluster: Cluster, record: Controller, fields: object): void {
  cluster.change(resources.cronJobs, record, (object) =>
    withStatus(cluster, object, { ...object.status, ...fields }),
  )
}

function endJob(cluster: Cluster, group: Controller, outcome: 'complete' | 'failed'): void {
  const endedAtMs = cluster.now()
  const job = cluster.require(resources.jobs, group)
  const ended = withStatus(cluster, job, jobStatus(job, group, outcome, endedAtMs)) ?? job
  cluster.update(resources.jobs, ended)
  const isDone = outcome === 'complete'
  const reason = isDone ? 'Completed' : 'BackoffLimitExceeded'
  const message = isDone ? 'Job completed' : 'Job has reached the specified backoff limit'
  cluster.record(ended, 'job-controller', reason, message, { type: isDone ? 'Normal' : 'Warning' })
  const record = cluster.controllers.get(group.owner)
  const cronJob = record && cluster.get(resources.cronJobs, record)
  if (record === undefined || cronJob === undefined) return
  if (outcome === 'complete')
    reportRun(cluster, record, { lastSuccessfulTime: timestamp(endedAtMs) })
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cronJob.spec
  const limit = outcome === 'complete' ? successfulJobsHistoryLimit : failedJobsHistoryLimit
  const alike = cluster.ownedBy(record).filter((one) => one.outcome === outcome)
  for (const one of alike.slice(0, Math.max(0, alike.length - limit))) cluster.orphan(one)
}

/** Makes a node silent. It stays silent for longer the more pods are evicted. */
export function beginOutage(cluster: Cluster, name: string): void {
  setSilent(cluster, name, loseNode, 'NodeNotReady')
  cluster.active.add({ kind: 'Outage', node: name, turnsLeft: 10 })
}

function setSilent(
  cluster: Cluster,
  name: string,
  change: typeof recoverNode,
  reason: 'NodeNotReady' | 'NodeReady',
): void {
  const pods = cluster.podsOn(name).flatMap((pod) => cluster.get(resources.pods, pod) ?? [])
  const before = cluster.require(resources.nodes, { namespace: '', name })
  const node = change(cluster, before, pods, cluster.now())
  cluster.record(node, 'node-controller', reason, `Node ${name} status is now: ${reason}`)
}

/**
 * Works through the effects of a silent node: its pods are evicted, and Deployments start replacements elsewhere. Pods
 * of StatefulSets wait for the node, those of DaemonSets stay. After a while the node comes back.
 */
function reconcileOutage(cluster: Cluster, outage: Outage): boolean {
  // A client may have restored or deleted the node.
  if (cluster.nodes.get(outage.node)?.ready !== false) return false
  const pod = cluster.podsOn(outage.node).find(
    // Pods that are broken on purpose stay visible.
    ({ terminating, controller, image }) =>
      !terminating && controller.kind !== 'DaemonSet' && !cluster.badImages.has(image),
  )
  if (pod !== undefined) {
    const evicted = evictPod(cluster, cluster.require(resources.pods, pod), cluster.now())
    const message = `Marking for deletion Pod ${pod.namespace}/${pod.name}`
    cluster.record(evicted, 'taint-eviction-controller', 'TaintManagerEviction', message)
    cluster.activate(pod.controller)
    outage.turnsLeft += 3
    return true
  }
  outage.turnsLeft -= 1
  if (outage.turnsLeft > 0) return true
  setSilent(cluster, outage.node, recoverNode, 'NodeReady')
  return false
}

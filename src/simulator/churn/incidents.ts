import { resources } from '../../kubernetes/resources.ts'
import { microTimestamp, timestamp } from '../../kubernetes/timestamp.ts'
import type { Container } from '../../kubernetes/wire/core-v1.ts'
import { activePods, type Cluster, type Controller, replicasOf } from './cluster.ts'
import { beginOutage, type Loop, startJob, withSpec } from './controllers.ts'
import { templateOf } from './pod.ts'
import { isHealthy } from './pods.ts'
import { withStatus } from './status.ts'

/** Makes one routine change: a heartbeat of a node, a restart in a crash loop, or an autoscaler that reads metrics. */
export function routineChange(loop: Loop): void {
  const { cluster } = loop
  const which = cluster.random.next()
  if (which < 0.5) return sendHeartbeat(cluster)
  if (which < 0.7) return void turnCrashLoop(loop)
  if (which < 0.9) return readMetrics(loop)
  // A resync, as in informers. It finds work that no event has announced.
  const found = oneOf(cluster, [...cluster.controllers.values()])
  if (found !== undefined) cluster.active.add(found)
}

/** Restarts a container in a crash loop, or lets it fail again. Returns whether there is one. */
export function turnCrashLoop({ cluster, lifecycle }: Loop): boolean {
  const turning = [...cluster.crashing].filter(
    ({ stage, terminating }) => !terminating && (stage === 'running' || stage === 'waiting'),
  )
  const pod = oneOf(cluster, turning)
  if (pod !== undefined) lifecycle.turnCrashLoop(pod)
  return pod !== undefined
}

/**
 * Makes a random change of desired state or pods, which the controllers then act on. Does nothing if the chosen change
 * is impossible now.
 */
export function randomChange(loop: Loop): void {
  const { cluster, lifecycle } = loop
  const { random } = cluster
  const which = random.next()
  if (which < 0.006) return silenceNode(loop)
  if (which < 0.12) return runCronJob(loop)
  if (which < 0.18) {
    const group = oneOf(cluster, [...cluster.ofKind('StatefulSet')])
    const pods = [...(group?.pods ?? [])]
    if (group === undefined || !pods.every(isHealthy) || pods.length === 0) return
    lifecycle.terminate(random.pick(pods))
    cluster.active.add(group)
    return
  }
  const record = oneOf(cluster, [...cluster.ofKind('Deployment')])
  if (record === undefined || !isSettled(cluster, record)) return
  if (which < 0.45) {
    lifecycle.restart(random.pick([...(cluster.ownedBy(record).at(-1)?.pods ?? [])]))
    cluster.active.add(record)
  } else if (which < 0.75) release(cluster, record)
  else if (!cluster.autoscalers.has(`${record.namespace}/${record.name}`))
    scale(cluster, record, nextReplicas(cluster, record))
}

function oneOf<T>({ random }: Cluster, list: readonly T[]): T | undefined {
  return list.length === 0 ? undefined : random.pick(list)
}

/** Whether a Deployment is at rest: one revision has pods, and all of them are ready. */
function isSettled(cluster: Cluster, record: Controller): boolean {
  const revisions = cluster.ownedBy(record)
  const current = revisions.at(-1)
  if (cluster.active.has(record) || current === undefined || current.pods.size === 0) return false
  return revisions.every((group) =>
    group === current ? [...group.pods].every(isHealthy) : group.pods.size === 0,
  )
}

/** The number of Lease renewals per status report of a node. */
const renewalsPerReport = 6

/** Sends a node's heartbeat: renews its Lease, and sometimes reports its status. */
function sendHeartbeat(cluster: Cluster): void {
  const node = oneOf(
    cluster,
    [...cluster.nodes].filter(({ ready }) => ready),
  )
  if (node === undefined) return
  const { name } = node
  const nowMs = cluster.now()
  cluster.change(resources.leases, { namespace: 'kube-node-lease', name }, (lease) => ({
    ...lease,
    spec: { ...lease.spec, renewTime: microTimestamp(nowMs) },
  }))
  if (!cluster.random.chance(1 / renewalsPerReport)) return
  const lastHeartbeatTime = timestamp(nowMs)
  cluster.change(resources.nodes, { namespace: '', name }, ({ status, ...object }) => {
    const conditions = status?.conditions?.map((one) => ({ ...one, lastHeartbeatTime }))
    return { ...object, status: { ...status, conditions } }
  })
}

/** Makes a node silent, if there are enough other nodes and no other node is silent. */
function silenceNode(loop: Loop): void {
  const { cluster } = loop
  const { open } = cluster.nodes
  if (open.length < 4 || [...cluster.active].some(({ kind }) => kind === 'Outage')) return
  beginOutage(loop, cluster.random.pick(open).name)
}

function runCronJob(loop: Loop): void {
  const { cluster } = loop
  const record = oneOf(cluster, [...cluster.ofKind('CronJob')])
  const cronJob = record && cluster.get(resources.cronJobs, record)
  if (record === undefined || cronJob === undefined || cronJob.spec.suspend === true) return
  if (cluster.ownedBy(record).every(({ outcome }) => outcome !== undefined))
    startJob(loop, record, cronJob)
}

const versionPattern = /:(\d+)\.(\d+)\.(\d+)$/

/** Releases a new version of an app: increments the tag of its image. */
function release(cluster: Cluster, record: Controller): void {
  cluster.change(resources.deployments, record, (deployment) => {
    const { metadata, spec: pod } = templateOf(deployment)
    const image = pod.containers[0]?.image ?? ''
    const [found, major, middle, patch] = versionPattern.exec(image) ?? []
    if (found === undefined) return undefined
    const version = cluster.random.chance(0.2)
      ? `${major}.${Number(middle) + 1}.0`
      : `${major}.${middle}.${Number(patch) + 1}`
    const next = image.replace(versionPattern, `:${version}`)
    const bumped = (list: readonly Container[]): Container[] =>
      list.map((one) => (one.image === image ? { ...one, image: next } : one))
    const { initContainers, containers } = pod
    const init = initContainers === undefined ? {} : { initContainers: bumped(initContainers) }
    const label = { 'app.kubernetes.io/version': version }
    const template = {
      metadata: { ...metadata, labels: { ...metadata?.labels, ...label } },
      spec: { ...pod, ...init, containers: bumped(containers) },
    }
    const labels = { ...deployment.metadata.labels, ...label }
    return withSpec({ ...deployment, metadata: { ...deployment.metadata, labels } }, { template })
  })
  cluster.active.add(record)
}

/** Changes `spec.replicas` of a Deployment. */
function scale(cluster: Cluster, record: Controller, replicas: number): void {
  cluster.change(resources.deployments, record, (object) => withSpec(object, { replicas }))
  cluster.active.add(record)
}

/** The next number of replicas: away from the baseline, or back to it. */
function nextReplicas(cluster: Cluster, record: Controller): number {
  const { baseline } = record
  const current = cluster.ownedBy(record).at(-1)
  const now = current === undefined ? 0 : activePods(current).length
  if (now !== baseline) return baseline
  const step = Math.max(1, Math.round(baseline / 4))
  return cluster.random.chance(0.6) ? baseline + step : Math.max(1, baseline - step)
}

/** The relative distance from the target at which an autoscaler acts. */
const tolerance = 0.1

/**
 * Lets one autoscaler read its metrics and scale if the load is off target. The load per pod falls and rises with the
 * pods, so it stays around the target.
 */
function readMetrics({ cluster, events }: Loop): void {
  const at = oneOf(cluster, [...cluster.autoscalers.values()])
  const autoscaler = at && cluster.get(resources.horizontalPodAutoscalers, at)
  const { scaleTargetRef, minReplicas = 1, maxReplicas = 1, metrics } = autoscaler?.spec ?? {}
  const record = [...cluster.ofKind('Deployment')].find(
    ({ namespace, name }) => namespace === at?.namespace && name === scaleTargetRef?.name,
  )
  const deployment = record && cluster.get(resources.deployments, record)
  const current = record && cluster.ownedBy(record).at(-1)
  if (autoscaler === undefined || record === undefined) return
  if (current === undefined || deployment === undefined) return
  const target = metrics?.[0]?.resource?.target.averageUtilization ?? 70
  const replicas = activePods(current).length
  // The load of the baseline is the target, give or take 15 %.
  const load = record.baseline * target * (0.85 + 0.3 * cluster.random.next())
  const utilization = Math.round(load / Math.max(1, replicas))
  const isOff = Math.abs(utilization / target - 1) > tolerance && isSettled(cluster, record)
  const wanted = Math.ceil((replicas * utilization) / target)
  const desired = isOff ? Math.min(maxReplicas, Math.max(minReplicas, wanted)) : replicas
  const usage = { averageUtilization: utilization, averageValue: `${utilization}m` }
  const status = {
    ...autoscaler.status,
    currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: usage } }],
    currentReplicas: replicas,
    desiredReplicas: desired,
    ...(desired === replicas ? {} : { lastScaleTime: timestamp(cluster.now()) }),
  }
  const reported = withStatus(cluster, autoscaler, status)
  if (reported !== undefined) cluster.update(resources.horizontalPodAutoscalers, reported)
  if (desired === replicas || desired === replicasOf(deployment)) return
  const way = desired > record.baseline ? 'above' : 'below'
  const message = `New size: ${desired}; reason: cpu resource utilization (percentage of request) ${way} target`
  const component = 'horizontal-pod-autoscaler'
  events.record(autoscaler, { component, reason: 'SuccessfulRescale', message })
  scale(cluster, record, desired)
}

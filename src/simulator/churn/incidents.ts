import type { Unstructured } from '../../kubernetes/object.ts'
import { microTimestamp, timestamp } from '../../kubernetes/timestamp.ts'
import { resources } from '../population/object.ts'
import { templateOf } from '../population/pod.ts'
import { minute } from '../population/stamp.ts'
import { jobItem, jobName } from '../population/workloads.ts'
import {
  activePods,
  type Cluster,
  type DeploymentRecord,
  type PodRecord,
  replicasOf,
} from './cluster.ts'
import { beginOutage, isRunning, type Loop, syncCronJob } from './controllers.ts'
import { isHealthy } from './pods.ts'
import { withStatus } from './status-sync.ts'

/** Makes one routine change: a heartbeat of a node, a restart in a crash loop, or an autoscaler that reads metrics. */
export function routineChange(loop: Loop): void {
  const { cluster, lifecycle } = loop
  const { random } = cluster
  const which = random.next()
  if (which < 0.5) return sendHeartbeat(cluster)
  if (which < 0.7) {
    const pod = oneOf(cluster, crashLoops(cluster))
    return pod === undefined ? undefined : lifecycle.turnCrashLoop(pod)
  }
  if (which < 0.9) return readMetrics(loop)
  // A resync, as in informers. It finds work that no event has announced.
  const found = oneOf(cluster, [...cluster.deployments.values(), ...cluster.groups.values()])
  if (found !== undefined) cluster.active.add(found)
}

/**
 * Makes a random change of desired state or pods, which the controllers then act on. Does nothing if the chosen change
 * is impossible now.
 */
export function randomChange(loop: Loop): void {
  const { cluster, lifecycle } = loop
  const { random, groups } = cluster
  const which = random.next()
  if (which < 0.006) return silenceNode(loop)
  if (which < 0.12) return runCronJob(loop)
  if (which < 0.18) {
    const group = oneOf(
      cluster,
      [...groups.values()].filter(({ kind }) => kind === 'StatefulSet'),
    )
    const pods = [...(group?.pods ?? [])]
    if (group === undefined || !pods.every(isHealthy) || pods.length === 0) return
    lifecycle.terminate(random.pick(pods))
    cluster.active.add(group)
    return
  }
  const record = oneOf(cluster, [...cluster.deployments.values()])
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

/** The pods in a crash loop that have started. */
function crashLoops({ crashing }: Cluster): readonly PodRecord[] {
  return [...crashing].filter(
    ({ stage, terminating }) => !terminating && (stage === 'running' || stage === 'waiting'),
  )
}

/** Whether a Deployment is at rest: one revision has pods, and all of them are ready. */
function isSettled(cluster: Cluster, record: DeploymentRecord): boolean {
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
    [...cluster.nodes.values()].filter(({ ready }) => ready),
  )
  if (node === undefined) return
  const { name } = node
  const nowMs = cluster.now()
  cluster.changeIfThere(resources.leases, { namespace: 'kube-node-lease', name }, (lease) => ({
    ...lease,
    spec: { ...(lease['spec'] as object), renewTime: microTimestamp(nowMs) },
  }))
  if (!cluster.random.chance(1 / renewalsPerReport)) return
  const lastHeartbeatTime = timestamp(nowMs)
  cluster.changeIfThere(resources.nodes, { namespace: '', name }, (object) => {
    const status = object['status'] as { readonly conditions?: readonly object[] }
    const { conditions = [] } = status
    return {
      ...object,
      status: { ...status, conditions: conditions.map((one) => ({ ...one, lastHeartbeatTime })) },
    }
  })
}

/** Makes a node silent, if there are enough other nodes and no other node is silent. */
function silenceNode(loop: Loop): void {
  const { cluster } = loop
  const open = [...cluster.nodes.values()].filter((node) => node.open)
  if (open.length < 4 || [...cluster.active].some(({ kind }) => kind === 'Outage')) return
  beginOutage(loop, cluster.random.pick(open).name)
}

/** Starts a Job of a random CronJob. */
function runCronJob({ cluster, events }: Loop): void {
  const record = oneOf(cluster, [...cluster.cronJobs.values()])
  const cronJob = record && cluster.get(resources.cronJobs, record)
  if (record === undefined || cronJob === undefined || isRunning(cluster, record)) return
  if ((cronJob['spec'] as { readonly suspend?: boolean }).suspend === true) return
  const { namespace } = record
  // The first minute with a free name. A busy loop may run a CronJob twice in a minute.
  let startedAtMs = Math.floor(cluster.now() / minute) * minute
  let name = jobName(record.name, startedAtMs)
  while (cluster.get(resources.jobs, { namespace, name }) !== undefined)
    name = jobName(record.name, (startedAtMs += minute))
  const uid = cluster.random.uid()
  const outcome = { kind: 'active', ready: 0 } as const
  cluster.create(jobItem(cronJob, { name, uid, startedAtMs, failed: 0, outcome }))
  syncCronJob(cluster, record, { lastScheduleTime: timestamp(startedAtMs) })
  events.normal(cronJob, 'cronjob-controller', 'SuccessfulCreate', `Created job ${name}`)
}

const versionPattern = /:(\d+)\.(\d+)\.(\d+)$/

/** Releases a new version of an app: increments the tag of its image. */
function release(cluster: Cluster, record: DeploymentRecord): void {
  cluster.changeIfThere(resources.deployments, record, (deployment) => {
    const spec = deployment['spec'] as object
    const { metadata, spec: pod } = templateOf(deployment)
    const image = pod.containers[0]?.image ?? ''
    const [found, major, middle, patch] = versionPattern.exec(image) ?? []
    if (found === undefined) return undefined
    const isMinor = cluster.random.chance(0.2)
    const version = isMinor
      ? `${major}.${Number(middle) + 1}.0`
      : `${major}.${middle}.${Number(patch) + 1}`
    const next = image.replace(versionPattern, `:${version}`)
    const bumped = (list: typeof pod.containers): typeof pod.containers =>
      list.map((one) => (one.image === image ? { ...one, image: next } : one))
    const { initContainers, containers } = pod
    const init = initContainers === undefined ? {} : { initContainers: bumped(initContainers) }
    const label = { 'app.kubernetes.io/version': version }
    const labels = { ...metadata.labels, ...label }
    const template = {
      metadata: { ...metadata, labels },
      spec: { ...pod, ...init, containers: bumped(containers) },
    }
    const nextMetadata = {
      ...deployment.metadata,
      labels: { ...deployment.metadata.labels, ...label },
    }
    return withNextGeneration({
      ...deployment,
      metadata: nextMetadata,
      spec: { ...spec, template },
    })
  })
  cluster.active.add(record)
}

/** Changes `spec.replicas` of a Deployment. */
function scale(cluster: Cluster, record: DeploymentRecord, replicas: number): void {
  cluster.changeIfThere(resources.deployments, record, (object) =>
    withNextGeneration({ ...object, spec: { ...(object['spec'] as object), replicas } }),
  )
  cluster.active.add(record)
}

/** The object with the next generation. */
function withNextGeneration(object: Unstructured): Unstructured {
  const { metadata } = object
  return { ...object, metadata: { ...metadata, generation: (metadata.generation ?? 1) + 1 } }
}

/** The next number of replicas: away from the baseline, or back to it. */
function nextReplicas(cluster: Cluster, record: DeploymentRecord): number {
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
  const autoscaler = at && cluster.get(resources.autoscalers, at)
  if (at === undefined || autoscaler === undefined) return
  const {
    scaleTargetRef,
    minReplicas = 1,
    maxReplicas,
    metrics = [],
  } = autoscaler['spec'] as AutoscalerSpec
  const target = metrics[0]?.resource?.target?.averageUtilization ?? 70
  const record = cluster.deployments.get(`${at.namespace}/${scaleTargetRef.name}`)
  const current = record && cluster.ownedBy(record).at(-1)
  const deployment = record && cluster.get(resources.deployments, record)
  if (record === undefined || current === undefined || deployment === undefined) return
  const replicas = activePods(current).length
  // The load of the baseline is the target, give or take 15 %.
  const load = record.baseline * target * (0.85 + 0.3 * cluster.random.next())
  const utilization = Math.round(load / Math.max(1, replicas))
  const isOff = Math.abs(utilization / target - 1) > tolerance && isSettled(cluster, record)
  const wanted = Math.ceil((replicas * utilization) / target)
  const desired = isOff ? Math.min(maxReplicas, Math.max(minReplicas, wanted)) : replicas
  const resource = { name: 'cpu', current: usage(utilization) }
  const scaled = desired === replicas ? {} : { lastScaleTime: timestamp(cluster.now()) }
  cluster.change(resources.autoscalers, at, (object) =>
    withStatus(object, {
      ...(object['status'] as object | undefined),
      currentMetrics: [{ type: 'Resource', resource }],
      currentReplicas: replicas,
      desiredReplicas: desired,
      ...scaled,
    }),
  )
  if (desired === replicas || desired === replicasOf(deployment)) return
  const way = desired > record.baseline ? 'above' : 'below'
  const message = `New size: ${desired}; reason: cpu resource utilization (percentage of request) ${way} target`
  events.normal(autoscaler, 'horizontal-pod-autoscaler', 'SuccessfulRescale', message)
  scale(cluster, record, desired)
}

interface AutoscalerSpec {
  readonly scaleTargetRef: { readonly name: string }
  readonly minReplicas?: number
  readonly maxReplicas: number
  readonly metrics?: readonly {
    readonly resource?: { readonly target?: { readonly averageUtilization?: number } }
  }[]
}

const usage = (percent: number): object => ({
  averageUtilization: percent,
  averageValue: `${percent}m`,
})

/*
 * Lets a cluster live. Each step either makes a routine change (heartbeats, crash loops, autoscalers), begins an
 * activity (a release, a scaling, a Job, an outage), or takes an activity one step further; then the counters of what
 * has changed are written. What clients change is answered within moments besides.
 */

import { once } from 'node:events'
import { resources } from '../../kubernetes/resources.ts'
import { microTimestamp, timestamp } from '../../kubernetes/timestamp.ts'
import type { Container } from '../../kubernetes/wire/core-v1.ts'
import { sleep } from '../../lib/backoff.ts'
import {
  activePods,
  Cluster,
  type ClusterWriter,
  type Controller,
  ObjectGoneError,
  replicasOf,
} from './cluster.ts'
import { beginOutage, reconcile, startJob, withSpec } from './controllers.ts'
import { templateOf } from './pod.ts'
import { isHealthy, restartPod, terminatePod, turnCrashingPod } from './pods.ts'
import { createRandom } from './random.ts'
import { syncChanged, withStatus } from './status.ts'

/** Options of a churn. */
export interface ChurnOptions {
  readonly writer: ClusterWriter
  /** The same seed, clock and objects give the same changes. Default `informerql`. */
  readonly seed?: string
  /** Writes per second: the events that a watcher of all kinds sees. Default 5; 0 for none. */
  readonly eventsPerSecond?: number
  /** The number of rollouts, scalings and other activities at a time. Default: one per 10 Deployments, from 2 to 64. */
  readonly maxActivities?: number
  /** The maximum number of Event objects. The oldest are deleted first. Default 1,000. */
  readonly maxEvents?: number
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number
}

/** Changes a cluster as its controllers, its scheduler and its kubelets would, through one writer. */
export interface Churn {
  /**
   * Makes one change with all its consequences, so that counters, endpoints and pods agree after each step. Returns the
   * number of writes: usually 1 to 6, or 0 without anything to do.
   */
  step(): number
  /**
   * Steps at the configured rate until the signal aborts; what clients change is answered within moments besides. Rejects with the writer's error. */
  run(signal: AbortSignal): Promise<void>
}

/**
 * The longest time between two turns of crash loops, each a restart or the failure after it. By chance alone, a page of
 * broken pods would stay as it is for minutes.
 */
const crashLoopTurnMs = 5_000

/** How often the controllers that a client has changed take a step, and how many of them. */
const answerMs = 200
const mostAnswered = 20

/** The number of idle turns after which a step gives up. */
const mostTurns = 10

/** Prepares a churn. It follows all objects from now on, and writes nothing before the first {@link Churn.step}. */
export function createChurn(options: ChurnOptions): Churn {
  const { writer, seed = 'informerql', eventsPerSecond = 5, maxEvents = 1000 } = options
  const { now = Date.now } = options
  const cluster = new Cluster(writer, createRandom(`${seed}/churn`), now, { maxEvents })
  const { random, active } = cluster
  let begun = false
  let turnedMs = 0

  function begin(): void {
    if (!begun) cluster.begin()
    begun = true
  }

  function step(): number {
    begin()
    const before = cluster.writes
    for (let turns = 0; turns < mostTurns && cluster.writes === before; turns++) {
      unlessGone(turn)
      syncChanged(cluster)
    }
    return cluster.writes - before
  }

  function turn(): void {
    const nowMs = cluster.now()
    if (nowMs - turnedMs >= crashLoopTurnMs) {
      turnedMs = nowMs
      if (turnCrashLoop(cluster)) return
    }
    const many = Math.min(64, Math.max(2, cluster.ofKind('Deployment').size / 10))
    if (random.chance(0.3)) {
      const which = random.next()
      if (which < 0.5) return sendHeartbeat(cluster)
      if (which < 0.7) return void turnCrashLoop(cluster)
      if (which < 0.9) return readMetrics(cluster)
      // A resync, as in informers. It finds work that no event has announced.
      const found = oneOf(cluster, [...cluster.controllers.values()])
      if (found !== undefined) active.add(found)
      return
    }
    if (active.size < (options.maxActivities ?? many)) return randomChange(cluster)
    const item = random.pick([...active])
    let more = false
    try {
      more = reconcile(cluster, item)
    } finally {
      if (!more) active.delete(item)
    }
  }

  /** One step for each controller that a client has changed: its users wait for them, and not for their turn. */
  function answer(): void {
    if (cluster.asked.size === 0) return
    for (const item of [...cluster.asked].slice(0, mostAnswered)) {
      // Goes behind the others.
      cluster.asked.delete(item)
      unlessGone(() => {
        if (reconcile(cluster, item)) cluster.asked.add(item)
      })
    }
    syncChanged(cluster)
  }

  return {
    step,
    async run(signal) {
      if (eventsPerSecond > 0) begin()
      const answerClients = async (): Promise<void> => {
        while (await elapsed(answerMs, signal)) answer()
      }
      const answering = eventsPerSecond > 0 ? answerClients() : undefined
      await Promise.all([runAtPace(step, eventsPerSecond, signal), answering])
    },
  }
}

/** Ignores that a client has deleted the object of the current activity. */
function unlessGone(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof ObjectGoneError)) throw error
  }
}

/** The longest time for which steps block the event loop. */
const longestTurnMs = 15

/**
 * Calls `step`, which returns its number of writes, at a rate of `writesPerSecond` until the signal aborts. Drops a
 * backlog of more than one second.
 */
async function runAtPace(
  step: () => number,
  writesPerSecond: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  if (writesPerSecond <= 0) {
    await once(signal, 'abort')
    return
  }
  const intervalMs = Math.min(250, Math.max(20, 1000 / writesPerSecond))
  let owed = 0
  let lastMs = performance.now()
  while (await elapsed(intervalMs, signal)) {
    const nowMs = performance.now()
    owed = Math.min(writesPerSecond, owed + ((nowMs - lastMs) * writesPerSecond) / 1000)
    lastMs = nowMs
    while (owed >= 1 && performance.now() - nowMs < longestTurnMs) {
      const writes = step()
      owed = writes === 0 ? 0 : owed - writes
    }
  }
}

/** Waits. Resolves with `false` if the signal aborts first. */
async function elapsed(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, signal)
  return !signal.aborted
}

/** Restarts a container in a crash loop, or lets it fail again. Returns whether there is one. */
function turnCrashLoop(cluster: Cluster): boolean {
  const turning = [...cluster.crashing].filter(
    ({ stage, terminating }) => !terminating && (stage === 'running' || stage === 'waiting'),
  )
  const pod = oneOf(cluster, turning)
  if (pod !== undefined) turnCrashingPod(cluster, pod)
  return pod !== undefined
}

/**
 * Makes a random change of desired state or pods, which the controllers then act on. Does nothing if the chosen change
 * is impossible now.
 */
function randomChange(cluster: Cluster): void {
  const { random } = cluster
  const which = random.next()
  if (which < 0.006) {
    const { open } = cluster.nodes
    const isEnough = open.length >= 4
    if (!isEnough || [...cluster.active].some(({ kind }) => kind === 'Outage')) return
    return beginOutage(cluster, random.pick(open).name)
  }
  if (which < 0.12) {
    const record = oneOf(cluster, [...cluster.ofKind('CronJob')])
    const cronJob = record && cluster.get(resources.cronJobs, record)
    if (record === undefined || cronJob === undefined || cronJob.spec.suspend === true) return
    const isIdle = cluster.ownedBy(record).every(({ outcome }) => outcome !== undefined)
    if (isIdle) startJob(cluster, record, cronJob)
    return
  }
  if (which < 0.18) {
    const group = oneOf(cluster, [...cluster.ofKind('StatefulSet')])
    const pods = [...(group?.pods ?? [])]
    if (group === undefined || !pods.every(isHealthy) || pods.length === 0) return
    terminatePod(cluster, random.pick(pods))
    cluster.active.add(group)
    return
  }
  const record = oneOf(cluster, [...cluster.ofKind('Deployment')])
  if (record === undefined || !isSettled(cluster, record)) return
  if (which < 0.45) {
    restartPod(cluster, random.pick([...(cluster.ownedBy(record).at(-1)?.pods ?? [])]))
    cluster.active.add(record)
  } else if (which < 0.75) release(cluster, record)
  else if (!cluster.autoscalers.has(`${record.namespace}/${record.name}`)) {
    // Away from the baseline, or back to it.
    const { baseline } = record
    const current = cluster.ownedBy(record).at(-1)
    const now = current === undefined ? 0 : activePods(current).length
    const size = Math.max(1, Math.round(baseline / 4))
    let replicas = baseline
    if (now === baseline) {
      replicas = random.chance(0.6) ? baseline + size : Math.max(1, baseline - size)
    }
    scale(cluster, record, replicas)
  }
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

function scale(cluster: Cluster, record: Controller, replicas: number): void {
  cluster.change(resources.deployments, record, (object) => withSpec(object, { replicas }))
  cluster.active.add(record)
}

/** The relative distance from the target at which an autoscaler acts. */
const tolerance = 0.1

/**
 * Lets one autoscaler read its metrics and scale if the load is off target. The load per pod falls and rises with the
 * pods, so it stays around the target.
 */
function readMetrics(cluster: Cluster): void {
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
  cluster.record(autoscaler, 'horizontal-pod-autoscaler', 'SuccessfulRescale', message)
  scale(cluster, record, desired)
}

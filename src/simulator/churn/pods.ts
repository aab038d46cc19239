/*
 * The scheduler and the kubelets: take pods from creation over their node to the end, one report at a time, and write
 * the Events that tell of it.
 */

import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import type { PodSpec } from '../../kubernetes/wire/core-v1.ts'
import {
  type Cluster,
  type Controller,
  controllerResources,
  isFinished,
  ObjectGoneError,
  type PodRecord,
} from './cluster.ts'
import { milliCpu, terminating } from './nodes.ts'
import { type Labels, second } from './object.ts'
import {
  mainContainer,
  mainStatus,
  newPod,
  type Placement,
  type PodIdentity,
  podShape,
  type PodShape,
  type PodState,
  templateOf,
  withPodState,
} from './pod.ts'

/** The common parts of a controller's pods. `labels` are those that the controller adds. */
export function shapeOf(cluster: Cluster, controller: Unstructured, labels: Labels = {}): PodShape {
  const { priorityClassName: name = '' } = templateOf(controller).spec
  const found = cluster.get(resources.priorityClasses, { namespace: '', name })
  return podShape(controller, labels, found?.value ?? 0)
}

/** A pod of a controller that is not stored yet, with a name of its own. */
export function podOf(
  { pods, random, now }: Cluster,
  shape: PodShape,
  identity: Partial<PodIdentity>,
): Unstructured {
  let name = ''
  do name = shape.generateName + random.suffix(5)
  while (pods.has(`${shape.namespace}/${name}`))
  return newPod(shape, { createdAtMs: now(), name, uid: random.uid(), ...identity })
}

export function createPod(
  cluster: Cluster,
  group: Controller,
  labels: Labels = {},
  identity: (controller: Unstructured) => Partial<PodIdentity> = () => ({}),
): void {
  const controller = cluster.require(controllerResources[group.kind], group)
  const pod = podOf(cluster, shapeOf(cluster, controller, labels), identity(controller))
  cluster.create(resources.pods, pod)
  const component = `${group.kind.toLowerCase()}-controller`
  cluster.record(controller, component, 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`)
}

/** Takes the first due step of a pod of the group. Returns `false` if all pods are as they should be, or wait. */
export const advancePods = (cluster: Cluster, { pods }: Controller): boolean =>
  [...pods].some((pod) => advance(cluster, pod))

function advance(cluster: Cluster, pod: PodRecord): boolean {
  const { nodes, badImages } = cluster
  const node = nodes.get(pod.at?.nodeName)
  // A silent node reports nothing.
  const silent = node?.ready === false
  if (pod.terminating) {
    const object = cluster.get(resources.pods, pod)
    if (silent || (object?.metadata.finalizers ?? []).length > 0) return false
    cluster.remove(resources.pods, pod)
    return true
  }
  if (pod.stage === 'new' || pod.stage === 'unschedulable') return schedule(cluster, pod)
  if (silent || node === undefined) return false
  const bad = badImages.get(pod.image)
  if (pod.stage === 'creating') {
    const { hostNetwork } = objectOf(cluster, pod)['spec'] as PodSpec
    start(cluster, pod, nodes.placement(node, hostNetwork), bad === 'ImagePullBackOff')
    return true
  }
  if (pod.stage !== 'running' || pod.ready || bad === 'CrashLoopBackOff') return false
  const object = objectOf(cluster, pod)
  const { restarts, lastExit, startedAtMs = cluster.now() } = mainStatus(object)
  run(cluster, pod, placementOf(pod), { ready: true, startedAtMs, restarts, lastExit })
  return true
}

function schedule(cluster: Cluster, pod: PodRecord): boolean {
  const { nodes, random, now } = cluster
  const { containers } = objectOf(cluster, pod)['spec'] as PodSpec
  const requests = containers.map((one) => milliCpu(one.resources?.requests?.['cpu']))
  const cpu = requests.reduce((sum, one) => sum + one, 0)
  const fits = nodes.open.some((one) => one.milliCpu >= cpu)
  const node = fits ? nodes.place(random) : undefined
  const by = 'default-scheduler'
  if (node !== undefined) {
    const at = { nodeName: node.name, hostIP: node.hostIP, podIP: '' }
    const placed = report(cluster, pod, { kind: 'creating', at, sinceMs: now() })
    const message = `Successfully assigned ${pod.namespace}/${pod.name} to ${node.name}`
    cluster.record(placed, by, 'Scheduled', message)
    return true
  }
  if (pod.stage === 'unschedulable') return false
  const [all, ready] = [nodes.size, nodes.open.length]
  const taints = all === ready ? '' : `${all - ready} node(s) had untolerated taint(s), `
  const why = fits
    ? `${all} Too many pods.`
    : `${taints}${ready} Insufficient cpu, ${ready} Insufficient memory. preemption: 0/${all} nodes are available: ${all} No preemption victims found for incoming pod.`
  const message = `0/${all} nodes are available: ${why}`
  const waiting = report(cluster, pod, { kind: 'unscheduled', message })
  cluster.record(waiting, by, 'FailedScheduling', message, { type: 'Warning' })
  return true
}

/** Starts the containers, which are not ready yet, or lets them fail. */
function start(cluster: Cluster, pod: PodRecord, at: Placement, lacksImage: boolean): void {
  const { image } = pod
  const sinceMs = cluster.now()
  if (lacksImage) {
    const backOff = `Back-off pulling image "${image}"`
    const stuck = report(cluster, pod, {
      ...({ kind: 'waiting', at, sinceMs, reason: 'ImagePullBackOff', restarts: 0 } as const),
      message: `${backOff}: ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`,
    })
    recordContainer(cluster, stuck, 'BackOff', backOff, 'Warning')
    return
  }
  const started = run(cluster, pod, at, { ready: false, startedAtMs: sinceMs, restarts: 0 })
  const message = `Container image "${image}" already present on machine`
  recordContainer(cluster, started, 'Pulled', message)
  recordStarted(cluster, started)
}

function recordStarted(cluster: Cluster, pod: Unstructured): void {
  recordContainer(cluster, pod, 'Started', `Container started: ${mainContainer(pod).name}`)
}

/** Marks a pod for deletion. Its kubelet deletes it in the next step. */
export function terminatePod(cluster: Cluster, pod: PodRecord): void {
  const ending = terminating(objectOf(cluster, pod), 30, cluster.now())
  cluster.update(resources.pods, ending)
  if (pod.at === undefined) return
  recordContainer(cluster, ending, 'Killing', `Stopping container ${mainContainer(ending).name}`)
}

export function restartPod(cluster: Cluster, pod: PodRecord): void {
  const nowMs = cluster.now()
  const { restarts, startedAtMs = nowMs } = mainStatus(objectOf(cluster, pod))
  const isKilled = cluster.random.chance(0.5)
  const [reason, exitCode] = isKilled ? ['OOMKilled', 137] : (['Error', 1] as const)
  const lastExit = { reason, exitCode, startedAtMs, finishedAtMs: nowMs - second }
  const next = { ready: false, startedAtMs: nowMs, restarts: restarts + 1, lastExit }
  recordStarted(cluster, run(cluster, pod, placementOf(pod), next))
}

/** Takes one turn of a crash loop: waits, runs for a moment, ends. */
export function turnCrashingPod(cluster: Cluster, pod: PodRecord): void {
  const object = objectOf(cluster, pod)
  const at = placementOf(pod)
  const nowMs = cluster.now()
  const { restarts, startedAtMs } = mainStatus(object)
  const failure = { reason: 'Error', exitCode: 1 }
  if (startedAtMs === undefined) {
    const times = { startedAtMs: nowMs - 9 * second, finishedAtMs: nowMs - 6 * second }
    const lastExit = { ...failure, ...times }
    run(cluster, pod, at, { ready: false, startedAtMs: nowMs, restarts: restarts + 1, lastExit })
    return
  }
  const { name } = mainContainer(object)
  const waiting = report(cluster, pod, {
    ...({ kind: 'waiting', at, sinceMs: nowMs, restarts, reason: 'CrashLoopBackOff' } as const),
    message: `back-off 5m0s restarting failed container=${name}`,
    lastExit: { ...failure, startedAtMs, finishedAtMs: nowMs },
  })
  const message = `Back-off restarting failed container ${name} in pod ${pod.name}_${pod.namespace}(${pod.uid})`
  recordContainer(cluster, waiting, 'BackOff', message, 'Warning')
}

/** Ends the container of a Job's pod. */
export function finishPod(cluster: Cluster, pod: PodRecord, succeeded: boolean): void {
  const finishedAtMs = cluster.now()
  const { startedAtMs = finishedAtMs } = mainStatus(objectOf(cluster, pod))
  const [reason, exitCode] = succeeded ? ['Completed', 0] : (['Error', 2] as const)
  const exit = { reason, exitCode, startedAtMs, finishedAtMs }
  report(cluster, pod, { kind: 'finished', at: placementOf(pod), exit })
}

type Running = Extract<PodState, { kind: 'running' }>

function run(
  cluster: Cluster,
  pod: PodRecord,
  at: Placement,
  facts: Pick<Running, 'ready' | 'startedAtMs' | 'restarts' | 'lastExit'>,
): Unstructured {
  return report(cluster, pod, { kind: 'running', at, sinceMs: cluster.now(), ...facts })
}

function report(cluster: Cluster, pod: PodRecord, state: PodState): Unstructured {
  const reported = withPodState(objectOf(cluster, pod), state, cluster.now())
  return cluster.update(resources.pods, reported)
}

function objectOf(cluster: Cluster, pod: PodRecord): Unstructured {
  const object = cluster.require(resources.pods, pod)
  if (object.metadata.uid === pod.uid) return object
  throw new ObjectGoneError(resources.pods, pod)
}

/** Records a kubelet's Event about the first container of a pod. */
function recordContainer(
  cluster: Cluster,
  pod: Unstructured,
  reason: string,
  message: string,
  type: 'Normal' | 'Warning' = 'Normal',
): void {
  const { nodeName: host = '' } = pod['spec'] as PodSpec
  const fieldPath = `spec.containers{${mainContainer(pod).name}}`
  cluster.record(pod, 'kubelet', reason, message, { type, host, fieldPath })
}

/** Whether a pod is ready or has finished. */
export function isHealthy(pod: PodRecord): boolean {
  return (pod.ready && !pod.terminating) || isFinished(pod)
}

function placementOf({ at, name }: PodRecord): Placement {
  if (at === undefined) throw new TypeError(`pod ${name} has no node yet`)
  return at
}

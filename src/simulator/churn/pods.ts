/*
 * The scheduler and the kubelets: take pods from creation over their node to the end, one report at a time, and write
 * the Events that tell of it.
 */

import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type { PodSpec } from '../../kubernetes/wire/core-v1.ts'
import {
  type Cluster,
  type Controller,
  controllerResources,
  eventKey,
  isFinished,
  ObjectGoneError,
  type PodRecord,
} from './cluster.ts'
import { milliCpu, terminating } from './nodes.ts'
import { identified, type Labels, second } from './object.ts'
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
import { hexDigest, uidDigest } from './random.ts'

type Running = Extract<PodState, { kind: 'running' }>

/**
 * Does the work of the scheduler and the kubelets: takes pods through their lives, one step and one report at a time.
 */
export class PodLifecycle {
  readonly #cluster: Cluster
  readonly #events: EventRecorder

  constructor(cluster: Cluster, events: EventRecorder) {
    this.#cluster = cluster
    this.#events = events
  }

  /** The common parts of a controller's pods. `labels` are those that the controller adds. */
  shape(controller: Unstructured, labels: Labels = {}): PodShape {
    const { priorityClassName: name = '' } = templateOf(controller).spec
    const found = this.#cluster.get(resources.priorityClasses, { namespace: '', name })
    return podShape(controller, labels, found?.value ?? 0)
  }

  create(
    group: Controller,
    labels: Labels = {},
    identity: (controller: Unstructured) => Partial<PodIdentity> = () => ({}),
  ): void {
    const cluster = this.#cluster
    const controller = cluster.require(controllerResources[group.kind], group)
    const shape = this.shape(controller, labels)
    const pod = newPod(shape, {
      createdAtMs: cluster.now(),
      name: shape.generateName + cluster.random.suffix(5),
      uid: cluster.random.uid(),
      ...identity(controller),
    })
    cluster.create(resources.pods, pod)
    const component = `${group.kind.toLowerCase()}-controller`
    const message = `Created pod: ${pod.metadata.name}`
    this.#events.record(controller, { component, reason: 'SuccessfulCreate', message })
  }

  /** Takes the first due step of a pod of the group. Returns `false` if all pods are as they should be, or wait. */
  advance(group: Controller): boolean {
    return [...group.pods].some((pod) => this.#advancePod(pod))
  }

  #advancePod(pod: PodRecord): boolean {
    const { nodes, badImages } = this.#cluster
    const node = nodes.get(pod.at?.nodeName)
    // A silent node reports nothing.
    const silent = node?.ready === false
    if (pod.terminating) {
      const object = this.#cluster.get(resources.pods, pod)
      if (silent || (object?.metadata.finalizers ?? []).length > 0) return false
      this.#cluster.remove(resources.pods, pod)
      return true
    }
    if (pod.stage === 'new' || pod.stage === 'unschedulable') return this.#schedule(pod)
    if (silent || node === undefined) return false
    if (pod.stage === 'creating') return this.#start(pod)
    const isBad = badImages.get(pod.image) === 'CrashLoopBackOff'
    if (pod.stage !== 'running' || pod.ready || isBad) return false
    const { restarts, lastExit, startedAtMs = this.#cluster.now() } = mainStatus(this.#object(pod))
    this.#run(pod, placementOf(pod), { ready: true, startedAtMs, restarts, lastExit })
    return true
  }

  #schedule(pod: PodRecord): boolean {
    const { nodes, random, now } = this.#cluster
    const { containers } = this.#object(pod)['spec'] as PodSpec
    const requests = containers.map((one) => milliCpu(one.resources?.requests?.['cpu']))
    const cpu = requests.reduce((sum, one) => sum + one, 0)
    const fits = nodes.open.some((one) => one.milliCpu >= cpu)
    const node = fits ? nodes.place(random) : undefined
    const component = 'default-scheduler'
    if (node !== undefined) {
      const at = { nodeName: node.name, hostIP: node.hostIP, podIP: '' }
      const placed = this.#report(pod, { kind: 'creating', at, sinceMs: now() })
      const message = `Successfully assigned ${pod.namespace}/${pod.name} to ${node.name}`
      this.#events.record(placed, { component, reason: 'Scheduled', message })
      return true
    }
    if (pod.stage === 'unschedulable') return false
    const [all, ready] = [nodes.size, nodes.open.length]
    const taints = all === ready ? '' : `${all - ready} node(s) had untolerated taint(s), `
    const why = fits
      ? `${all} Too many pods.`
      : `${taints}${ready} Insufficient cpu, ${ready} Insufficient memory. preemption: 0/${all} nodes are available: ${all} No preemption victims found for incoming pod.`
    const message = `0/${all} nodes are available: ${why}`
    const waiting = this.#report(pod, { kind: 'unscheduled', message })
    const report = { component, type: 'Warning', reason: 'FailedScheduling', message } as const
    this.#events.record(waiting, report)
    return true
  }

  /** Starts the containers, which are not ready yet, or lets them fail. */
  #start(pod: PodRecord): boolean {
    const { nodes, badImages, now } = this.#cluster
    const node = nodes.get(pod.at?.nodeName)
    if (node === undefined) return false
    const { hostNetwork } = this.#object(pod)['spec'] as PodSpec
    const at = nodes.placement(node, hostNetwork)
    const { image } = pod
    const sinceMs = now()
    if (badImages.get(image) === 'ImagePullBackOff') {
      const reason = 'ImagePullBackOff'
      const message = `Back-off pulling image "${image}": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`
      const state = { kind: 'waiting', at, sinceMs, reason, message, restarts: 0 } as const
      const stuck = this.#report(pod, state)
      const backOff = `Back-off pulling image "${image}"`
      this.#events.container(stuck, { type: 'Warning', reason: 'BackOff', message: backOff })
      return true
    }
    const started = this.#run(pod, at, { ready: false, startedAtMs: sinceMs, restarts: 0 })
    const message = `Container image "${image}" already present on machine`
    this.#events.container(started, { reason: 'Pulled', message })
    this.#started(started)
    return true
  }

  #started(pod: Unstructured): void {
    const message = `Container started: ${mainContainer(pod).name}`
    this.#events.container(pod, { reason: 'Started', message })
  }

  /** Marks a pod for deletion. Its kubelet deletes it in the next step. */
  terminate(pod: PodRecord): void {
    const cluster = this.#cluster
    const ending = terminating(this.#object(pod), 30, cluster.now())
    cluster.update(resources.pods, ending)
    if (pod.at === undefined) return
    const message = `Stopping container ${mainContainer(ending).name}`
    this.#events.container(ending, { reason: 'Killing', message })
  }

  restart(pod: PodRecord): void {
    const { random, now } = this.#cluster
    const nowMs = now()
    const { restarts, startedAtMs = nowMs } = mainStatus(this.#object(pod))
    const [reason, exitCode] = random.chance(0.5) ? ['OOMKilled', 137] : (['Error', 1] as const)
    const lastExit = { reason, exitCode, startedAtMs, finishedAtMs: nowMs - second }
    const next = { ready: false, startedAtMs: nowMs, restarts: restarts + 1, lastExit }
    this.#started(this.#run(pod, placementOf(pod), next))
  }

  /** Takes one turn of a crash loop: waits, runs for a moment, ends. */
  turnCrashLoop(pod: PodRecord): void {
    const object = this.#object(pod)
    const at = placementOf(pod)
    const nowMs = this.#cluster.now()
    const { restarts, startedAtMs } = mainStatus(object)
    const failure = { reason: 'Error', exitCode: 1 }
    if (startedAtMs === undefined) {
      const times = { startedAtMs: nowMs - 9 * second, finishedAtMs: nowMs - 6 * second }
      const lastExit = { ...failure, ...times }
      this.#run(pod, at, { ready: false, startedAtMs: nowMs, restarts: restarts + 1, lastExit })
      return
    }
    const { name } = mainContainer(object)
    const waiting = this.#report(pod, {
      ...({ kind: 'waiting', at, sinceMs: nowMs, restarts, reason: 'CrashLoopBackOff' } as const),
      message: `back-off 5m0s restarting failed container=${name}`,
      lastExit: { ...failure, startedAtMs, finishedAtMs: nowMs },
    })
    const message = `Back-off restarting failed container ${name} in pod ${pod.name}_${pod.namespace}(${pod.uid})`
    this.#events.container(waiting, { type: 'Warning', reason: 'BackOff', message })
  }

  /** Ends the container of a Job's pod. */
  finish(pod: PodRecord, succeeded: boolean): void {
    const finishedAtMs = this.#cluster.now()
    const { startedAtMs = finishedAtMs } = mainStatus(this.#object(pod))
    const [reason, exitCode] = succeeded ? ['Completed', 0] : (['Error', 2] as const)
    const exit = { reason, exitCode, startedAtMs, finishedAtMs }
    this.#report(pod, { kind: 'finished', at: placementOf(pod), exit })
  }

  #run(
    pod: PodRecord,
    at: Placement,
    facts: Pick<Running, 'ready' | 'startedAtMs' | 'restarts' | 'lastExit'>,
  ): Unstructured {
    return this.#report(pod, { kind: 'running', at, sinceMs: this.#cluster.now(), ...facts })
  }

  #report(pod: PodRecord, state: PodState): Unstructured {
    const reported = withPodState(this.#object(pod), state, this.#cluster.now())
    return this.#cluster.update(resources.pods, reported)
  }

  #object(pod: PodRecord): Unstructured {
    const object = this.#cluster.require(resources.pods, pod)
    if (object.metadata.uid === pod.uid) return object
    throw new ObjectGoneError(resources.pods, pod)
  }
}

/** Whether a pod is ready or has finished. */
export function isHealthy(pod: PodRecord): boolean {
  return (pod.ready && !pod.terminating) || isFinished(pod)
}

function placementOf({ at, name }: PodRecord): Placement {
  if (at === undefined) throw new TypeError(`pod ${name} has no node yet`)
  return at
}

/** A component's report about an object. */
interface Report {
  readonly reason: string
  readonly message: string
  readonly type?: 'Normal' | 'Warning'
  /** `kubelet`, `deployment-controller`, … */
  readonly component: string
  readonly host?: string
  /** The part of the object: `spec.containers{app}`. */
  readonly fieldPath?: string
}

/**
 * Writes Events. Repeated Events count up. Beyond `maxEvents` the oldest is deleted, as an API server does after an
 * hour.
 */
export class EventRecorder {
  readonly #cluster: Cluster
  readonly #maxEvents: number

  constructor(cluster: Cluster, maxEvents: number) {
    this.#cluster = cluster
    this.#maxEvents = maxEvents
  }

  record(regarding: Unstructured, report: Report): void {
    const cluster = this.#cluster
    const { events } = cluster
    const atMs = cluster.now()
    const event = eventOf(regarding, report, atMs)
    const key = eventKey(event)
    const seen = events.get(key)
    // Keeps the map in the order of last occurrence.
    events.delete(key)
    if (seen !== undefined && cluster.get(resources.events, seen) !== undefined) {
      cluster.change(resources.events, seen, (before) => ({
        ...before,
        count: (before.count ?? 1) + 1,
        lastTimestamp: timestamp(atMs),
      }))
      return
    }
    cluster.create(resources.events, event)
    for (const [oldest, place] of events) {
      if (events.size <= this.#maxEvents) return
      events.delete(oldest)
      cluster.remove(resources.events, place)
    }
  }

  /** Records a kubelet's Event about the first container of a pod. */
  container(pod: Unstructured, report: Pick<Report, 'reason' | 'message' | 'type'>): void {
    const { nodeName = '' } = pod['spec'] as { readonly nodeName?: string }
    const fieldPath = `spec.containers{${mainContainer(pod).name}}`
    this.record(pod, { ...report, component: 'kubelet', host: nodeName, fieldPath })
  }
}

/** A core Event. Its name and UID follow from its object, reason, message and first time. */
function eventOf(regarding: Unstructured, report: Report, atMs: number): Unstructured {
  const { component, host, fieldPath, type = 'Normal', reason, message } = report
  const { name, namespace, uid = '', resourceVersion } = regarding.metadata
  const place = `${uid}/${reason}/${message}/${atMs}`
  const manager = component.endsWith('-controller') ? 'kube-controller-manager' : component
  const at = timestamp(atMs)
  const event = {
    metadata: {
      name: `${name}.${hexDigest(place, 16)}`,
      namespace: namespace ?? 'default',
      managedFields: [{ manager, operation: 'Update' as const }],
    },
    count: 1,
    eventTime: null,
    firstTimestamp: at,
    involvedObject: {
      apiVersion: regarding.apiVersion,
      ...(fieldPath === undefined ? {} : { fieldPath }),
      kind: regarding.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      uid,
    },
    lastTimestamp: at,
    message,
    reason,
    reportingComponent: component,
    reportingInstance: host ?? '',
    source: { component, ...(host === undefined ? {} : { host }) },
    type,
  }
  const identity = { uid: uidDigest(`${place}/event`), createdAtMs: atMs }
  return identified(resources.events, event, identity)
}

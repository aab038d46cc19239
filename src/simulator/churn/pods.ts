import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { recoveredPod } from '../population/node-health.ts'
import { ownerReference, type PopulationResource, resources } from '../population/object.ts'
import {
  backOff,
  kubeletReport,
  labelled,
  mainContainer,
  newPod,
  type PodIdentity,
  podShape,
  type PodSpec,
  templateOf,
  withPodState,
} from '../population/pod.ts'
import { mainStatus, type Placement, type PodState } from '../population/pod-status.ts'
import { second } from '../population/stamp.ts'
import { crashBackOff, exitOf, pullBackOff, tooLarge } from '../population/workloads.ts'
import {
  type Cluster,
  isFinished,
  milliCpu,
  ObjectGoneError,
  type PodGroup,
  type PodRecord,
} from './cluster.ts'
import type { EventRecorder } from './events.ts'

export const controllerResources: Readonly<Record<PodGroup['kind'], PopulationResource>> = {
  ReplicaSet: resources.replicaSets,
  StatefulSet: resources.statefulSets,
  DaemonSet: resources.daemonSets,
  Job: resources.jobs,
}

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

  /** Creates a pod of a controller's template. `labels` are the labels that the controller adds. */
  create(
    group: PodGroup,
    labels: Readonly<Record<string, string>> = {},
    identity: (controller: Unstructured) => Partial<PodIdentity> = () => ({}),
  ): void {
    const cluster = this.#cluster
    const controller = cluster.require(controllerResources[group.kind], group)
    const template = labelled(templateOf(controller), labels)
    const { priorityClassName: name = '' } = template.spec
    const found = cluster.get(resources.priorityClasses, { namespace: '', name })
    const priority = Number(found?.['value'] ?? 0)
    const owner = ownerReference(controller)
    const shape = podShape(group.namespace, owner, template, priority, `${group.name}-`)
    const pod = newPod(shape, {
      createdAtMs: cluster.now(),
      name: shape.generateName + cluster.random.suffix(5),
      uid: cluster.random.uid(),
      ...identity(controller),
    })
    cluster.create({ resource: resources.pods, object: pod })
    const component = `${group.kind.toLowerCase()}-controller`
    const message = `Created pod: ${pod.metadata.name}`
    this.#events.normal(controller, component, 'SuccessfulCreate', message)
  }

  /** Takes the first due step of a pod of the group. Returns `false` if all pods are as they should be, or wait. */
  advance(group: PodGroup): boolean {
    return [...group.pods].some((pod) => this.#advancePod(pod))
  }

  #advancePod(pod: PodRecord): boolean {
    const { nodes, badImages } = this.#cluster
    const node = nodes.get(pod.at?.nodeName ?? '')
    // A silent node reports nothing.
    const silent = node?.ready === false
    if (pod.terminating) return !silent && this.#end(pod)
    if (pod.stage === 'new' || pod.stage === 'unschedulable') return this.#schedule(pod)
    if (silent || node === undefined) return false
    if (pod.stage === 'creating') return this.#start(pod)
    if (pod.stage !== 'running' || pod.ready || badImages.has(pod.image)) return false
    return this.#becomeReady(pod)
  }

  #schedule(pod: PodRecord): boolean {
    const { nodes } = this.#cluster
    const object = this.#object(pod)
    const { containers } = object['spec'] as PodSpec
    const cpu = containers.reduce(
      (sum, { resources: { requests } = {} }) => sum + milliCpu(requests?.['cpu']),
      0,
    )
    const ready = [...nodes.values()].filter((one) => one.open)
    const fits = ready.some((one) => one.milliCpu >= cpu)
    const node = fits ? this.#cluster.place() : undefined
    if (node === undefined) {
      if (pod.stage === 'unschedulable') return false
      const many = `0/${nodes.size} nodes are available: ${nodes.size} Too many pods.`
      const message = fits ? many : tooLarge(nodes.size, ready.length)
      const reported = this.#report(pod, { kind: 'unscheduled', message })
      const failed = { type: 'Warning', reason: 'FailedScheduling', message } as const
      this.#events.record({ regarding: reported, component: 'default-scheduler', ...failed })
      return true
    }
    const at = { nodeName: node.name, hostIP: node.hostIP, podIP: '' }
    const placed = this.#report(pod, { kind: 'creating', at, sinceMs: this.#cluster.now() })
    const message = `Successfully assigned ${pod.namespace}/${pod.name} to ${node.name}`
    this.#events.normal(placed, 'default-scheduler', 'Scheduled', message)
    return true
  }

  /** Starts the containers, which are not ready yet, or lets them fail. */
  #start(pod: PodRecord): boolean {
    const cluster = this.#cluster
    const node = cluster.nodes.get(pod.at?.nodeName ?? '')
    if (node === undefined) return false
    const object = this.#object(pod)
    const { hostNetwork = false } = object['spec'] as PodSpec
    const at = {
      nodeName: node.name,
      hostIP: node.hostIP,
      podIP: hostNetwork ? node.hostIP : cluster.address(node),
    }
    const nowMs = cluster.now()
    if (cluster.badImages.get(pod.image) === 'ImagePullBackOff') {
      const back = pullBackOff(pod.image)
      const stuck = this.#report(pod, { kind: 'waiting', at, sinceMs: nowMs, ...back, restarts: 0 })
      const report = { ...kubeletReport(stuck, node.name), reason: 'BackOff' }
      this.#events.record({ ...report, message: `Back-off pulling image "${pod.image}"` })
      return true
    }
    const started = this.#run(pod, at, { ready: false, startedAtMs: nowMs, restarts: 0 })
    const report = { ...kubeletReport(started, node.name), type: 'Normal' } as const
    const message = `Container image "${pod.image}" already present on machine`
    this.#events.record({ ...report, reason: 'Pulled', message })
    this.#events.container(started, node.name, 'Started', 'Container started: ')
    return true
  }

  /** Makes a pod ready, or restores its readiness after its node was silent. */
  #becomeReady(pod: PodRecord): boolean {
    const object = this.#object(pod)
    const found = recoveredPod(object, this.#cluster.now())
    if (found !== undefined) {
      this.#cluster.change(resources.pods, pod, () => found)
      return true
    }
    const { restarts, lastExit, startedAtMs = this.#cluster.now() } = mainStatus(object)
    this.#run(pod, placementOf(pod), { ready: true, startedAtMs, restarts, lastExit })
    return true
  }

  #end(pod: PodRecord): boolean {
    const object = this.#cluster.get(resources.pods, pod)
    if ((object?.metadata.finalizers ?? []).length > 0) return false
    this.#cluster.remove(resources.pods, pod)
    return true
  }

  /** Marks a pod for deletion. Its kubelet deletes it in the next step. */
  terminate(pod: PodRecord): void {
    const cluster = this.#cluster
    const deletionTimestamp = timestamp(cluster.now() + 30 * second)
    const object = cluster.change(resources.pods, pod, (before) => ({
      ...before,
      metadata: { ...before.metadata, deletionGracePeriodSeconds: 30, deletionTimestamp },
    }))
    if (pod.at !== undefined)
      this.#events.container(object, pod.at.nodeName, 'Killing', 'Stopping container ')
  }

  /** Restarts the container of a healthy pod. */
  restart(pod: PodRecord): void {
    const { random, now } = this.#cluster
    const { restarts, startedAtMs } = mainStatus(this.#object(pod))
    const nowMs = now()
    const killed = random.chance(0.5)
    const lastExit = {
      ...({ reason: killed ? 'OOMKilled' : 'Error', exitCode: killed ? 137 : 1 } as const),
      startedAtMs: startedAtMs ?? nowMs,
      finishedAtMs: nowMs - second,
    }
    const at = placementOf(pod)
    const next = { ready: false, startedAtMs: nowMs, restarts: restarts + 1, lastExit }
    const restarted = this.#run(pod, at, next)
    this.#events.container(restarted, at.nodeName, 'Started', 'Container started: ')
  }

  /** Takes one turn of a crash loop: waits, runs for a moment, ends. */
  turnCrashLoop(pod: PodRecord): void {
    const object = this.#object(pod)
    const at = placementOf(pod)
    const nowMs = this.#cluster.now()
    const { restarts, startedAtMs } = mainStatus(object)
    const failure = { reason: 'Error', exitCode: 1 } as const
    if (startedAtMs === undefined) {
      const times = { startedAtMs: nowMs - 9 * second, finishedAtMs: nowMs - 6 * second }
      const lastExit = { ...failure, ...times }
      this.#run(pod, at, { ready: false, startedAtMs: nowMs, restarts: restarts + 1, lastExit })
      return
    }
    const waiting = this.#report(pod, {
      ...({ kind: 'waiting', at, sinceMs: nowMs, restarts } as const),
      ...crashBackOff(mainContainer(object).name),
      lastExit: { ...failure, startedAtMs, finishedAtMs: nowMs },
    })
    this.#events.record({ ...kubeletReport(waiting, at.nodeName), ...backOff(waiting) })
  }

  /** Ends the container of a Job's pod. */
  finish(pod: PodRecord, succeeded: boolean): void {
    const nowMs = this.#cluster.now()
    const { startedAtMs = nowMs } = mainStatus(this.#object(pod))
    const exit = { ...exitOf(succeeded), startedAtMs, finishedAtMs: nowMs }
    this.#report(pod, { kind: 'finished', at: placementOf(pod), exit })
  }

  #run(
    pod: PodRecord,
    at: Placement,
    facts: Pick<
      Extract<PodState, { kind: 'running' }>,
      'ready' | 'startedAtMs' | 'restarts' | 'lastExit'
    >,
  ): Unstructured {
    return this.#report(pod, { kind: 'running', at, sinceMs: this.#cluster.now(), ...facts })
  }

  #report(pod: PodRecord, state: PodState): Unstructured {
    const atMs = this.#cluster.now()
    return this.#cluster.change(resources.pods, pod, (object) => withPodState(object, state, atMs))
  }

  #object(pod: PodRecord): Unstructured {
    const object = this.#cluster.require(resources.pods, pod)
    if (object.metadata.uid === pod.uid) return object
    throw new ObjectGoneError(resources.pods, pod.namespace, pod.name)
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

import type { Unstructured } from '../../kubernetes/object.ts'
import {
  newPod,
  type PodIdentity,
  podShape,
  type PodShape,
  withPodState,
} from '../population/pod.ts'
import { kubeletReport, mainContainer } from '../population/pod-events.ts'
import type { PodTemplate } from '../population/pod-spec.ts'
import type { ContainerExit, PodState } from '../population/pod-state.ts'
import type { Placement } from '../population/node-plan.ts'
import { ownerReference } from '../population/population-object.ts'
import { type PopulationResource, resources } from '../population/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { second } from '../population/duration.ts'
import { type Activity, type Cluster, ObjectGoneError } from './cluster.ts'
import type { GroupKind, PodGroup, PodRecord } from './cluster-records.ts'
import type { EventRecorder } from './event-recorder.ts'
import { syncGroup } from './status-sync.ts'

const controllerResources: Readonly<Record<GroupKind, PopulationResource>> = {
  ReplicaSet: resources.replicaSets,
  StatefulSet: resources.statefulSets,
  DaemonSet: resources.daemonSets,
  Job: resources.jobs,
}

/** The controllers, the scheduler and the kubelets: takes pods through their lives, each step consistent by itself. */
export class PodLifecycle {
  readonly #cluster: Cluster
  readonly #events: EventRecorder

  constructor(cluster: Cluster, events: EventRecorder) {
    this.#cluster = cluster
    this.#events = events
  }

  /** What the pods of a group share, read from its controller. `extraLabels` are those that the controller adds. */
  shapeOf(group: PodGroup, extraLabels: Readonly<Record<string, string>> = {}): PodShape {
    const resource = controllerResources[group.kind]
    const object = this.#cluster.require(resource, group.namespace, group.name)
    const { template } = object['spec'] as { readonly template: PodTemplate }
    const labels = { ...template.metadata.labels, ...extraLabels }
    const owned = { ...template, metadata: { ...template.metadata, labels } }
    return podShape(group.namespace, ownerReference({ resource, object }), owned, `${group.name}-`)
  }

  /** Creates a pod and brings it up until it is ready. */
  *bringUp(
    group: PodGroup,
    shape: PodShape,
    identity: Partial<PodIdentity> = {},
  ): Generator<void, PodRecord | undefined> {
    const record = this.create(group, shape, identity)
    yield
    if (!this.schedule(group, shape, record)) return undefined
    yield
    this.start(group, shape, record)
    yield
    this.becomeReady(group, shape, record)
    return record
  }

  /** Takes a pod down until it is gone. */
  *takeDown(group: PodGroup, record: PodRecord): Activity {
    this.terminate(group, record)
    yield
    this.remove(group, record)
  }

  create(group: PodGroup, shape: PodShape, identity: Partial<PodIdentity>): PodRecord {
    const { random } = this.#cluster
    const name = identity.name ?? `${group.name}-${random.suffix(5)}`
    const uid = identity.uid ?? random.uid()
    const pod = newPod(shape, { createdAtMs: this.#cluster.now(), ...identity, name, uid })
    this.#cluster.create({ resource: resources.pods, object: pod })
    const state = { addressed: false, ready: false, terminating: false, finished: false }
    const record: PodRecord = { name, uid, at: undefined, ...state }
    group.pods.set(name, record)
    const controller = this.#controller(group)
    if (controller !== undefined) {
      this.#events.record({
        regarding: controller,
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: `Created pod: ${name}`,
        component: `${group.kind.toLowerCase()}-controller`,
      })
    }
    syncGroup(this.#cluster, group)
    return record
  }

  /** Finds a node; says so and returns false where none has room. */
  schedule(group: PodGroup, shape: PodShape, record: PodRecord): boolean {
    const { index, random } = this.#cluster
    const at = index.addresses.place(random)
    if (at === undefined) {
      const nodes = index.addresses.zones.size
      const message = `0/${nodes} nodes are available: ${nodes} Too many pods.`
      const pod = this.#report(group, shape, record, { kind: 'unscheduled', message })
      this.#events.record({
        regarding: pod,
        type: 'Warning',
        reason: 'FailedScheduling',
        message,
        component: 'default-scheduler',
      })
      return false
    }
    record.at = at
    const sinceMs = this.#cluster.now()
    const pod = this.#report(group, shape, record, { kind: 'creating', at, sinceMs })
    this.#events.record({
      regarding: pod,
      type: 'Normal',
      reason: 'Scheduled',
      message: `Successfully assigned ${group.namespace}/${record.name} to ${at.nodeName}`,
      component: 'default-scheduler',
    })
    return true
  }

  /** The containers run; the probes have not answered yet. */
  start(group: PodGroup, shape: PodShape, record: PodRecord): void {
    record.addressed = true
    const pod = this.run(group, shape, record, false, 0)
    const { name, image } = mainContainer(pod)
    const report = { ...kubeletReport(pod, record.at?.nodeName ?? ''), type: 'Normal' } as const
    const message = `Container image "${image}" already present on machine`
    this.#events.record({ ...report, reason: 'Pulled', message })
    this.#events.record({ ...report, reason: 'Started', message: `Container started: ${name}` })
    syncGroup(this.#cluster, group)
  }

  becomeReady(group: PodGroup, shape: PodShape, record: PodRecord): void {
    this.run(group, shape, record, true, 0)
    syncGroup(this.#cluster, group)
  }

  /** Reports running containers; does not sync. */
  run(
    group: PodGroup,
    shape: PodShape,
    record: PodRecord,
    ready: boolean,
    restarts: number,
    lastExit?: ContainerExit,
  ): Unstructured {
    const nowMs = this.#cluster.now()
    record.ready = ready
    return this.#report(group, shape, record, {
      kind: 'running',
      at: placementOf(record),
      startedAtMs: ready ? nowMs - 4 * second : nowMs,
      sinceMs: nowMs,
      ready,
      restarts,
      ...(lastExit === undefined ? {} : { lastExit }),
    })
  }

  /** Reports any other state; does not sync. */
  report(group: PodGroup, shape: PodShape, record: PodRecord, state: PodState): Unstructured {
    record.ready = false
    return this.#report(group, shape, record, state)
  }

  terminate(group: PodGroup, record: PodRecord): void {
    const deletionTimestamp = timestamp(this.#cluster.now() + 30 * second)
    record.terminating = true
    const pod = this.#changePod(group, record, (object) => ({
      ...object,
      metadata: { ...object.metadata, deletionGracePeriodSeconds: 30, deletionTimestamp },
    }))
    if (record.at !== undefined) {
      this.#events.record({
        ...kubeletReport(pod, record.at.nodeName),
        type: 'Normal',
        reason: 'Killing',
        message: `Stopping container ${mainContainer(pod).name}`,
      })
    }
    syncGroup(this.#cluster, group)
  }

  /** Deletes a pod from the storage at once and frees its address. */
  remove(group: PodGroup, record: PodRecord): void {
    this.#cluster.remove(resources.pods, group.namespace, record.name)
    this.forget(group, record)
  }

  /** Drops a pod that is not in the storage any more. */
  forget(group: PodGroup, record: PodRecord): void {
    if (group.pods.get(record.name) !== record) return
    group.pods.delete(record.name)
    if (record.at !== undefined && !record.finished)
      this.#cluster.index.addresses.release(record.at)
    syncGroup(this.#cluster, group)
  }

  #report(group: PodGroup, shape: PodShape, record: PodRecord, state: PodState): Unstructured {
    const atMs = this.#cluster.now()
    return this.#changePod(group, record, (pod) => withPodState(shape, pod, state, atMs))
  }

  #changePod(
    group: PodGroup,
    record: PodRecord,
    change: (pod: Unstructured) => Unstructured,
  ): Unstructured {
    const { namespace } = group
    const pod = this.#cluster.get(resources.pods, namespace, record.name)
    if (pod === undefined || pod.metadata.uid !== record.uid) {
      this.forget(group, record)
      throw new ObjectGoneError(resources.pods, namespace, record.name)
    }
    return this.#cluster.replace(resources.pods, pod, change)
  }

  #controller(group: PodGroup): Unstructured | undefined {
    return this.#cluster.get(controllerResources[group.kind], group.namespace, group.name)
  }
}

function placementOf({ at, name }: PodRecord): Placement {
  if (at === undefined) throw new TypeError(`pod ${name} has no node yet`)
  return at
}

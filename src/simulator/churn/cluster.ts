/*
 * What controllers know of the cluster: an index over the storage that every write keeps up to date, a few words per
 * pod. It tells the loop's own writes from those of clients, whose objects are worked on first.
 */

import { groupResourceOf, type Resource } from '../../kubernetes/api-resource.ts'
import type { KubernetesObject, Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type { Event, Pod } from '../../kubernetes/wire/core-v1.ts'
import type { Job } from '../../kubernetes/wire/batch-v1.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { ResourceName, Storage } from '../storage/storage.ts'
import { isReadyObject, Nodes } from './nodes.ts'
import { identified, type Labels } from './object.ts'
import { mainContainer, type Placement, templateOf } from './pod.ts'
import { hexDigest, type Random, uidDigest } from './random.ts'

/** The part of the simulator's storage that population and churn use. */
export interface ClusterWriter extends Pick<Storage, 'create' | 'update' | 'delete' | 'get'> {
  list(resource: ResourceName): Iterable<Unstructured>
  follow(
    follower: (
      resource: { readonly groupResource: string },
      metadata: Named,
      object: Unstructured | undefined,
    ) => void,
  ): void
}

interface Named {
  readonly namespace: string
  readonly name: string
}

/** The last written state of a pod. */
export interface PodRecord extends Named {
  readonly uid: string
  readonly controller: Controller
  image: string
  at: Placement | undefined
  stage: 'new' | 'unschedulable' | 'creating' | 'running' | 'waiting' | 'succeeded' | 'failed'
  ready: boolean
  terminating: boolean
}

/** A controller and its pods. Deployments and CronJobs have none: they own controllers. */
export interface Controller extends Named {
  readonly kind: ControllerKind
  readonly uid: string
  /** The UID of the owning Deployment or CronJob, or `''`. */
  readonly owner: string
  /** The labels of its pod template. */
  readonly labels: Labels
  readonly pods: Set<PodRecord>
  /** The number of a ReplicaSet's revision, else 0. */
  revision: number
  /** The outcome of a finished Job. */
  outcome: 'complete' | 'failed' | undefined
  /** The replicas of the last manifest or client. Random scalings stay near them. */
  baseline: number
  /** Whether the controller is deleted or will be. What it owns is deleted first. */
  orphaned: boolean
}

/** A Service or a PodDisruptionBudget, which selects pods by labels. */
export interface Selecting extends Named {
  readonly kind: 'Service' | 'PodDisruptionBudget'
  readonly selector: Labels
  /** The names of a Service's endpoint slices. */
  readonly slices: string[]
}

/** A silent node. It comes back after `turnsLeft` turns. */
export interface Outage {
  readonly kind: 'Outage'
  readonly node: string
  turnsLeft: number
}

export type ControllerKind =
  | 'Deployment'
  | 'CronJob'
  | 'ReplicaSet'
  | 'StatefulSet'
  | 'DaemonSet'
  | 'Job'

/** The kinds that own pods, or own controllers that do: owners first. */
export const controllerResources: Readonly<Record<ControllerKind, Resource>> = {
  Deployment: resources.deployments,
  CronJob: resources.cronJobs,
  ReplicaSet: resources.replicaSets,
  StatefulSet: resources.statefulSets,
  DaemonSet: resources.daemonSets,
  Job: resources.jobs,
}

/** The kinds that the loop follows, owners before the objects that they own. */
const followed = new Map(
  [
    resources.nodes,
    resources.services,
    resources.podDisruptionBudgets,
    ...Object.values(controllerResources),
    resources.pods,
    resources.endpointSlices,
    resources.horizontalPodAutoscalers,
    resources.events,
  ].map((resource) => [groupResourceOf(resource), resource]),
)

interface EventDetails {
  readonly type?: 'Normal' | 'Warning'
  readonly host?: string
  /** The part of the object: `spec.containers{app}`. */
  readonly fieldPath?: string
}

/** The records of one namespace. */
interface NamespaceRecords {
  readonly controllers: Set<Controller>
  readonly selecting: Map<string, Selecting>
}

/** A client has deleted the object that the loop was about to change. */
export class ObjectGoneError extends Error {
  constructor(resource: ResourceName, { namespace, name }: Named) {
    super(`${resource.resource} ${namespace}/${name} is gone`)
    this.name = 'ObjectGoneError'
  }
}

/**
 * The storage, and an index of it that every write keeps up to date: the loop's own writes and those of clients. The
 * index holds a few words per pod, and the controller of each pod.
 */
export class Cluster {
  readonly random: Random
  readonly now: () => number
  readonly nodes: Nodes
  readonly #storage: ClusterWriter
  #own = false
  /** Writes since the loop began. */
  writes = 0
  readonly controllers: Map<string, Controller> = new Map()
  readonly #kinds = new Map<ControllerKind, Set<Controller>>()
  readonly pods: Map<string, PodRecord> = new Map()
  /** Pods whose image crashes at each start. */
  readonly crashing: Set<PodRecord> = new Set()
  readonly autoscalers: Map<string, Named> = new Map()
  /** Events by UID of their object, reason and message, oldest first. */
  readonly events: Map<string, Named> = new Map()
  /** The problem of each broken image, learned from the pods that are broken before the loop begins. */
  readonly badImages: Map<string, string> = new Map()
  #learning = true
  /** Objects that may need work. */
  readonly active: Set<Controller | Outage> = new Set()
  /** Those of {@link active} that a client has changed, or whose pods: the client waits for them. */
  readonly asked: Set<Controller> = new Set()
  /** Controllers with changed pods. Their counters and endpoints are out of date. */
  readonly changed: Set<Controller> = new Set()
  readonly #namespaces = new Map<string, NamespaceRecords>()

  /** Beyond `maxEvents` the oldest Event is deleted, as an API server does after an hour. */
  readonly #maxEvents: number

  constructor(
    storage: ClusterWriter,
    random: Random,
    now: () => number,
    { nodes = new Nodes(), maxEvents = 1000 }: { nodes?: Nodes; maxEvents?: number } = {},
  ) {
    this.#storage = storage
    this.#maxEvents = maxEvents
    this.random = random
    this.now = now
    this.nodes = nodes
    for (const resource of followed.values())
      for (const object of storage.list(resource))
        this.#observe(resource.kind, { namespace: '', ...object.metadata }, object)
    storage.follow(({ groupResource }, metadata, object) => {
      const resource = followed.get(groupResource)
      if (resource !== undefined) this.#observe(resource.kind, metadata, object)
    })
  }

  /** Ends the setup. Pods that are broken now are broken on purpose. */
  begin(): void {
    this.#learning = false
    this.active.clear()
    this.asked.clear()
    this.changed.clear()
  }

  get<T extends KubernetesObject>(
    resource: Resource<T>,
    { namespace, name }: Named,
  ): (T & Unstructured) | undefined {
    return this.#storage.get(resource, namespace, name) as (T & Unstructured) | undefined
  }

  /** Throws {@link ObjectGoneError}. */
  require<T extends KubernetesObject>(resource: Resource<T>, at: Named): T & Unstructured {
    const object = this.get(resource, at)
    if (object === undefined) throw new ObjectGoneError(resource, at)
    return object
  }

  create(resource: Resource, object: Unstructured): Unstructured {
    return this.#write(() => this.#storage.create(resource, object))
  }

  update(resource: ResourceName, object: Unstructured): Unstructured {
    return this.#write(() => this.#storage.update(resource, object))
  }

  delete(resource: ResourceName, namespace: string, name: string): void {
    this.#write(() => this.#storage.delete(resource, namespace, name))
  }

  /**
   * Replaces an object by the result of `change`, unless that is `undefined`. Returns the current object; `undefined`
   * if there is none.
   */
  change<T extends KubernetesObject>(
    resource: Resource<T>,
    at: Named,
    change: (object: T & Unstructured) => Unstructured | undefined,
  ): Unstructured | undefined {
    const object = this.get(resource, at)
    const changed = object && change(object)
    return changed === undefined ? object : this.update(resource, changed)
  }

  remove(resource: Resource, at: Named): void {
    if (this.get(resource, at) !== undefined) this.delete(resource, at.namespace, at.name)
  }

  /** Writes an Event of a component about an object. A repeated one counts up. */
  record(
    regarding: Unstructured,
    component: string,
    reason: string,
    message: string,
    { type = 'Normal', host, fieldPath }: EventDetails = {},
  ): void {
    const { name, namespace, uid = '', resourceVersion } = regarding.metadata
    const atMs = this.now()
    const at = timestamp(atMs)
    const key = `${uid}/${reason}/${message}`
    const seen = this.events.get(key)
    // Keeps the map in the order of last occurrence.
    this.events.delete(key)
    if (seen !== undefined && this.get(resources.events, seen) !== undefined) {
      this.change(resources.events, seen, (before) => ({
        ...before,
        count: (before.count ?? 1) + 1,
        lastTimestamp: at,
      }))
      return
    }
    const manager = component.endsWith('-controller') ? 'kube-controller-manager' : component
    const event = {
      metadata: {
        name: `${name}.${hexDigest(`${key}/${atMs}`, 16)}`,
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
    const identity = { uid: uidDigest(`${key}/${atMs}/event`), createdAtMs: atMs }
    this.create(resources.events, identified(resources.events, event, identity))
    for (const [oldest, place] of this.events) {
      if (this.events.size <= this.#maxEvents) return
      this.events.delete(oldest)
      this.remove(resources.events, place)
    }
  }

  #write<T>(write: () => T): T {
    this.writes += 1
    this.#own = true
    try {
      return write()
    } finally {
      this.#own = false
    }
  }

  /** Schedules the work that a change of a controller's pods may need. */
  activate(controller: Controller): void {
    this.active.add((controller.orphaned ? undefined : this.deploymentOf(controller)) ?? controller)
  }

  /** The Deployment that owns a ReplicaSet. */
  deploymentOf({ owner, kind }: Controller): Controller | undefined {
    return kind === 'ReplicaSet' ? this.controllers.get(owner) : undefined
  }

  /** The controllers of a kind that are not orphaned. */
  ofKind(kind: ControllerKind): Set<Controller> {
    return getOrInsert(this.#kinds, kind, () => new Set())
  }

  /** The ReplicaSets of a Deployment, the current one last, or the Jobs of a CronJob, the oldest first. */
  ownedBy({ namespace, uid }: Controller): Controller[] {
    return [...this.#in(namespace).controllers]
      .filter(({ owner, orphaned }) => owner === uid && !orphaned)
      .toSorted((a, b) => a.revision - b.revision)
  }

  /** The Services and the PodDisruptionBudgets that select a controller's pods. */
  selecting({ namespace, labels }: Controller): Selecting[] {
    return [...this.#in(namespace).selecting.values()].filter((one) => selects(one, labels))
  }

  /** The controllers whose pods a Service or a budget selects. */
  selectedBy(record: Selecting): Controller[] {
    return [...this.#in(record.namespace).controllers].filter(
      ({ kind, labels }) => kind !== 'Deployment' && kind !== 'CronJob' && selects(record, labels),
    )
  }

  #observe(kind: string, at: Named, object: Unstructured | undefined): void {
    switch (kind) {
      case 'Node':
        if (this.nodes.observe(at.name, object))
          for (const pod of this.podsOn(at.name)) this.activate(pod.controller)
        return
      case 'Service':
      case 'PodDisruptionBudget':
        return this.#selecting(kind, at, object)
      case 'EndpointSlice':
        return this.#slice(at, object)
      case 'Pod':
        return this.#pod(at, object)
      case 'HorizontalPodAutoscaler':
        if (object === undefined) this.autoscalers.delete(keyOf(at))
        else this.autoscalers.set(keyOf(at), named(at))
        return
      case 'Event':
        if (object !== undefined) {
          const { involvedObject, reason = '', message = '' } = object as Event
          this.events.set(`${involvedObject.uid ?? ''}/${reason}/${message}`, named(at))
        }
        return
      default:
        return this.#controller(kind as ControllerKind, at, object)
    }
  }

  #controller(kind: ControllerKind, at: Named, object: Unstructured | undefined): void {
    const { controllers } = this.#in(at.namespace)
    for (const one of controllers)
      if (one.kind === kind && one.name === at.name && one.uid !== object?.metadata.uid)
        this.orphan(one)
    if (object === undefined) return
    const { uid = '', annotations, ownerReferences = [] } = object.metadata
    let record = this.controllers.get(uid)
    const facts = {
      revision: Number(annotations?.[revisionAnnotation] ?? 0),
      outcome: kind === 'Job' ? outcomeOf(object as Job) : undefined,
      ...(this.#own && record !== undefined ? {} : { baseline: replicasOf(object) }),
    }
    if (record === undefined) {
      const owner = ownerReferences.find(({ controller }) => controller === true)?.uid ?? ''
      const labels = kind === 'CronJob' ? {} : (templateOf(object).metadata?.labels ?? {})
      const own = { kind, ...named(at), uid, owner, labels, pods: new Set<PodRecord>() }
      record = { ...own, baseline: 0, ...facts, orphaned: false }
      this.controllers.set(uid, record)
      controllers.add(record)
      this.ofKind(kind).add(record)
    } else {
      Object.assign(record, facts)
      if (this.#own) return
    }
    this.changed.add(record)
    this.activate(record)
    if (!this.#own) this.#ask(record)
  }

  /** Notes that a client has changed a controller or its pods. */
  #ask(controller: Controller): void {
    this.asked.add((controller.orphaned ? undefined : this.deploymentOf(controller)) ?? controller)
  }

  /** Marks a controller that is deleted or will be. */
  orphan(controller: Controller): void {
    if (controller.orphaned) return
    for (const owned of this.ownedBy(controller)) this.orphan(owned)
    controller.orphaned = true
    this.ofKind(controller.kind).delete(controller)
    this.active.add(controller)
  }

  /** Drops a deleted controller without pods. */
  forget(controller: Controller): void {
    this.controllers.delete(controller.uid)
    this.#in(controller.namespace).controllers.delete(controller)
    this.changed.delete(controller)
  }

  #in(namespace: string): NamespaceRecords {
    return getOrInsert(this.#namespaces, namespace, () => ({
      controllers: new Set(),
      selecting: new Map(),
    }))
  }

  #selecting(kind: Selecting['kind'], at: Named, object: Unstructured | undefined): void {
    const { selecting } = this.#in(at.namespace)
    const slices = selecting.get(`${kind}/${at.name}`)?.slices ?? []
    selecting.delete(`${kind}/${at.name}`)
    const { selector } = (object?.['spec'] ?? {}) as {
      selector?: { matchLabels?: Labels } & Labels
    }
    const labels = kind === 'Service' ? selector : selector?.matchLabels
    if (labels === undefined) return
    const record = { kind, ...named(at), selector: labels, slices }
    selecting.set(`${kind}/${at.name}`, record)
    // The loop writes the status of budgets only.
    if (kind === 'Service' || !this.#own) this.#selectionChanged(record)
  }

  #selectionChanged(record: Selecting): void {
    for (const controller of this.selectedBy(record)) this.changed.add(controller)
  }

  #slice({ namespace, name }: Named, object: Unstructured | undefined): void {
    const { selecting } = this.#in(namespace)
    const service = object?.metadata.labels?.['kubernetes.io/service-name'] ?? ''
    const owner = selecting.get(`Service/${service}`)
    if (owner?.slices.includes(name) === false) owner.slices.push(name)
    for (const record of this.#own ? [] : selecting.values()) {
      if (!record.slices.includes(name)) continue
      if (object === undefined) record.slices.splice(record.slices.indexOf(name), 1)
      this.#selectionChanged(record)
    }
  }

  #pod(at: Named, object: Unstructured | undefined): void {
    const uid = object?.metadata.uid
    let record = this.pods.get(keyOf(at))
    if (record !== undefined) {
      this.nodes.take(record.at, false)
      if (record.uid !== uid) {
        record.controller.pods.delete(record)
        this.pods.delete(keyOf(at))
        this.crashing.delete(record)
        this.#podChanged(record)
        record = undefined
      }
    }
    if (object === undefined) return
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true)
    const controller = record?.controller ?? this.controllers.get(owner?.uid ?? '')
    if (controller === undefined) return
    const facts = podFacts(object as Pod)
    if (record === undefined) {
      record = { ...named(at), uid: uid ?? '', controller, ...facts }
      this.pods.set(keyOf(at), record)
      controller.pods.add(record)
    } else Object.assign(record, facts)
    this.nodes.take(record.at, true)
    this.#podChanged(record)
    if (this.#learning && (record.stage === 'waiting' || record.stage === 'failed'))
      this.badImages.set(record.image, mainReason(object as Pod))
    if (this.badImages.get(record.image) === 'CrashLoopBackOff') this.crashing.add(record)
  }

  #podChanged({ controller }: PodRecord): void {
    this.changed.add(controller)
    if (this.#own) return
    this.activate(controller)
    this.#ask(controller)
  }

  podsOn(node: string): PodRecord[] {
    return [...this.pods.values()].filter((pod) => pod.at?.nodeName === node && !isFinished(pod))
  }
}

/** The annotation with the revision of a Deployment and its ReplicaSets. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision'

/** `spec.replicas`; 1 by default. */
export function replicasOf(workload: Unstructured): number {
  return (workload['spec'] as { readonly replicas?: number }).replicas ?? 1
}

/** Whether a pod has succeeded or failed, and no longer counts. */
export function isFinished({ stage }: PodRecord): boolean {
  return stage === 'succeeded' || stage === 'failed'
}

/** The pods that run or will run, without terminating and finished pods. */
export function activePods({ pods }: Controller): PodRecord[] {
  return [...pods].filter((pod) => !pod.terminating && !isFinished(pod))
}

const named = ({ namespace, name }: Named): Named => ({ namespace, name })

const keyOf = ({ namespace, name }: Named): string => `${namespace}/${name}`

const selects = ({ selector }: Selecting, labels: Labels): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value)

const mainReason = ({ status }: Pod): string =>
  status?.containerStatuses?.[0]?.state?.waiting?.reason ?? ''

function podFacts(pod: Pod): Pick<PodRecord, 'image' | 'at' | 'stage' | 'ready' | 'terminating'> {
  const nodeName = pod.spec?.nodeName
  const { phase, podIP, hostIP = '', conditions = [] } = pod.status ?? {}
  let stage: PodRecord['stage'] = mainReason(pod).endsWith('BackOff') ? 'waiting' : 'running'
  if (podIP === undefined) stage = 'creating'
  if (nodeName === undefined) {
    stage = conditions.some(({ type }) => type === 'PodScheduled') ? 'unschedulable' : 'new'
  }
  if (phase === 'Failed') stage = 'failed'
  if (phase === 'Succeeded') stage = 'succeeded'
  return {
    image: mainContainer(pod).image ?? '',
    at: nodeName === undefined ? undefined : { nodeName, hostIP, podIP: podIP ?? '' },
    stage,
    ready: isReadyObject(pod),
    terminating: pod.metadata.deletionTimestamp !== undefined,
  }
}

function outcomeOf({ status }: Job): Controller['outcome'] {
  const types = (status?.conditions ?? []).map(({ type }) => type)
  if (types.includes('Complete')) return 'complete'
  return types.includes('Failed') ? 'failed' : undefined
}

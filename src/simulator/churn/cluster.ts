import type { Unstructured } from '../../kubernetes/object.ts'
import type { Storage } from '../storage/storage.ts'
import { isReadyObject } from '../population/node-health.ts'
import {
  type GroupVersionResource,
  type PopulationItem,
  type PopulationResource,
  resources,
} from '../population/object.ts'
import { podsPerNode } from '../population/plan.ts'
import { mainContainer, templateOf } from '../population/pod.ts'
import type { Placement } from '../population/pod-status.ts'
import type { Random } from '../population/random.ts'
import { revisionAnnotation } from '../population/workloads.ts'

/** The part of the simulator's storage that population and churn use. */
export type ClusterWriter = Pick<
  Storage,
  'create' | 'update' | 'delete' | 'get' | 'list' | 'follow'
>

type Labels = Readonly<Record<string, string>>

interface Named {
  readonly namespace: string
  readonly name: string
}

/** A node, as far as the scheduler uses it. */
export interface NodeRecord {
  readonly name: string
  hostIP: string
  /** The first three bytes of its pods' addresses, with the last dot. */
  prefix: string
  zone: string
  milliCpu: number
  ready: boolean
  /** Whether the node takes new pods. */
  open: boolean
  readonly used: Set<number>
  readonly pods: Set<PodRecord>
  next: number
}

/** The last written state of a pod. */
export interface PodRecord extends Named {
  readonly uid: string
  readonly group: PodGroup
  image: string
  at: Placement | undefined
  stage: 'new' | 'unschedulable' | 'creating' | 'running' | 'waiting' | 'succeeded' | 'failed'
  ready: boolean
  terminating: boolean
}

/** A controller and its pods. */
export interface PodGroup extends Named {
  readonly kind: 'ReplicaSet' | 'StatefulSet' | 'DaemonSet' | 'Job'
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
  /** Whether the controller is deleted or will be. Its pods are deleted first. */
  orphaned: boolean
}

/** A Service or a PodDisruptionBudget, which selects pods by labels. */
export interface Selecting extends Named {
  readonly selector: Labels
}

/** A Service with its endpoint slices: the name of each, and its last written endpoints or `''`. */
export interface ServiceRecord extends Selecting {
  readonly slices: { readonly name: string; written: string }[]
}

export interface DeploymentRecord extends Named {
  readonly kind: 'Deployment'
  readonly uid: string
  /** The replicas of the last manifest or client. Random scalings stay near them. */
  baseline: number
}

/** A silent node. It comes back after `turnsLeft` turns. */
export interface Outage {
  readonly kind: 'Outage'
  readonly node: string
  turnsLeft: number
}

/** An object that the loop brings to its desired state step by step. */
export type Reconciled = DeploymentRecord | PodGroup | Outage

interface NamespaceRecords {
  readonly groups: Set<PodGroup>
  readonly services: Map<string, ServiceRecord>
  readonly budgets: Map<string, Selecting>
}

/** A client has deleted the object that the loop was about to change. */
export class ObjectGoneError extends Error {
  constructor(resource: GroupVersionResource, namespace: string, name: string) {
    super(`${resource.resource} ${namespace}/${name} is gone`)
    this.name = 'ObjectGoneError'
  }
}

const groupResourceOf = ({ group, resource }: GroupVersionResource): string =>
  group === '' ? resource : `${resource}.${group}`

/** The kinds that the loop follows, owners before the objects that they own. */
const followed: readonly PopulationResource[] = [
  resources.nodes,
  resources.services,
  resources.disruptionBudgets,
  resources.deployments,
  resources.cronJobs,
  resources.replicaSets,
  resources.statefulSets,
  resources.daemonSets,
  resources.jobs,
  resources.pods,
  resources.endpointSlices,
  resources.autoscalers,
  resources.events,
]
const followedKinds = new Map(followed.map((one) => [groupResourceOf(one), one.kind]))

/**
 * The storage, and an index of it that every write keeps up to date: the loop's own writes and those of clients. The
 * index holds a few words per pod, and the controller of each pod.
 */
export class Cluster {
  readonly random: Random
  readonly now: () => number
  readonly #storage: ClusterWriter
  #own = false
  /** Writes since the loop began. */
  writes = 0
  readonly nodes: Map<string, NodeRecord> = new Map()
  readonly deployments: Map<string, DeploymentRecord> = new Map()
  readonly cronJobs: Map<string, Named & { readonly uid: string }> = new Map()
  readonly autoscalers: Map<string, Named> = new Map()
  readonly groups: Map<string, PodGroup> = new Map()
  readonly pods: Map<string, PodRecord> = new Map()
  /** Events by {@link eventKey}, oldest first. */
  readonly events: Map<string, Named> = new Map()
  /** The problem of each broken image, learned from the pods that are broken before the loop begins. */
  readonly badImages: Map<string, string> = new Map()
  /** Pods whose image crashes at each start. */
  readonly crashing: Set<PodRecord> = new Set()
  #learning = true
  /** Objects that may need work. */
  readonly active: Set<Reconciled> = new Set()
  /** Groups with changed pods. Their counters and endpoints are out of date. */
  readonly changed: Set<PodGroup> = new Set()
  readonly #deploymentByUid = new Map<string, DeploymentRecord>()
  readonly #namespaces = new Map<string, NamespaceRecords>()

  constructor(storage: ClusterWriter, random: Random, now: () => number) {
    this.#storage = storage
    this.random = random
    this.now = now
    for (const resource of followed)
      for (const object of storage.list(resource))
        this.#observe(resource.kind, { namespace: '', ...object.metadata }, object)
    storage.follow(({ groupResource }, metadata, object) => {
      const kind = followedKinds.get(groupResource)
      if (kind !== undefined) this.#observe(kind, metadata, object)
    })
  }

  /** Ends the setup. Pods that are broken now are broken on purpose. */
  begin(): void {
    this.#learning = false
    this.active.clear()
    this.changed.clear()
  }

  get(resource: GroupVersionResource, { namespace, name }: Named): Unstructured | undefined {
    return this.#storage.get(resource, namespace, name)
  }

  /** Throws {@link ObjectGoneError}. */
  require(resource: GroupVersionResource, at: Named): Unstructured {
    const object = this.get(resource, at)
    if (object === undefined) throw new ObjectGoneError(resource, at.namespace, at.name)
    return object
  }

  create({ resource, object }: PopulationItem): Unstructured {
    return this.#write(() => this.#storage.create(resource, object))
  }

  /** Replaces an object by the result of `change`, unless that is `undefined`. Throws {@link ObjectGoneError}. */
  change(
    resource: PopulationResource,
    at: Named,
    change: (object: Unstructured) => Unstructured | undefined,
  ): Unstructured {
    const object = this.require(resource, at)
    const changed = change(object)
    return changed === undefined
      ? object
      : this.#write(() => this.#storage.update(resource, changed))
  }

  /** As {@link change}, but ignores a missing object. */
  changeIfThere(
    resource: PopulationResource,
    at: Named,
    change: (object: Unstructured) => Unstructured | undefined,
  ): void {
    if (this.get(resource, at) !== undefined) this.change(resource, at, change)
  }

  /** Deletes an object if it exists. */
  remove(resource: GroupVersionResource, at: Named): void {
    if (this.get(resource, at) === undefined) return
    this.#write(() => this.#storage.delete(resource, at.namespace, at.name))
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

  /** Schedules the work that a change of a group's pods may need. */
  activate(group: PodGroup): void {
    this.active.add((group.orphaned ? undefined : this.deploymentOf(group)) ?? group)
  }

  /** The Deployment that owns a ReplicaSet. */
  deploymentOf({ owner }: PodGroup): DeploymentRecord | undefined {
    return this.#deploymentByUid.get(owner)
  }

  /** The ReplicaSets of a Deployment, the current one last, or the Jobs of a CronJob, the oldest first. */
  ownedBy({ namespace, uid }: { readonly namespace: string; readonly uid: string }): PodGroup[] {
    return [...this.#in(namespace).groups]
      .filter(({ owner, orphaned }) => owner === uid && !orphaned)
      .toSorted((a, b) => a.revision - b.revision)
  }

  /** The Services that select a group's pods. */
  servicesOf({ namespace, labels }: PodGroup): ServiceRecord[] {
    return [...this.#in(namespace).services.values()].filter((one) => selects(one, labels))
  }

  /** The PodDisruptionBudgets that select a group's pods. */
  budgetsOf({ namespace, labels }: PodGroup): Selecting[] {
    return [...this.#in(namespace).budgets.values()].filter((one) => selects(one, labels))
  }

  /** The groups whose pods a Service or a budget selects. */
  selectedBy(record: Selecting): PodGroup[] {
    return [...this.#in(record.namespace).groups].filter(({ labels }) => selects(record, labels))
  }

  /** The emptier of two random nodes; `undefined` if it is full or no node is open. */
  place(): NodeRecord | undefined {
    const open = [...this.nodes.values()].filter((node) => node.open)
    if (open.length === 0) return undefined
    const [one, other] = [this.random.pick(open), this.random.pick(open)]
    const node = one.pods.size <= other.pods.size ? one : other
    return node.pods.size < podsPerNode ? node : undefined
  }

  /** A free address for a pod on a node. */
  address(node: NodeRecord): string {
    while (node.used.has(node.next)) node.next = node.next >= 254 ? 2 : node.next + 1
    return `${node.prefix}${node.next}`
  }

  #observe(kind: string, at: Named, object: Unstructured | undefined): void {
    switch (kind) {
      case 'Node':
        return this.#node(at, object)
      case 'Service':
        return this.#service(at, object)
      case 'PodDisruptionBudget':
        return this.#budget(at, object)
      case 'Deployment':
        return this.#deployment(at, object)
      case 'ReplicaSet':
      case 'StatefulSet':
      case 'DaemonSet':
      case 'Job':
        return this.#group(kind, at, object)
      case 'Pod':
        return this.#pod(at, object)
      case 'EndpointSlice':
        return this.#slice(at, object)
      case 'CronJob':
        return setOrDelete(
          this.cronJobs,
          at,
          object && { ...named(at), uid: object.metadata.uid ?? '' },
        )
      case 'HorizontalPodAutoscaler':
        return setOrDelete(this.autoscalers, at, object && named(at))
      case 'Event':
        if (object !== undefined) this.events.set(eventKey(object), named(at))
    }
  }

  #node({ name }: Named, object: Unstructured | undefined): void {
    if (object === undefined) return void this.nodes.delete(name)
    const { podCIDR = '', unschedulable = false } = (object['spec'] ?? {}) as NodeSpec
    const { addresses = [], allocatable } = (object['status'] ?? {}) as NodeStatus
    const ready = isReadyObject(object)
    const prefix = podCIDR.slice(0, podCIDR.lastIndexOf('.') + 1)
    const facts = {
      hostIP: addresses.find(({ type }) => type === 'InternalIP')?.address ?? '',
      prefix,
      zone: object.metadata.labels?.['topology.kubernetes.io/zone'] ?? '',
      milliCpu: milliCpu(allocatable?.cpu),
      ready,
      open: ready && !unschedulable && prefix !== '',
    }
    const node = this.nodes.get(name)
    if (node === undefined) {
      this.nodes.set(name, { name, ...facts, used: new Set(), pods: new Set(), next: 2 })
      return
    }
    const turned = node.ready !== ready
    Object.assign(node, facts)
    if (turned) for (const { group } of node.pods) this.activate(group)
  }

  #deployment(at: Named, object: Unstructured | undefined): void {
    const key = `${at.namespace}/${at.name}`
    const before = this.deployments.get(key)
    if (before !== undefined && before.uid !== object?.metadata.uid) {
      this.deployments.delete(key)
      this.active.delete(before)
      for (const group of this.ownedBy(before)) this.orphan(group)
      this.#deploymentByUid.delete(before.uid)
    } else if (before !== undefined && this.#own) return
    if (object === undefined) return
    const { uid = '' } = object.metadata
    const record =
      before?.uid === uid
        ? before
        : ({ kind: 'Deployment', ...named(at), uid, baseline: 0 } as const)
    const asked = Object.assign(record, { baseline: replicasOf(object) })
    this.deployments.set(key, asked)
    this.#deploymentByUid.set(uid, asked)
    this.active.add(asked)
  }

  #group(kind: PodGroup['kind'], at: Named, object: Unstructured | undefined): void {
    const { groups } = this.#in(at.namespace)
    const known = [...groups].find((group) => group.kind === kind && group.name === at.name)
    if (known !== undefined && known.uid !== object?.metadata.uid) this.orphan(known)
    if (object === undefined) return
    const { uid = '', annotations, ownerReferences = [] } = object.metadata
    const revision = Number(annotations?.[revisionAnnotation] ?? 0)
    const facts = { revision, outcome: outcomeOf(object) }
    if (known?.uid === uid) {
      Object.assign(known, facts)
      if (!this.#own) this.#changed(known)
      return
    }
    const owner = ownerReferences.find(({ controller }) => controller === true)?.uid ?? ''
    const labels = templateOf(object).metadata?.labels ?? {}
    const group: PodGroup = {
      kind,
      ...named(at),
      uid,
      owner,
      labels,
      ...facts,
      pods: new Set(),
      orphaned: false,
    }
    this.groups.set(uid, group)
    groups.add(group)
    this.#changed(group)
  }

  #changed(group: PodGroup): void {
    this.changed.add(group)
    this.activate(group)
  }

  /** Marks a group whose controller is deleted or will be. */
  orphan(group: PodGroup): void {
    group.orphaned = true
    this.active.add(group)
  }

  /** Drops a deleted controller without pods. */
  forget(group: PodGroup): void {
    this.groups.delete(group.uid)
    this.#in(group.namespace).groups.delete(group)
    this.changed.delete(group)
  }

  #in(namespace: string): NamespaceRecords {
    let records = this.#namespaces.get(namespace)
    if (records === undefined) {
      records = { groups: new Set(), services: new Map(), budgets: new Map() }
      this.#namespaces.set(namespace, records)
    }
    return records
  }

  #service({ namespace, name }: Named, object: Unstructured | undefined): void {
    const { services } = this.#in(namespace)
    const slices = services.get(name)?.slices ?? []
    services.delete(name)
    const { selector } = (object?.['spec'] ?? {}) as { readonly selector?: Labels }
    if (selector === undefined) return
    const service = { namespace, name, selector, slices }
    services.set(name, service)
    for (const group of this.selectedBy(service)) this.changed.add(group)
  }

  #budget({ namespace, name }: Named, object: Unstructured | undefined): void {
    const { budgets } = this.#in(namespace)
    budgets.delete(name)
    const { selector } = (object?.['spec'] ?? {}) as { selector?: { matchLabels?: Labels } }
    if (selector?.matchLabels === undefined) return
    const budget = { namespace, name, selector: selector.matchLabels }
    budgets.set(name, budget)
    if (!this.#own) for (const group of this.selectedBy(budget)) this.changed.add(group)
  }

  #slice({ namespace, name }: Named, object: Unstructured | undefined): void {
    const { services } = this.#in(namespace)
    for (const service of this.#own ? [] : services.values()) {
      const slice = service.slices.find((one) => one.name === name)
      if (slice === undefined) continue
      slice.written = ''
      for (const group of this.selectedBy(service)) this.changed.add(group)
    }
    const service = services.get(object?.metadata.labels?.['kubernetes.io/service-name'] ?? '')
    if (service?.slices.every((one) => one.name !== name))
      service.slices.push({ name, written: '' })
  }

  #pod(at: Named, object: Unstructured | undefined): void {
    const key = `${at.namespace}/${at.name}`
    const uid = object?.metadata.uid
    let record = this.pods.get(key)
    if (record !== undefined && record.uid !== uid) {
      this.#unplace(record)
      record.group.pods.delete(record)
      this.pods.delete(key)
      this.crashing.delete(record)
      this.#podChanged(record)
      record = undefined
    }
    if (object === undefined) return
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true)
    const group = record?.group ?? this.groups.get(owner?.uid ?? '')
    if (group === undefined) return
    const facts = podFacts(object)
    if (record === undefined) {
      record = { ...named(at), uid: uid ?? '', group, ...facts }
      this.pods.set(key, record)
      group.pods.add(record)
    } else {
      this.#unplace(record)
      Object.assign(record, facts)
    }
    this.#place(record)
    this.#podChanged(record)
    const reason = mainReason(object)
    if (this.#learning && record.stage === 'waiting') this.badImages.set(record.image, reason)
    if (this.badImages.get(record.image) === 'CrashLoopBackOff') this.crashing.add(record)
  }

  #podChanged({ group }: PodRecord): void {
    this.changed.add(group)
    if (!this.#own) this.activate(group)
  }

  #place(record: PodRecord): void {
    const { at } = record
    const node = this.nodes.get(at?.nodeName ?? '')
    if (at === undefined || node === undefined || isFinished(record)) return
    node.pods.add(record)
    if (at.podIP.startsWith(node.prefix)) node.used.add(lastByte(at.podIP))
  }

  #unplace(record: PodRecord): void {
    const { at } = record
    const node = this.nodes.get(at?.nodeName ?? '')
    if (at === undefined || node === undefined || !node.pods.delete(record)) return
    if (at.podIP.startsWith(node.prefix)) node.used.delete(lastByte(at.podIP))
  }
}

/** The identity of an Event: its object, reason and message. */
export function eventKey(event: Unstructured): string {
  const { uid = '' } = (event['involvedObject'] ?? {}) as { readonly uid?: string }
  return `${uid}/${String(event['reason'])}/${String(event['message'])}`
}

/** `spec.replicas`; 1 by default. */
export function replicasOf(workload: Unstructured): number {
  return (workload['spec'] as { readonly replicas?: number }).replicas ?? 1
}

/** Whether a pod has succeeded or failed, and no longer counts. */
export function isFinished({ stage }: PodRecord): boolean {
  return stage === 'succeeded' || stage === 'failed'
}

/** The pods that run or will run, without terminating and finished pods. */
export function activePods(group: PodGroup): PodRecord[] {
  return [...group.pods].filter((pod) => !pod.terminating && !isFinished(pod))
}

/** CPU in thousandths: `250m`, `2`. */
export function milliCpu(quantity = '0'): number {
  return quantity.endsWith('m') ? Number(quantity.slice(0, -1)) : Number(quantity) * 1000
}

const named = ({ namespace, name }: Named): Named => ({ namespace, name })

function setOrDelete<T>(map: Map<string, T>, at: Named, item: T | undefined): void {
  const key = `${at.namespace}/${at.name}`
  if (item === undefined) map.delete(key)
  else map.set(key, item)
}

const selects = ({ selector }: Selecting, labels: Labels): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value)

interface NodeSpec {
  readonly podCIDR?: string
  readonly unschedulable?: boolean
}

interface NodeStatus {
  readonly addresses?: readonly { readonly type: string; readonly address: string }[]
  readonly allocatable?: { readonly cpu?: string }
}

interface PodStatus {
  readonly phase?: string
  readonly podIP?: string
  readonly hostIP?: string
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  readonly containerStatuses?: readonly {
    readonly state?: { readonly waiting?: { readonly reason?: string } }
  }[]
}

const statusOf = (pod: Unstructured): PodStatus => pod['status'] ?? {}

function mainReason(pod: Unstructured): string {
  return statusOf(pod).containerStatuses?.[0]?.state?.waiting?.reason ?? ''
}

function podFacts(
  pod: Unstructured,
): Pick<PodRecord, 'image' | 'at' | 'stage' | 'ready' | 'terminating'> {
  const { nodeName } = pod['spec'] as { readonly nodeName?: string }
  const { podIP = '', hostIP = '' } = statusOf(pod)
  return {
    image: mainContainer(pod).image,
    at: nodeName === undefined ? undefined : { nodeName, hostIP, podIP },
    stage: stageOf(pod, nodeName),
    ready: isReadyObject(pod),
    terminating: pod.metadata.deletionTimestamp !== undefined,
  }
}

function stageOf(pod: Unstructured, nodeName: string | undefined): PodRecord['stage'] {
  const { phase, podIP, conditions = [] } = statusOf(pod)
  if (phase === 'Succeeded') return 'succeeded'
  if (phase === 'Failed') return 'failed'
  if (nodeName === undefined)
    return conditions.some(({ type }) => type === 'PodScheduled') ? 'unschedulable' : 'new'
  if (podIP === undefined) return 'creating'
  return mainReason(pod).endsWith('BackOff') ? 'waiting' : 'running'
}

function outcomeOf(object: Unstructured): PodGroup['outcome'] {
  const { conditions = [] } = statusOf(object)
  if (object.kind !== 'Job') return undefined
  if (conditions.some(({ type }) => type === 'Complete')) return 'complete'
  return conditions.some(({ type }) => type === 'Failed') ? 'failed' : undefined
}

function lastByte(address: string): number {
  return Number(address.slice(address.lastIndexOf('.') + 1))
}

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

/** Where a population is put and churn happens: what they need of the simulator's storage. */
export type ClusterWriter = Pick<
  Storage,
  'create' | 'update' | 'delete' | 'get' | 'list' | 'follow'
>

type Labels = Readonly<Record<string, string>>

interface Named {
  readonly namespace: string
  readonly name: string
}

/** A node as the scheduler sees it. */
export interface NodeRecord {
  readonly name: string
  hostIP: string
  /** The first three bytes of its pods' addresses, with the last dot. */
  prefix: string
  zone: string
  milliCpu: number
  ready: boolean
  /** Whether pods may come. */
  open: boolean
  readonly used: Set<number>
  readonly pods: Set<PodRecord>
  next: number
}

/** What the loop remembers of a pod, as it was last written. */
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
  /** The UID of the Deployment or CronJob that owns it, `''` where there is none. */
  readonly owner: string
  /** The labels of its pod template. */
  readonly labels: Labels
  readonly pods: Set<PodRecord>
  /** The number of a ReplicaSet's revision, else 0. */
  revision: number
  /** Of a Job that has ended. */
  outcome: 'complete' | 'failed' | undefined
  /** Its controller is gone, or is to go: its pods go first. */
  doomed: boolean
}

/** A Service or a PodDisruptionBudget: it selects pods by their labels. */
export interface Selecting extends Named {
  readonly selector: Labels
}

/** A Service with its endpoint slices: each slice's name, and its endpoints as last written, where that is known. */
export interface ServiceRecord extends Selecting {
  readonly slices: { readonly name: string; written: string }[]
}

/** What the loop remembers of a Deployment. */
export interface DeploymentRecord extends Named {
  readonly kind: 'Deployment'
  readonly uid: string
  /** The number of replicas that was asked for last, by a manifest or by a client. Scalings stay near it. */
  baseline: number
}

/** A node that has fallen silent, for so many turns. */
export interface Outage {
  readonly kind: 'Outage'
  readonly node: string
  patience: number
}

/** What is reconciled: brought one step nearer to what it should be, until there is nothing to do. */
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

/** What the loop follows, owners before what they own. */
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
 * The cluster as the loop knows it: the storage, and a memory of it. Each write keeps the memory in step, the loop's own and those of
 * clients. It holds a few words per pod, and which pod belongs to which controller.
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
  readonly cronJobs: (Named & { readonly uid: string })[] = []
  readonly autoscalers: Named[] = []
  readonly groups: Map<string, PodGroup> = new Map()
  readonly pods: Map<string, PodRecord> = new Map()
  /** Events, the oldest first, by what tells like ones apart. */
  readonly events: Map<string, Named> = new Map()
  /** What is wrong with an image. Learned from the pods that are broken before the loop begins. */
  readonly badImages: Map<string, string> = new Map()
  /** The pods whose image crashes at every start. */
  readonly crashing: Set<PodRecord> = new Set()
  #learning = true
  /** What may have something to do. */
  readonly active: Set<Reconciled> = new Set()
  /** Groups whose pods have changed: what counts or lists them is to be written. */
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

  /** From now on the loop runs: what is broken has been broken from the beginning. */
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

  /** Replaces an object by what `change` makes of it; writes nothing where that is `undefined`. Throws {@link ObjectGoneError}. */
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

  /** As {@link change}, for an object that need not be there. */
  changeIfThere(
    resource: PopulationResource,
    at: Named,
    change: (object: Unstructured) => Unstructured | undefined,
  ): void {
    if (this.get(resource, at) !== undefined) this.change(resource, at, change)
  }

  /** Deletes an object that need not be there any more. */
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

  /** What has to be looked at when a group's pods have changed. */
  activate(group: PodGroup): void {
    this.active.add((group.doomed ? undefined : this.deploymentOf(group)) ?? group)
  }

  /** The Deployment that owns a ReplicaSet. */
  deploymentOf({ owner }: PodGroup): DeploymentRecord | undefined {
    return this.#deploymentByUid.get(owner)
  }

  /** The ReplicaSets of a Deployment, the current one last; or the Jobs of a CronJob, the oldest first. */
  ownedBy({ namespace, uid }: { readonly namespace: string; readonly uid: string }): PodGroup[] {
    return [...this.#in(namespace).groups]
      .filter(({ owner, doomed }) => owner === uid && !doomed)
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

  /** The less full of two nodes taken at random; `undefined` where both are full, or there are none. */
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
        return listed(this.cronJobs, at, object && { ...named(at), uid: object.metadata.uid ?? '' })
      case 'HorizontalPodAutoscaler':
        return listed(this.autoscalers, at, object && named(at))
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
      for (const group of this.ownedBy(before)) this.doom(group)
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
    if (known !== undefined && known.uid !== object?.metadata.uid) this.doom(known)
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
      doomed: false,
    }
    this.groups.set(uid, group)
    groups.add(group)
    this.#changed(group)
  }

  #changed(group: PodGroup): void {
    this.changed.add(group)
    this.activate(group)
  }

  /** The controller of these pods is gone, or is to go. */
  doom(group: PodGroup): void {
    group.doomed = true
    this.active.add(group)
  }

  /** Forgets a controller that is gone with all its pods. */
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

/** What tells like Events apart: the object, the reason and the message. */
export function eventKey(event: Unstructured): string {
  const { uid = '' } = (event['involvedObject'] ?? {}) as { readonly uid?: string }
  return `${uid}/${String(event['reason'])}/${String(event['message'])}`
}

/** `spec.replicas`, 1 where it is not given. */
export function replicasOf(workload: Unstructured): number {
  return (workload['spec'] as { readonly replicas?: number }).replicas ?? 1
}

/** Whether a pod has succeeded or failed: it counts no more. */
export function isFinished({ stage }: PodRecord): boolean {
  return stage === 'succeeded' || stage === 'failed'
}

/** The pods that run or will run, without the terminating and the finished. */
export function activePods(group: PodGroup): PodRecord[] {
  return [...group.pods].filter((pod) => !pod.terminating && !isFinished(pod))
}

/** CPU in thousandths: `250m`, `2`. */
export function milliCpu(quantity = '0'): number {
  return quantity.endsWith('m') ? Number(quantity.slice(0, -1)) : Number(quantity) * 1000
}

const named = ({ namespace, name }: Named): Named => ({ namespace, name })

const isAt =
  ({ namespace, name }: Named) =>
  (other: Named): boolean =>
    other.name === name && other.namespace === namespace

/** Keeps a list of what there is of a kind. */
function listed<T extends Named>(list: T[], at: Named, item: T | undefined): void {
  const index = list.findIndex(isAt(at))
  if (index >= 0 && item === undefined) list.splice(index, 1)
  else if (index >= 0 && item !== undefined) list[index] = item
  else if (item !== undefined) list.push(item)
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

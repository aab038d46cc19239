import type { Unstructured } from '../../kubernetes/object.ts'
import type { Placement } from '../population/node-plan.ts'
import { type GroupVersionResource, resources } from '../population/resources.ts'
import { AddressBook } from './address-book.ts'
import type {
  DeploymentRecord,
  GroupKind,
  NamedRecord,
  PodGroup,
  PodRecord,
  SelectorRecord,
  ServiceRecord,
} from './cluster-records.ts'
import type { ClusterWriter } from './cluster-writer.ts'

interface NamespaceRecords {
  readonly groups: Set<PodGroup>
  readonly services: Set<ServiceRecord>
  readonly budgets: Set<SelectorRecord>
}

/** The resources that the churn looks at, owners before what they own. */
const observed: readonly GroupVersionResource[] = [
  resources.nodes,
  resources.services,
  resources.disruptionBudgets,
  resources.deployments,
  resources.replicaSets,
  resources.statefulSets,
  resources.daemonSets,
  resources.cronJobs,
  resources.jobs,
  resources.pods,
  resources.endpointSlices,
  resources.autoscalers,
  resources.events,
]

/** What the churn remembers of the cluster: a few words per pod and who belongs to whom. */
export class ClusterIndex {
  readonly addresses: AddressBook = new AddressBook()
  readonly deployments: DeploymentRecord[] = []
  readonly statefulSets: PodGroup[] = []
  readonly cronJobs: NamedRecord[] = []
  readonly autoscalers: NamedRecord[] = []
  /** Pods that crash again and again: their group and name. */
  readonly crashLoops: { readonly group: PodGroup; readonly name: string }[] = []
  /** Events, oldest first, with what tells like ones apart. */
  readonly events: { readonly namespace: string; readonly name: string; readonly key: string }[] =
    []
  readonly #groups = new Map<string, PodGroup>()
  readonly #deploymentByUid = new Map<string, DeploymentRecord>()
  readonly #namespaces = new Map<string, NamespaceRecords>()

  /** Reads everything from the storage. */
  load(writer: ClusterWriter): void {
    for (const resource of observed)
      for (const object of writer.list(resource)) this.observe(resource, object)
  }

  /** Takes note of one object; owners come before what they own. */
  observe({ resource }: GroupVersionResource, object: Unstructured): void {
    const { namespace = '', name, uid = '' } = object.metadata
    switch (resource) {
      case 'nodes':
        return this.addresses.addNode(object)
      case 'services':
        return this.#addService(object)
      case 'poddisruptionbudgets':
        return this.#addBudget(object)
      case 'deployments': {
        const { replicas = 1 } = object['spec'] as { readonly replicas?: number }
        const facts = { namespace, name, uid, baseline: replicas }
        const record = { ...facts, revisions: [], busy: false, rollingOut: false, broken: false }
        this.#deploymentByUid.set(uid, record)
        this.deployments.push(record)
        return
      }
      case 'replicasets':
        return void this.addGroup('ReplicaSet', object)
      case 'statefulsets':
        this.statefulSets.push(this.addGroup('StatefulSet', object))
        return
      case 'daemonsets':
        return void this.addGroup('DaemonSet', object)
      case 'jobs':
        return void this.addGroup('Job', object)
      case 'pods':
        return this.#addPod(object)
      case 'endpointslices':
        return this.#addSlice(object)
      case 'cronjobs':
        this.cronJobs.push({ namespace, name })
        return
      case 'horizontalpodautoscalers':
        this.autoscalers.push({ namespace, name })
        return
      case 'events':
        this.events.push({ namespace, name, key: eventKey(object) })
        return
      default:
    }
  }

  /** Takes note of a controller and finds the Services and budgets that select its pods. */
  addGroup(kind: GroupKind, object: Unstructured): PodGroup {
    const { namespace = '', name, uid = '' } = object.metadata
    const { template } = object['spec'] as { readonly template?: { readonly metadata?: Labelled } }
    const labels = template?.metadata?.labels ?? {}
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true)
    const deployment =
      kind === 'ReplicaSet' ? this.#deploymentByUid.get(owner?.uid ?? '') : undefined
    const links = { services: new Set<ServiceRecord>(), budgets: new Set<SelectorRecord>() }
    const revision = Number(object.metadata.annotations?.[revisionAnnotation] ?? 0)
    const pods = new Map<string, PodRecord>()
    const identity = { kind, namespace, name, uid, labels, revision }
    const group: PodGroup = { ...identity, pods, deployment, counted: '', busy: false, ...links }
    this.#groups.set(uid, group)
    deployment?.revisions.push(group)
    deployment?.revisions.sort(byRevision)
    const { groups, services, budgets } = this.#in(namespace)
    groups.add(group)
    for (const service of services) link(service, group, group.services)
    for (const budget of budgets) link(budget, group, group.budgets)
    return group
  }

  /** Forgets a controller. */
  removeGroup(group: PodGroup): void {
    this.#groups.delete(group.uid)
    this.#in(group.namespace).groups.delete(group)
    for (const service of group.services) service.groups.delete(group)
    for (const budget of group.budgets) budget.groups.delete(group)
    for (const { at, finished } of group.pods.values())
      if (at !== undefined && !finished) this.addresses.release(at)
    const { revisions = [] } = group.deployment ?? {}
    if (revisions.includes(group)) revisions.splice(revisions.indexOf(group), 1)
  }

  /** Every controller. */
  groups(): Iterable<PodGroup> {
    return this.#groups.values()
  }

  /** The controllers of one kind in a namespace. */
  groupsIn(namespace: string, kind: GroupKind): PodGroup[] {
    return [...this.#in(namespace).groups].filter((group) => group.kind === kind)
  }

  #in(namespace: string): NamespaceRecords {
    let records = this.#namespaces.get(namespace)
    if (records === undefined) {
      records = { groups: new Set(), services: new Set(), budgets: new Set() }
      this.#namespaces.set(namespace, records)
    }
    return records
  }

  #addService(object: Unstructured): void {
    const { namespace = '', name } = object.metadata
    const { selector } = object['spec'] as { readonly selector?: Record<string, string> }
    if (selector === undefined) return
    const service = {
      namespace,
      name,
      selector,
      groups: new Set<PodGroup>(),
      counted: '',
      slices: [],
    }
    const records = this.#in(namespace)
    records.services.add(service)
    for (const group of records.groups) link(service, group, group.services)
  }

  #addBudget(object: Unstructured): void {
    const { namespace = '', name } = object.metadata
    const { selector } = object['spec'] as { readonly selector?: { matchLabels?: Labels } }
    if (selector?.matchLabels === undefined) return
    const groups = new Set<PodGroup>()
    const budget = { namespace, name, selector: selector.matchLabels, groups, counted: '' }
    const records = this.#in(namespace)
    records.budgets.add(budget)
    for (const group of records.groups) link(budget, group, group.budgets)
  }

  #addSlice(object: Unstructured): void {
    const { namespace = '', name, labels } = object.metadata
    const serviceName = labels?.['kubernetes.io/service-name']
    for (const service of this.#in(namespace).services)
      if (service.name === serviceName) service.slices.push({ name, written: '' })
  }

  #addPod(object: Unstructured): void {
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true)
    const group = this.#groups.get(owner?.uid ?? '')
    const record = podRecord(object)
    const { at } = record
    if (at !== undefined && !record.finished && at.podIP !== at.hostIP) this.addresses.take(at)
    if (group === undefined) return
    group.pods.set(record.name, record)
    const { containerStatuses = [] } = (object['status'] ?? {}) as PodStatus
    const reason = containerStatuses[0]?.state?.waiting?.reason
    if (reason === 'CrashLoopBackOff') this.crashLoops.push({ group, name: record.name })
  }
}

/** The number of a Deployment's revision, on it and on its ReplicaSets. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision'

/** What tells like Events apart: the object, the reason, the part of it and the message. */
export function eventKey(event: Unstructured): string {
  const { uid = '' } = (event['involvedObject'] ?? {}) as { readonly uid?: string }
  return `${uid}/${String(event['reason'])}/${String(event['message'])}`
}

type Labels = Readonly<Record<string, string>>
interface Labelled {
  readonly labels?: Labels
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

function podRecord(object: Unstructured): PodRecord {
  const { name, uid = '', deletionTimestamp } = object.metadata
  const { nodeName } = object['spec'] as { readonly nodeName?: string }
  const { phase, podIP, hostIP = '', conditions = [] } = (object['status'] ?? {}) as PodStatus
  const at: Placement | undefined =
    nodeName === undefined ? undefined : { nodeName, hostIP, podIP: podIP ?? '' }
  return {
    name,
    uid,
    at,
    addressed: podIP !== undefined,
    ready: conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
    terminating: deletionTimestamp !== undefined,
    finished: phase === 'Succeeded' || phase === 'Failed',
  }
}

function byRevision(a: PodGroup, b: PodGroup): number {
  return a.revision - b.revision
}

function link<T extends SelectorRecord>(record: T, group: PodGroup, back: Set<T>): void {
  const selects = Object.entries(record.selector).every(
    ([key, value]) => group.labels[key] === value,
  )
  if (!selects) return
  record.groups.add(group)
  back.add(record)
}

/*
 * The nodes: where pods are placed and which addresses they have, and what it means that a node falls silent:
 * conditions, taints, pods that are not ready, evictions, and the way back.
 */

import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type { Node, Pod, PodCondition } from '../../kubernetes/wire/core-v1.ts'
import type { Storage } from '../storage/storage.ts'
import type { Placement } from './pod.ts'
import type { Random } from './random.ts'

/** The maximum number of pods per node. */
export const podsPerNode = 110

/** A node, as far as the scheduler uses it. */
export interface NodeRecord {
  readonly name: string
  readonly hostIP: string
  /** The first three bytes of its pods' addresses, with the last dot. */
  readonly prefix: string
  readonly zone: string
  readonly milliCpu: number
  readonly ready: boolean
  /** Whether the node takes new pods. */
  readonly open: boolean
  /** The last bytes of its pods' addresses. */
  readonly used: Set<number>
}

export class Nodes {
  readonly #nodes = new Map<string, NodeRecord>()
  #open: readonly NodeRecord[] | undefined

  get size(): number {
    return this.#nodes.size
  }

  /** The nodes that take new pods. */
  get open(): readonly NodeRecord[] {
    this.#open ??= [...this.#nodes.values()].filter((node) => node.open)
    return this.#open
  }

  get(name = ''): NodeRecord | undefined {
    return this.#nodes.get(name)
  }

  [Symbol.iterator](): Iterator<NodeRecord> {
    return this.#nodes.values()
  }

  /** Takes up the current version of a node; `undefined` after its deletion. Returns whether its readiness changed. */
  observe(name: string, object: Unstructured | undefined): boolean {
    this.#open = undefined
    const before = this.#nodes.get(name)
    if (object === undefined) {
      this.#nodes.delete(name)
      return false
    }
    const { metadata, spec = {}, status = {} } = object as Node
    const { podCIDR = '', unschedulable = false } = spec
    const ready = isReadyObject(object)
    const prefix = podCIDR.slice(0, podCIDR.lastIndexOf('.') + 1)
    this.#nodes.set(name, {
      name,
      hostIP: status.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '',
      prefix,
      zone: metadata.labels?.['topology.kubernetes.io/zone'] ?? '',
      milliCpu: milliCpu(status.allocatable?.['cpu']),
      ready,
      open: ready && !unschedulable && prefix !== '',
      used: before?.used ?? new Set(),
    })
    return before !== undefined && before.ready !== ready
  }

  /** The emptier of two random nodes, or else any with room; `undefined` if there is none. */
  place(random: Random): NodeRecord | undefined {
    const { open } = this
    if (open.length === 0) return undefined
    const [one, other] = [random.pick(open), random.pick(open)]
    const node = one.used.size <= other.used.size ? one : other
    return hasRoom(node) ? node : open.find(hasRoom)
  }

  /** Where a pod runs on a node. With `hostNetwork` it has the node's address, else a free one. */
  placement({ name, hostIP, prefix, used }: NodeRecord, hostNetwork = false): Placement {
    let last = 2 + (used.size % 250)
    while (used.has(last)) last = last >= 254 ? 2 : last + 1
    return { nodeName: name, hostIP, podIP: hostNetwork ? hostIP : `${prefix}${last}` }
  }

  /** Notes that the address of a pod is taken, or free again. */
  take(at: Placement | undefined, isTaken: boolean): void {
    const node = this.get(at?.nodeName)
    if (at?.podIP.startsWith(node?.prefix ?? '-') !== true) return
    const last = Number(at.podIP.slice(at.podIP.lastIndexOf('.') + 1))
    if (isTaken) node?.used.add(last)
    else node?.used.delete(last)
  }
}

const hasRoom = ({ used }: NodeRecord): boolean => used.size < podsPerNode

/** CPU in thousandths: `250m`, `2`. */
export function milliCpu(quantity = '0'): number {
  return quantity.endsWith('m') ? Number(quantity.slice(0, -1)) : Number(quantity) * 1000
}

type Writer = Pick<Storage, 'update' | 'delete'>

/**
 * A node falls silent: it is not ready and tainted, and its pods are not ready. Sources: node lifecycle controller,
 * KEP-166.
 */
export function loseNode(
  writer: Pick<Storage, 'update'>,
  node: Unstructured,
  pods: Iterable<Unstructured>,
  atMs: number,
): Unstructured {
  const [first] = (node as Node).status?.conditions ?? []
  const heardAtMs = Date.parse(first?.lastHeartbeatTime ?? '') || atMs
  const lost = writer.update(resources.nodes, withHealth(node, false, heardAtMs, atMs))
  for (const pod of pods)
    if (isReadyObject(pod)) writer.update(resources.pods, withReady(pod, false, atMs))
  return lost
}

/** A silent node reports again: pods whose containers run are ready, and the evicted ones are gone. */
export function recoverNode(
  writer: Writer,
  node: Unstructured,
  pods: Iterable<Unstructured>,
  atMs: number,
): Unstructured {
  const recovered = writer.update(resources.nodes, withHealth(node, true, atMs, atMs))
  for (const pod of pods) {
    const { namespace = '', name, finalizers = [], deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined && finalizers.length === 0)
      writer.delete(resources.pods, namespace, name)
    else if (holds(pod, 'ContainersReady') && !isReadyObject(pod))
      writer.update(resources.pods, withReady(pod, true, atMs))
  }
  return recovered
}

/** Evicts a pod of a silent node. It stays, terminating, until its kubelet can confirm its end. */
export function evictPod(
  writer: Pick<Storage, 'update'>,
  pod: Unstructured,
  atMs: number,
): Unstructured {
  const { spec, status } = pod as Pod
  const graceSeconds = Number(spec?.terminationGracePeriodSeconds ?? 30)
  const disruption: PodCondition = {
    lastProbeTime: null,
    lastTransitionTime: timestamp(atMs),
    message: 'Taint manager: deleting due to NoExecute taint',
    reason: 'DeletionByTaintManager',
    status: 'True',
    type: 'DisruptionTarget',
  }
  return writer.update(resources.pods, {
    ...terminating(pod, graceSeconds, atMs),
    status: { ...status, conditions: [...(status?.conditions ?? []), disruption] },
  })
}

/** A pod that is marked for deletion. */
export function terminating(pod: Unstructured, graceSeconds: number, atMs: number): Unstructured {
  const deletionTimestamp = timestamp(atMs + graceSeconds * 1000)
  const metadata = { ...pod.metadata, deletionGracePeriodSeconds: graceSeconds, deletionTimestamp }
  return { ...pod, metadata }
}

/** The conditions that a healthy kubelet reports: type, status, reason, message. */
const healthyConditions = [
  'MemoryPressure False KubeletHasSufficientMemory kubelet has sufficient memory available',
  'DiskPressure False KubeletHasNoDiskPressure kubelet has no disk pressure',
  'PIDPressure False KubeletHasSufficientPID kubelet has sufficient PID available',
  'Ready True KubeletReady kubelet is posting ready status',
].map((line) => {
  const [type, status, reason, ...message] = line.split(' ')
  return { type, status, reason, message: message.join(' ') }
})

const unreachable = 'node.kubernetes.io/unreachable'

/**
 * A node with the conditions and taints of a healthy or a silent kubelet. `heardAtMs` is the time of its last report,
 * `sinceMs` that of the transition.
 */
export function withHealth<T extends { readonly [field: string]: unknown }>(
  node: T,
  healthy: boolean,
  heardAtMs: number,
  sinceMs: number,
): T {
  const { taints: before = [], ...spec } = (node['spec'] ?? {}) as NonNullable<Node['spec']>
  const own = healthy ? [] : ['NoSchedule', 'NoExecute']
  const timeAdded = timestamp(sinceMs)
  const taints = [
    ...before.filter(({ key }) => key !== unreachable),
    ...own.map((effect) => ({ effect, key: unreachable, timeAdded })),
  ]
  const conditions = healthyConditions.map((condition) => ({
    lastHeartbeatTime: timestamp(heardAtMs),
    lastTransitionTime: timestamp(sinceMs),
    ...condition,
    ...(healthy ? {} : silent),
  }))
  return {
    ...node,
    spec: taints.length === 0 ? spec : { ...spec, taints },
    status: { ...(node['status'] as object | undefined), conditions },
  }
}

const silent = {
  message: 'Kubelet stopped posting node status.',
  reason: 'NodeStatusUnknown',
  status: 'Unknown',
}

const holds = (object: Unstructured, name: string): boolean =>
  (object as Pod).status?.conditions?.some(
    ({ type, status }) => type === name && status === 'True',
  ) === true

/** Whether a node or a pod is ready. */
export const isReadyObject = (object: Unstructured): boolean => holds(object, 'Ready')

/** A pod whose `Ready` condition follows its node. */
export function withReady(pod: Unstructured, ready: boolean, atMs: number): Unstructured {
  const { status } = pod as Pod
  const changed = { status: ready ? 'True' : 'False', lastTransitionTime: timestamp(atMs) }
  const conditions = status?.conditions?.map((one) =>
    one.type === 'Ready' ? { ...one, ...changed } : one,
  )
  return { ...pod, status: { ...status, conditions } }
}

/** The time for which a pod tolerates a lost node, in milliseconds; `Infinity` for no limit. */
function toleratedForMs(pod: Unstructured): number {
  const seconds = ((pod as Pod).spec?.tolerations ?? [])
    .filter(({ key = unreachable, effect = 'NoExecute' }) => {
      return key === unreachable && (effect === 'NoExecute' || effect === '')
    })
    .map(({ tolerationSeconds }) => Number(tolerationSeconds ?? Infinity))
  return seconds.length === 0 ? 0 : Math.min(...seconds) * 1000
}

const longestWaitMs = 2 ** 31 - 1

/** Fails nodes and brings them back. Evicts their pods when they no longer tolerate it. */
export class NodeFailures {
  readonly #storage: Storage
  /** Timers of pending evictions, by node. */
  readonly #timers = new Map<string, NodeJS.Timeout[]>()

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /**
   * Makes a node silent. Its pods are evicted after the time for which they tolerate it, or after `evictAfterMs`.
   * Returns `false` without such a node.
   */
  fail(name: string, evictAfterMs: number | undefined): boolean {
    const node = this.#storage.get(resources.nodes, '', name)
    if (node === undefined) return false
    this.#clear(name)
    const pods = this.#podsOn(name)
    loseNode(this.#storage, node, pods, Date.now())
    const evicted = pods.filter((pod) => toleratedForMs(pod) !== Infinity)
    const due = Map.groupBy(evicted, (pod) => evictAfterMs ?? toleratedForMs(pod))
    const timers = Array.from(due, ([dueMs, some]) =>
      setTimeout(
        () => {
          for (const { metadata } of some) {
            const pod = this.#storage.get(resources.pods, metadata.namespace ?? '', metadata.name)
            const isSame = pod?.metadata.uid === metadata.uid
            if (isSame && pod !== undefined && pod.metadata.deletionTimestamp === undefined)
              evictPod(this.#storage, pod, Date.now())
          }
        },
        Math.min(dueMs, longestWaitMs),
      ),
    )
    this.#timers.set(name, timers)
    return true
  }

  /** Brings a node back. Returns `false` without such a node. */
  recover(name: string): boolean {
    const node = this.#storage.get(resources.nodes, '', name)
    if (node === undefined) return false
    this.#clear(name)
    recoverNode(this.#storage, node, this.#podsOn(name), Date.now())
    return true
  }

  stop(): void {
    for (const name of this.#timers.keys()) this.#clear(name)
  }

  #clear(name: string): void {
    for (const timer of this.#timers.get(name) ?? []) clearTimeout(timer)
    this.#timers.delete(name)
  }

  #podsOn(name: string): readonly Unstructured[] {
    return Array.from(this.#storage.list(resources.pods)).filter(
      (pod) => (pod as Pod).spec?.nodeName === name,
    )
  }
}

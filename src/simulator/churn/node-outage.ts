import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type { Node, Pod, PodCondition } from '../../kubernetes/wire/core-v1.ts'
import type { Storage } from '../storage/storage.ts'

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
export function toleratedForMs(pod: Unstructured): number {
  const seconds = ((pod as Pod).spec?.tolerations ?? [])
    .filter(({ key = unreachable, effect = 'NoExecute' }) => {
      return key === unreachable && (effect === 'NoExecute' || effect === '')
    })
    .map(({ tolerationSeconds }) => Number(tolerationSeconds ?? Infinity))
  return seconds.length === 0 ? 0 : Math.min(...seconds) * 1000
}

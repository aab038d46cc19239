import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'

/** The taint of a silent node. */
const unreachableKey = 'node.kubernetes.io/unreachable'

/** The conditions that a healthy kubelet reports. */
const healthyConditions: readonly (readonly [
  type: string,
  status: string,
  reason: string,
  message: string,
])[] = [
  [
    'MemoryPressure',
    'False',
    'KubeletHasSufficientMemory',
    'kubelet has sufficient memory available',
  ],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
]

const unknownStatus = {
  message: 'Kubelet stopped posting node status.',
  reason: 'NodeStatusUnknown',
  status: 'Unknown',
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly lastHeartbeatTime?: string
}

function conditionsOf(object: Unstructured): readonly Condition[] {
  const { conditions } = (object['status'] ?? {}) as { readonly conditions?: readonly Condition[] }
  return conditions ?? []
}

const holds = (object: Unstructured, name: string): boolean =>
  conditionsOf(object).some(({ type, status }) => type === name && status === 'True')

/** Whether a node or a pod is ready. */
export const isReadyObject = (object: Unstructured): boolean => holds(object, 'Ready')

interface Taint {
  readonly key: string
}

/** A node after the node controller has found its kubelet silent for too long. */
export function lostNode(node: Unstructured, atMs: number): Unstructured {
  const [first] = conditionsOf(node)
  const heardAtMs = Date.parse(first?.lastHeartbeatTime ?? '') || atMs
  return withHealth(node, false, heardAtMs, atMs)
}

/** A node whose kubelet reports again. */
export function recoveredNode(node: Unstructured, atMs: number): Unstructured {
  return withHealth(node, true, atMs, atMs)
}

/**
 * A node with the conditions and taints of a healthy or a silent kubelet. `heardAtMs` is the time of its last report, `sinceMs`
 * that of the transition.
 */
export function withHealth<T extends { readonly [field: string]: unknown }>(
  node: T,
  healthy: boolean,
  heardAtMs: number,
  sinceMs: number,
): T {
  const { taints: before = [], ...spec } = (node['spec'] ?? {}) as { readonly taints?: Taint[] }
  const own = healthy ? [] : ['NoSchedule', 'NoExecute']
  const taints = [
    ...before.filter(({ key }) => key !== unreachableKey),
    ...own.map((effect) => ({ effect, key: unreachableKey, timeAdded: timestamp(sinceMs) })),
  ]
  const conditions = healthyConditions.map(([type, status, reason, message]) => ({
    lastHeartbeatTime: timestamp(heardAtMs),
    lastTransitionTime: timestamp(sinceMs),
    type,
    ...(healthy ? { message, reason, status } : unknownStatus),
  }))
  return {
    ...node,
    spec: taints.length === 0 ? spec : { ...spec, taints },
    status: { ...(node['status'] as object | undefined), conditions },
  }
}

/** A pod that is no longer ready because its node is lost; `undefined` if it was not ready before. */
export function unreadyPod(pod: Unstructured, atMs: number): Unstructured | undefined {
  return isReadyObject(pod) ? withReady(pod, false, atMs) : undefined
}

/** A pod that is ready again because its node is back; `undefined` if its containers do not run. */
export function recoveredPod(pod: Unstructured, atMs: number): Unstructured | undefined {
  const isHealthy = holds(pod, 'ContainersReady') && !isReadyObject(pod)
  return isHealthy ? withReady(pod, true, atMs) : undefined
}

function withReady(pod: Unstructured, ready: boolean, atMs: number): Unstructured {
  const conditions = conditionsOf(pod).map((condition) =>
    condition.type === 'Ready'
      ? {
          ...condition,
          status: ready ? 'True' : 'False',
          lastTransitionTime: timestamp(atMs),
        }
      : condition,
  )
  return { ...pod, status: { ...(pod['status'] as object | undefined), conditions } }
}

interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

/** The time for which a pod tolerates a lost node, in milliseconds; `Infinity` for no limit. */
export function toleratedForMs(pod: Unstructured): number {
  const { tolerations = [] } = (pod['spec'] ?? {}) as { readonly tolerations?: Toleration[] }
  const seconds = tolerations
    .filter(
      ({ key = unreachableKey, effect = 'NoExecute' }) =>
        key === unreachableKey && (effect === 'NoExecute' || effect === ''),
    )
    .map(({ tolerationSeconds = Infinity }) => tolerationSeconds)
  return seconds.length === 0 ? 0 : Math.min(...seconds) * 1000
}

/** A pod that is evicted because its node is lost. It stays, terminating, until its kubelet can confirm its end. */
export function evictedPod(pod: Unstructured, atMs: number): Unstructured {
  const { terminationGracePeriodSeconds: graceSeconds = 30 } = (pod['spec'] ?? {}) as {
    readonly terminationGracePeriodSeconds?: number
  }
  const disruption = {
    lastProbeTime: null,
    lastTransitionTime: timestamp(atMs),
    message: 'Taint manager: deleting due to NoExecute taint',
    reason: 'DeletionByTaintManager',
    status: 'True',
    type: 'DisruptionTarget',
  }
  const conditions = [...conditionsOf(pod), disruption]
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      deletionGracePeriodSeconds: graceSeconds,
      deletionTimestamp: timestamp(atMs + graceSeconds * 1000),
    },
    status: { ...(pod['status'] as object | undefined), conditions },
  }
}

import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'

/** The taint of a node that is not heard of. */
const unreachableKey = 'node.kubernetes.io/unreachable'

/** What a kubelet says of each condition while all is well. */
const healthy: readonly (readonly [
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

/** `status.conditions` of a node whose kubelet is well. */
export function healthyConditions(heardAtMs: number, sinceMs: number): readonly object[] {
  return healthy.map(([type, status, reason, message]) => ({
    lastHeartbeatTime: timestamp(heardAtMs),
    lastTransitionTime: timestamp(sinceMs),
    message,
    reason,
    status,
    type,
  }))
}

/** `status.conditions` of a node whose kubelet is not heard of any more. */
export function unknownConditions(heardAtMs: number, sinceMs: number): readonly object[] {
  return healthy.map(([type]) => ({
    lastHeartbeatTime: timestamp(heardAtMs),
    lastTransitionTime: timestamp(sinceMs),
    message: 'Kubelet stopped posting node status.',
    reason: 'NodeStatusUnknown',
    status: 'Unknown',
    type,
  }))
}

/** The taints of a node that is not heard of: no pod comes, and those that do not tolerate it go. */
export function unreachableTaints(sinceMs: number): readonly object[] {
  return ['NoSchedule', 'NoExecute'].map((effect) => ({
    effect,
    key: unreachableKey,
    timeAdded: timestamp(sinceMs),
  }))
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

/** Whether a node, or a pod, is ready. */
export const isReadyObject = (object: Unstructured): boolean => holds(object, 'Ready')

interface Taint {
  readonly key: string
}

/** A node as the node controller marks it when its kubelet has been silent for too long. */
export function lostNode(node: Unstructured, atMs: number): Unstructured {
  const [first] = conditionsOf(node)
  const heardAtMs = Date.parse(first?.lastHeartbeatTime ?? '') || atMs
  return withHealth(node, unknownConditions(heardAtMs, atMs), unreachableTaints(atMs))
}

/** A node whose kubelet is heard of again. */
export function foundNode(node: Unstructured, atMs: number): Unstructured {
  return withHealth(node, healthyConditions(atMs, atMs), [])
}

function withHealth(
  node: Unstructured,
  conditions: readonly object[],
  own: readonly object[],
): Unstructured {
  const { taints: before = [], ...spec } = (node['spec'] ?? {}) as { readonly taints?: Taint[] }
  const taints = [...before.filter(({ key }) => key !== unreachableKey), ...own]
  return {
    ...node,
    spec: taints.length === 0 ? spec : { ...spec, taints },
    status: { ...(node['status'] as object | undefined), conditions },
  }
}

/** A pod as the node controller marks it when its node is lost; `undefined` where it was not ready anyway. */
export function strandedPod(pod: Unstructured, atMs: number): Unstructured | undefined {
  return isReadyObject(pod) ? withReady(pod, false, atMs) : undefined
}

/** A stranded pod whose kubelet is heard of again; `undefined` where its containers do not run. */
export function foundPod(pod: Unstructured, atMs: number): Unstructured | undefined {
  const isWell = holds(pod, 'ContainersReady') && !isReadyObject(pod)
  return isWell ? withReady(pod, true, atMs) : undefined
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

/** For how long a pod stays on a lost node, in milliseconds; `Infinity`: for ever. */
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

/** A pod that is to go because its node is lost: it stays, terminating, until its kubelet can say that it has ended. */
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

import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import {
  identified,
  managers,
  ownerReference,
  type PopulationItem,
  resources,
  type Written,
} from './object.ts'
import type { Placement } from './pod-status.ts'

type Status = Readonly<Record<string, unknown>>

/** The number of a controller's pods. Terminating pods count separately, as in Kubernetes. */
export interface PodCounts {
  readonly active: number
  readonly ready: number
  readonly terminating: number
}

/** `status` of a ReplicaSet. */
export function replicaSetStatus(
  generation: number,
  { active, ready, terminating }: PodCounts,
): Status {
  return {
    ...(ready === 0 ? {} : { availableReplicas: ready }),
    ...(active === 0 ? {} : { fullyLabeledReplicas: active }),
    observedGeneration: generation,
    ...(ready === 0 ? {} : { readyReplicas: ready }),
    replicas: active,
    terminatingReplicas: terminating,
  }
}

/** `status` of a StatefulSet whose pods all have the same revision. */
export function statefulSetStatus(
  generation: number,
  { active, ready }: PodCounts,
  revision: string,
): Status {
  return {
    availableReplicas: ready,
    collisionCount: 0,
    currentReplicas: active,
    currentRevision: revision,
    observedGeneration: generation,
    ...(ready === 0 ? {} : { readyReplicas: ready }),
    replicas: active,
    updateRevision: revision,
    updatedReplicas: active,
  }
}

/** `status` of a DaemonSet with all its pods. */
export function daemonSetStatus(generation: number, { active, ready }: PodCounts): Status {
  return {
    currentNumberScheduled: active,
    desiredNumberScheduled: active,
    numberAvailable: ready,
    numberMisscheduled: 0,
    numberReady: ready,
    ...(ready === active ? {} : { numberUnavailable: active - ready }),
    observedGeneration: generation,
    updatedNumberScheduled: active,
  }
}

/** One of a workload's `status.conditions`. */
export interface WorkloadCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
  readonly lastUpdateTime: string
}

/** The progress of a rollout. */
export type Progress = 'NewReplicaSetAvailable' | 'ReplicaSetUpdated' | 'ProgressDeadlineExceeded'

/** The inputs of a Deployment's status. */
export interface DeploymentFacts {
  readonly generation: number
  readonly desired: number
  /** The pods of all its ReplicaSets. */
  readonly counts: PodCounts
  /** The active pods of the newest ReplicaSet. */
  readonly updated: number
  readonly replicaSetName: string
  readonly progress: Progress
  readonly atMs: number
  /** The previous conditions. Unchanged conditions keep their times. */
  readonly previous: readonly WorkloadCondition[]
}

/** `status` of a Deployment. */
export function deploymentStatus(facts: DeploymentFacts): Status {
  const { desired, counts, updated, progress, replicaSetName, atMs, previous } = facts
  const unavailable = Math.max(0, desired - counts.ready, counts.active - counts.ready)
  const available = counts.ready >= desired - maxUnavailable(desired)
  const conditions = [
    {
      message: `Deployment ${available ? 'has' : 'does not have'} minimum availability.`,
      reason: `MinimumReplicas${available ? 'Available' : 'Unavailable'}`,
      status: available ? 'True' : 'False',
      type: 'Available',
    } as const,
    {
      message: `ReplicaSet "${replicaSetName}" ${progressMessages[progress]}`,
      reason: progress,
      status: progress === 'ProgressDeadlineExceeded' ? 'False' : 'True',
      type: 'Progressing',
    } as const,
  ]
  return {
    ...(counts.ready === 0 ? {} : { availableReplicas: counts.ready }),
    conditions: conditions.map((condition) => since(previous, atMs, condition)),
    observedGeneration: facts.generation,
    ...(counts.ready === 0 ? {} : { readyReplicas: counts.ready }),
    ...(counts.active === 0 ? {} : { replicas: counts.active }),
    terminatingReplicas: counts.terminating,
    ...(unavailable === 0 ? {} : { unavailableReplicas: unavailable }),
    ...(updated === 0 ? {} : { updatedReplicas: updated }),
  }
}

const progressMessages: Readonly<Record<Progress, string>> = {
  NewReplicaSetAvailable: 'has successfully progressed.',
  ReplicaSetUpdated: 'is progressing.',
  ProgressDeadlineExceeded: 'has timed out progressing.',
}

/** The number of extra pods during a rollout: 25 %, rounded up. */
export function maxSurge(desired: number): number {
  return Math.ceil(desired / 4)
}

/** The number of pods that may be missing during a rollout: 25 %, rounded down. */
export function maxUnavailable(desired: number): number {
  return Math.floor(desired / 4)
}

function since(
  previous: readonly WorkloadCondition[],
  atMs: number,
  now: Omit<WorkloadCondition, 'lastTransitionTime' | 'lastUpdateTime'>,
): WorkloadCondition {
  const before = previous.find(({ type }) => type === now.type)
  const same = before !== undefined && before.status === now.status
  const unchanged = same && before.reason === now.reason && before.message === now.message
  return {
    lastTransitionTime: same ? before.lastTransitionTime : timestamp(atMs),
    lastUpdateTime: unchanged ? before.lastUpdateTime : timestamp(atMs),
    ...now,
  }
}

/** The state of a Job, and its end. */
export type JobOutcome =
  | { readonly kind: 'active'; readonly ready: number }
  | { readonly kind: 'complete' | 'failed'; readonly finishedAtMs: number }

/** `status` of a Job. */
export function jobStatus(startedAtMs: number, failed: number, outcome: JobOutcome): Status {
  const common = {
    ...(failed === 0 ? {} : { failed }),
    ready: outcome.kind === 'active' ? outcome.ready : 0,
    startTime: timestamp(startedAtMs),
    terminating: 0,
    uncountedTerminatedPods: {},
  }
  if (outcome.kind === 'active') return { active: 1, ...common }
  const at = timestamp(outcome.finishedAtMs)
  const condition = (type: string, reason: string, message: string): object => ({
    lastProbeTime: at,
    lastTransitionTime: at,
    message,
    reason,
    status: 'True',
    type,
  })
  if (outcome.kind === 'failed') {
    const cause = ['BackoffLimitExceeded', 'Job has reached the specified backoff limit'] as const
    return {
      conditions: [condition('FailureTarget', ...cause), condition('Failed', ...cause)],
      ...common,
    }
  }
  const cause = ['CompletionsReached', 'Reached expected number of succeeded pods'] as const
  const conditions = [condition('SuccessCriteriaMet', ...cause), condition('Complete', ...cause)]
  return { completionTime: at, conditions, ...common, succeeded: 1 }
}

/** `status` of a PodDisruptionBudget. */
export function budgetStatus(
  budget: Written | Unstructured,
  { active, ready }: PodCounts,
  atMs: number,
): Status {
  const { maxUnavailable: most, minAvailable } = budget['spec'] as {
    readonly maxUnavailable?: number | string
    readonly minAvailable?: number | string
  }
  const { conditions: [before] = [] } = (budget['status'] ?? {}) as {
    readonly conditions?: readonly WorkloadCondition[]
  }
  const share = (value: number | string): number =>
    typeof value === 'number' ? value : Math.ceil((active * Number.parseInt(value, 10)) / 100)
  const desired = minAvailable === undefined ? active - share(most ?? 1) : share(minAvailable)
  const desiredHealthy = Math.max(0, desired)
  const disruptionsAllowed = Math.max(0, ready - desiredHealthy)
  const allowed = disruptionsAllowed > 0
  const status = allowed ? 'True' : 'False'
  const { generation = 1 } = budget.metadata as { readonly generation?: number }
  const condition = {
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : timestamp(atMs),
    message: '',
    observedGeneration: generation,
    reason: allowed ? 'SufficientPods' : 'InsufficientPods',
    status,
    type: 'DisruptionAllowed',
  }
  return {
    conditions: [condition],
    currentHealthy: ready,
    desiredHealthy,
    disruptionsAllowed,
    expectedPods: active,
    observedGeneration: generation,
  }
}

/** A pod behind a Service. */
export interface Backend {
  readonly name: string
  readonly uid: string
  readonly at: Placement
  readonly ready: boolean
  readonly terminating: boolean
}

/** The maximum number of endpoints per slice, the controller's default. */
export const endpointsPerSlice = 100

/** One slice of a Service's endpoints. */
export function endpointSliceItem(
  service: Unstructured,
  endpoints: readonly object[],
  {
    name,
    uid,
    createdAtMs,
  }: { readonly name: string; readonly uid: string; readonly createdAtMs: number },
): PopulationItem {
  const { namespace = '', name: serviceName, labels } = service.metadata
  const { ports = [] } = service['spec'] as { readonly ports?: readonly ServicePort[] }
  const metadata = {
    name,
    generateName: `${serviceName}-`,
    namespace,
    generation: 1,
    labels: {
      ...labels,
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'kubernetes.io/service-name': serviceName,
    },
    annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': timestamp(createdAtMs) },
    ownerReferences: [ownerReference(service)],
    managedFields: [managers.controller],
  }
  const slice = {
    metadata,
    addressType: 'IPv4',
    endpoints,
    // Named ports resolve to the Service's port: pods are not looked up.
    ports: ports.map(({ name: portName = '', port, targetPort = port, protocol = 'TCP' }) => ({
      name: portName,
      port: typeof targetPort === 'number' ? targetPort : port,
      protocol,
    })),
  }
  return identified(resources.endpointSlices, slice, { uid, createdAtMs })
}

/** One of a slice's `endpoints`. */
export function endpointOf(
  { name, uid, at, ready, terminating }: Backend,
  namespace: string,
  zone: string,
): object {
  return {
    addresses: [at.podIP],
    conditions: { ready: ready && !terminating, serving: ready, terminating },
    nodeName: at.nodeName,
    targetRef: { kind: 'Pod', name, namespace, uid },
    zone,
  }
}

interface ServicePort {
  readonly name?: string
  readonly port: number
  readonly targetPort?: number | string
  readonly protocol?: string
}

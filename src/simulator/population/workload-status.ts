import { timestamp } from '../../kubernetes/timestamp.ts'

/** One of a workload's `status.conditions`. */
export interface WorkloadCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
  readonly lastUpdateTime: string
}

/** How many pods a ReplicaSet or a Deployment has. Terminating ones are counted apart, as Kubernetes does. */
export interface PodCounts {
  readonly active: number
  readonly ready: number
  readonly terminating: number
}

/** How far a rollout is. */
export type Progress =
  | { readonly reason: 'NewReplicaSetAvailable' | 'ReplicaSetUpdated' | 'NewReplicaSetCreated' }
  | { readonly reason: 'ProgressDeadlineExceeded' }

/** `status` of a ReplicaSet. */
export function replicaSetStatus(
  generation: number,
  { active, ready, terminating }: PodCounts,
): Record<string, unknown> {
  return {
    ...(ready === 0 ? {} : { availableReplicas: ready }),
    ...(active === 0 ? {} : { fullyLabeledReplicas: active }),
    observedGeneration: generation,
    ...(ready === 0 ? {} : { readyReplicas: ready }),
    replicas: active,
    terminatingReplicas: terminating,
  }
}

/** What a Deployment's status follows from. */
export interface DeploymentFacts {
  readonly generation: number
  readonly desired: number
  /** Of all its ReplicaSets. */
  readonly counts: PodCounts
  /** Active pods of the newest ReplicaSet. */
  readonly updated: number
  readonly replicaSetName: string
  readonly progress: Progress
  readonly atMs: number
  /** The conditions before, whose transition times stay where nothing changed. */
  readonly previous: readonly WorkloadCondition[]
}

/** `status` of a Deployment. */
export function deploymentStatus(facts: DeploymentFacts): Record<string, unknown> {
  const { desired, counts, updated } = facts
  const unavailable = Math.max(0, desired - counts.ready, counts.active - counts.ready)
  return {
    ...(counts.ready === 0 ? {} : { availableReplicas: counts.ready }),
    conditions: [availableCondition(facts), progressingCondition(facts)],
    observedGeneration: facts.generation,
    ...(counts.ready === 0 ? {} : { readyReplicas: counts.ready }),
    ...(counts.active === 0 ? {} : { replicas: counts.active }),
    terminatingReplicas: counts.terminating,
    ...(unavailable === 0 ? {} : { unavailableReplicas: unavailable }),
    ...(updated === 0 ? {} : { updatedReplicas: updated }),
  }
}

/** How many pods beyond the wanted ones a rollout may add: 25 %, rounded up. */
export function maxSurge(desired: number): number {
  return Math.ceil(desired / 4)
}

/** How many of the wanted pods may be missing during a rollout: 25 %, rounded down. */
export function maxUnavailable(desired: number): number {
  return Math.floor(desired / 4)
}

function availableCondition({ desired, counts, atMs, previous }: DeploymentFacts): object {
  const available = counts.ready >= desired - maxUnavailable(desired)
  return since(previous, atMs, {
    message: `Deployment ${available ? 'has' : 'does not have'} minimum availability.`,
    reason: `MinimumReplicas${available ? 'Available' : 'Unavailable'}`,
    status: available ? 'True' : 'False',
    type: 'Available',
  })
}

function progressingCondition({
  progress,
  replicaSetName,
  atMs,
  previous,
}: DeploymentFacts): object {
  const { reason } = progress
  const happened = {
    NewReplicaSetAvailable: 'has successfully progressed.',
    NewReplicaSetCreated: 'is created.',
    ReplicaSetUpdated: 'is progressing.',
    ProgressDeadlineExceeded: 'has timed out progressing.',
  } as const
  return since(previous, atMs, {
    message: `ReplicaSet "${replicaSetName}" ${happened[reason]}`,
    reason,
    status: reason === 'ProgressDeadlineExceeded' ? 'False' : 'True',
    type: 'Progressing',
  })
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

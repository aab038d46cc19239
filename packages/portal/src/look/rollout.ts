import type { HealthStatus } from './health.tsx'

/** A rollout that goes on, or has failed. */
export interface Rollout {
  readonly isStuck: boolean
  /** The pods that are made from the present template, and as many ready. */
  readonly done: number
  readonly wanted: number
}

/** `RolloutParts` of what is a workload. */
interface Rolled {
  readonly health: { readonly status: HealthStatus; readonly reason: string | null } | null
  readonly replicas?: number | null
  readonly readyReplicas?: number | null
  readonly updatedReplicas?: number | null
  /** Only what replaces its pods has one. */
  readonly strategy?: object | null
}

/** The rollout of a workload, by its own status; `undefined`: none, or it is whole. */
export function rolloutOf({
  health,
  strategy = null,
  replicas,
  readyReplicas,
  updatedReplicas,
}: Rolled): Rollout | undefined {
  if (strategy === null) return undefined
  const wanted = replicas ?? 0
  const updated = updatedReplicas ?? 0
  const isStuck = health?.reason === 'ProgressDeadlineExceeded'
  // What is ready may be of an earlier revision; what is not, while all are updated, may have failed on its own.
  const isGoing = health?.status === 'PROGRESSING' && updated < wanted
  const done = Math.min(updated, readyReplicas ?? 0)
  return isStuck || isGoing ? { isStuck, done, wanted } : undefined
}

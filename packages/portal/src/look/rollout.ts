import type { HealthStatus } from './health.tsx'

/** A rollout that goes on. */
export interface Rollout {
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
  readonly conditions?:
    | readonly { readonly type: string | null; readonly reason: string | null }[]
    | null
}

/** The rollout of a workload, by its own status; `undefined`: none goes on. What has failed is degraded. */
export function rolloutOf({
  health,
  strategy = null,
  replicas,
  readyReplicas,
  updatedReplicas,
  conditions,
}: Rolled): Rollout | undefined {
  if (strategy === null) return undefined
  const wanted = replicas ?? 0
  const updated = updatedReplicas ?? 0
  // While all are updated, what is not ready may have failed on its own: only a Deployment says which it is.
  const isUnderWay = conditions?.some(
    ({ type, reason }) => type === 'Progressing' && reason !== 'NewReplicaSetAvailable',
  )
  const isGoing = health?.status === 'PROGRESSING' && (updated < wanted || isUnderWay === true)
  const done = Math.min(updated, readyReplicas ?? 0)
  return isGoing ? { done, wanted } : undefined
}

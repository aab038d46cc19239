import { resources } from '../population/resources.ts'
import type { ChurnContext } from './churn-context.ts'
import type { Activity } from './cluster.ts'
import { activePods, type DeploymentRecord, type PodGroup } from './cluster-records.ts'

/** Changes `spec.replicas` of a Deployment and brings its pods to that number. */
export function* scale(
  context: ChurnContext,
  record: DeploymentRecord,
  replicas: number,
): Activity {
  record.busy = true
  try {
    const { namespace, name } = record
    context.cluster.change(resources.deployments, namespace, name, (object) => ({
      ...object,
      metadata: { ...object.metadata, generation: (object.metadata.generation ?? 1) + 1 },
      spec: { ...(object['spec'] as object), replicas },
    }))
    yield* settle(context, record, replicas)
  } finally {
    record.busy = false
  }
}

/** Brings the pods of a Deployment's current revision to a number. */
export function* settle(
  context: ChurnContext,
  record: DeploymentRecord,
  replicas: number,
): Activity {
  const { lifecycle } = context
  const group = record.revisions.at(-1)
  if (group === undefined) return
  setReplicas(context, record, group, replicas)
  const shape = lifecycle.shapeOf(group)
  for (;;) {
    const active = activePods(group)
    if (active.length < replicas) {
      yield* lifecycle.bringUp(group, shape)
      if (activePods(group).length <= active.length) return
    } else if (active.length > replicas) {
      // The pods that are not ready go first, then the youngest.
      const surplus = active.find(({ ready }) => !ready) ?? active.at(-1)
      if (surplus === undefined) return
      yield* lifecycle.takeDown(group, surplus)
    } else return
    yield
  }
}

/** A number of replicas that keeps an app near its first size: away from it, and back. */
export function nextReplicas(
  { cluster }: ChurnContext,
  record: DeploymentRecord,
  now: number,
): number {
  const { baseline } = record
  if (now !== baseline) return baseline
  const step = Math.max(1, Math.round(baseline / 4))
  return cluster.random.chance(0.6) ? baseline + step : Math.max(1, baseline - step)
}

/** Writes `spec.replicas` of a ReplicaSet, and reports it as the Deployment controller does. */
export function setReplicas(
  { cluster, events }: ChurnContext,
  { namespace, name }: DeploymentRecord,
  group: PodGroup,
  replicas: number,
): void {
  let from = replicas
  cluster.change(resources.replicaSets, namespace, group.name, (object) => {
    const spec = object['spec'] as { readonly replicas?: number }
    from = spec.replicas ?? 1
    if (from === replicas) return undefined
    const generation = (object.metadata.generation ?? 1) + 1
    const status = { ...(object['status'] as object), observedGeneration: generation }
    const metadata = { ...object.metadata, generation }
    return { ...object, metadata, spec: { ...spec, replicas }, status }
  })
  if (from === replicas) return
  events.record({
    regarding: cluster.require(resources.deployments, namespace, name),
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: `Scaled ${replicas > from ? 'up' : 'down'} replica set ${group.name} from ${from} to ${replicas}`,
    component: 'deployment-controller',
  })
}

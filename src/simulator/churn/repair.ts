import type { Unstructured } from '../../kubernetes/object.ts'
import type { PodTemplate } from '../population/pod-spec.ts'
import { resources } from '../population/resources.ts'
import type { ChurnContext } from './churn-context.ts'
import type { Activity } from './cluster.ts'
import { activePods, type DeploymentRecord, isSettled, type PodGroup } from './cluster-records.ts'
import { desiredReplicas, rollout } from './rollout.ts'
import { settle } from './scaling.ts'
import { syncDeployment } from './status-sync.ts'

/**
 * Looks after one Deployment that others may have changed: pods that were deleted are replaced, other images are
 * rolled out, another number of replicas is reached, and what a deleted Deployment owned is deleted. Returns what there is to do.
 */
export function inspect(context: ChurnContext, record: DeploymentRecord): Activity | undefined {
  if (record.busy) return undefined
  const { cluster, lifecycle } = context
  const { namespace, name } = record
  const deployment = cluster.get(resources.deployments, namespace, name)
  if (deployment === undefined || deployment.metadata.uid !== record.uid)
    return collect(context, record)
  if (record.broken) return undefined
  const current = record.revisions.at(-1)
  if (current !== undefined && isSettled(record) && !hasTemplateOf(context, current, deployment))
    return rollout(context, record)
  if (current !== undefined && current.pods.size > 0) {
    const pod = cluster.random.pick([...current.pods.values()])
    const object = cluster.get(resources.pods, namespace, pod.name)
    if (object?.metadata.uid !== pod.uid) lifecycle.forget(current, pod)
    else if (object.metadata.deletionTimestamp !== undefined) pod.terminating = true
  }
  const right = current === undefined || activePods(current).length === desiredReplicas(deployment)
  const settled = isSettled(record) || current?.pods.size === 0
  return right && settled ? undefined : converge(context, record, desiredReplicas(deployment))
}

/** Whether a ReplicaSet still runs the images that its Deployment asks for. */
function hasTemplateOf(
  { cluster }: ChurnContext,
  { namespace, name }: PodGroup,
  deployment: Unstructured,
): boolean {
  const replicaSet = cluster.get(resources.replicaSets, namespace, name)
  return replicaSet === undefined || imagesOf(replicaSet) === imagesOf(deployment)
}

function imagesOf(workload: Unstructured): string {
  const { template } = workload['spec'] as { readonly template: PodTemplate }
  return template.spec.containers.map(({ image }) => image).join(' ')
}

/** Takes down what is left over or never became ready, and brings the current revision to its number. */
function* converge(context: ChurnContext, record: DeploymentRecord, replicas: number): Activity {
  record.busy = true
  try {
    const { lifecycle } = context
    const current = record.revisions.at(-1)
    for (const group of record.revisions) {
      for (const pod of group.pods.values()) {
        if (group === current && pod.ready && !pod.terminating) continue
        if (pod.terminating) lifecycle.remove(group, pod)
        else yield* lifecycle.takeDown(group, pod)
        yield
      }
    }
    yield* settle(context, record, replicas)
    syncDeployment(context.cluster, record)
  } finally {
    record.busy = false
  }
}

/** What the garbage collector does for the dependents of a Deployment that is gone. */
function* collect(context: ChurnContext, record: DeploymentRecord): Activity {
  const { cluster, lifecycle } = context
  const { deployments } = cluster.index
  const at = deployments.indexOf(record)
  if (at >= 0) deployments.splice(at, 1)
  for (const group of record.revisions.slice()) {
    for (const pod of group.pods.values()) {
      lifecycle.remove(group, pod)
      yield
    }
    cluster.remove(resources.replicaSets, group.namespace, group.name)
    cluster.index.removeGroup(group)
  }
}

import { statefulPodIdentity } from '../population/stateful-set.ts'
import { resources } from '../population/resources.ts'
import type { ChurnContext } from './churn-context.ts'
import type { Activity } from './cluster.ts'
import type { PodGroup } from './cluster-records.ts'

/** A pod of a StatefulSet is replaced by one of the same name, with another UID. */
export function* restartStatefulPod(context: ChurnContext, group: PodGroup): Activity {
  group.busy = true
  try {
    yield* replacePod(context, group)
  } finally {
    group.busy = false
  }
}

function* replacePod({ cluster, lifecycle }: ChurnContext, group: PodGroup): Activity {
  const { namespace, name } = group
  const statefulSet = cluster.require(resources.statefulSets, namespace, name)
  const { updateRevision = '' } = (statefulSet['status'] ?? {}) as { updateRevision?: string }
  const revision = { 'controller-revision-hash': updateRevision.slice(name.length + 1) }
  const { replicas = 1 } = statefulSet['spec'] as { readonly replicas?: number }
  // The lowest number that is missing comes first: an earlier restart may have been cut short.
  const missing = Array.from({ length: replicas }, (_, at) => at).find(
    (at) => group.pods.get(`${name}-${at}`)?.ready !== true,
  )
  const ordinal = missing ?? cluster.random.integer(0, replicas - 1)
  const pod = group.pods.get(`${name}-${ordinal}`)
  if (pod !== undefined) {
    yield* lifecycle.takeDown(group, pod)
    yield
  }
  const shape = lifecycle.shapeOf(group, revision)
  const uid = cluster.random.uid()
  yield* lifecycle.bringUp(group, shape, statefulPodIdentity(name, ordinal, uid, cluster.now()))
}

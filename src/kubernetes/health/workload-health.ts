import { countOf, type Fields, fieldsOf, numberOf, textOf } from '../fields.ts'
import { conditionsOf, conditionWith } from './condition.ts'
import {
  degraded,
  type Health,
  type HealthRule,
  healthy,
  progressing,
  suspended,
} from './health.ts'

/** What a workload asks for and has. */
function sides(object: Fields): { readonly spec: Fields; readonly status: Fields } {
  return { spec: fieldsOf(object['spec']), status: fieldsOf(object['status']) }
}

/** What it asks for; the API's default is one. */
function replicasOf(spec: Fields): number {
  return numberOf(spec['replicas']) ?? 1
}

function counted(have: number, want: number, what: string): Health | undefined {
  if (have >= want) return undefined
  return progressing(what, `${have} of ${want} replicas`)
}

function surplus(have: number, want: number): Health | undefined {
  if (have <= want) return undefined
  return progressing('ScalingDown', `${have - want} replicas are to end`)
}

/** The API server, or a quota, refuses its replicas. */
function replicaFailure(object: Fields): Health | undefined {
  const failure = conditionWith(conditionsOf(object), 'ReplicaFailure', 'True')
  return failure === undefined
    ? undefined
    : degraded(failure.reason ?? 'ReplicaFailure', failure.message)
}

/** As `kubectl rollout status` waits for it, and gives up. */
export const deploymentHealth: HealthRule = {
  of(object) {
    const { spec, status } = sides(object)
    const conditions = conditionsOf(object)
    const progress = conditions.get('Progressing')
    const failure = replicaFailure(object)
    if (failure !== undefined) return failure
    if (progress?.status === 'False') {
      return degraded(progress.reason ?? 'NotProgressing', progress.message)
    }
    if (spec['paused'] === true) return suspended('Paused', 'the rollout is paused')
    const want = replicasOf(spec)
    const updated = countOf(status['updatedReplicas'])
    return (
      counted(updated, want, 'Updating') ??
      surplus(countOf(status['replicas']), updated) ??
      counted(countOf(status['availableReplicas']), updated, 'NotAvailable') ??
      healthy
    )
  },
}

/** ReplicaSets, and ReplicationControllers before them. */
export const replicaSetHealth: HealthRule = {
  of(object) {
    const { spec, status } = sides(object)
    const want = replicasOf(spec)
    return (
      replicaFailure(object) ??
      counted(countOf(status['replicas']), want, 'ScalingUp') ??
      surplus(countOf(status['replicas']), want) ??
      counted(countOf(status['availableReplicas']), want, 'NotAvailable') ??
      healthy
    )
  },
}

/** A partition keeps the replicas below it on the old revision: with the others on the new one, its rollout is done. */
export const statefulSetHealth: HealthRule = {
  of(object) {
    const { spec, status } = sides(object)
    const want = replicasOf(spec)
    const count =
      counted(countOf(status['readyReplicas']), want, 'NotReady') ??
      surplus(countOf(status['replicas']), want)
    const strategy = fieldsOf(spec['updateStrategy'])
    if (count !== undefined || strategy['type'] === 'OnDelete') return count ?? healthy
    const partition = countOf(fieldsOf(strategy['rollingUpdate'])['partition'])
    const updated = countOf(status['updatedReplicas'])
    if (partition > 0) return counted(updated, want - partition, 'Updating') ?? healthy
    const [current, update] = [textOf(status['currentRevision']), textOf(status['updateRevision'])]
    if (current === update) return healthy
    return progressing('Updating', `${updated} of ${want} replicas are at revision ${update ?? ''}`)
  },
}

export const daemonSetHealth: HealthRule = {
  of(object) {
    const { spec, status } = sides(object)
    // Nobody has counted the nodes yet.
    if (numberOf(status['desiredNumberScheduled']) === undefined) return progressing('NoStatus')
    const want = countOf(status['desiredNumberScheduled'])
    const isOnDelete = fieldsOf(spec['updateStrategy'])['type'] === 'OnDelete'
    return (
      counted(countOf(status['currentNumberScheduled']), want, 'Scheduling') ??
      (isOnDelete
        ? undefined
        : counted(countOf(status['updatedNumberScheduled']), want, 'Updating')) ??
      counted(countOf(status['numberAvailable']), want, 'NotAvailable') ??
      healthy
    )
  },
}

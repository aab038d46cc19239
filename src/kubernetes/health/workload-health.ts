import { countOf, type Fields, fieldsOf, itemsOf, numberOf, textOf } from '../fields.ts'
import { conditionsOf, conditionWith } from './condition.ts'
import {
  degraded,
  type Health,
  type HealthRule,
  healthy,
  progressing,
  suspended,
} from './health.ts'

function sides(object: Fields): { readonly spec: Fields; readonly status: Fields } {
  return { spec: fieldsOf(object['spec']), status: fieldsOf(object['status']) }
}

/** The wanted replicas; the API's default is one. */
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

/** The API server or a quota refuses the replicas. */
function replicaFailure(object: Fields): Health | undefined {
  const failure = conditionWith(conditionsOf(object), 'ReplicaFailure', 'True')
  return failure === undefined
    ? undefined
    : degraded(failure.reason ?? 'ReplicaFailure', failure.message)
}

/** As `kubectl rollout status` decides. */
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

/** Also for ReplicationControllers. */
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

/**
 * A partition keeps the replicas below it on the old revision. The rollout is complete when the others have the new
 * one.
 */
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
    // The nodes are not counted yet.
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

export const jobHealth: HealthRule = {
  of(object) {
    const status = fieldsOf(object['status'])
    const conditions = conditionsOf(object)
    const failed =
      conditionWith(conditions, 'Failed', 'True') ??
      conditionWith(conditions, 'FailureTarget', 'True')
    if (failed !== undefined) return degraded(failed.reason ?? 'Failed', failed.message)
    if (conditionWith(conditions, 'Complete', 'True') !== undefined) {
      return { status: 'HEALTHY', reason: 'Completed' }
    }
    if (fieldsOf(object['spec'])['suspend'] === true) return suspended('Suspended')
    if (textOf(status['startTime']) === undefined) return progressing('NotStarted')
    const failures = countOf(status['failed'])
    return progressing('Running', failures === 0 ? undefined : `${failures} pods have failed`)
  },
}

/** A run that ended without success counts until the next one begins. */
export const cronJobHealth: HealthRule = {
  of(object) {
    const status = fieldsOf(object['status'])
    if (fieldsOf(object['spec'])['suspend'] === true) return suspended('Suspended')
    const scheduled = textOf(status['lastScheduleTime'])
    if (scheduled === undefined || itemsOf(status['active']).length > 0) return healthy
    const succeeded = textOf(status['lastSuccessfulTime'])
    if (succeeded !== undefined && Date.parse(succeeded) >= Date.parse(scheduled)) return healthy
    const message = `the run of ${scheduled} has not succeeded`
    return degraded('LastRunFailed', message)
  },
}

import { countOf, fieldsOf, itemsOf, textOf } from '../fields.ts'
import { conditionsOf, conditionWith } from './condition.ts'
import { degraded, type HealthRule, healthy, progressing, suspended } from './health.ts'

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

/** A run that has ended without success is the last one until the next has begun. */
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

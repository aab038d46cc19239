import { type Fields, fieldsOf, numberOf, textOf } from '../fields.ts'

/** All statuses, the worst last. */
export const healthStatuses = [
  'HEALTHY',
  'SUSPENDED',
  'TERMINATING',
  'PROGRESSING',
  'UNKNOWN',
  'DEGRADED',
] as const

/**
 * The health of an object:
 *
 * - `HEALTHY`: as intended, or completed
 * - `SUSPENDED`: stopped on purpose
 * - `TERMINATING`: being deleted
 * - `PROGRESSING`: on its way to the intended state
 * - `UNKNOWN`: the reporting component is silent
 * - `DEGRADED`: something is wrong that waiting does not mend
 */
export type HealthStatus = (typeof healthStatuses)[number]

/** The health of an object, with the reason. */
export interface Health {
  readonly status: HealthStatus
  /** A word for programs, as in conditions: `CrashLoopBackOff`. */
  readonly reason?: string | undefined
  /** The reason for people. */
  readonly message?: string | undefined
}

/**
 * The health rule of a kind. Health depends on the object alone, not on other objects or the time, so it stays the same
 * as long as the object does.
 */
export interface HealthRule {
  /** Takes an object that is not being deleted, and whose controller has seen its last change. */
  of(object: Fields): Health
}

export const healthy: Health = { status: 'HEALTHY' }

export function progressing(reason: string, message?: string): Health {
  return { status: 'PROGRESSING', reason, message }
}

export function degraded(reason: string, message?: string): Health {
  return { status: 'DEGRADED', reason, message }
}

export function suspended(reason: string, message?: string): Health {
  return { status: 'SUSPENDED', reason, message }
}

export function ruledHealth(rule: HealthRule, object: Fields): Health {
  const metadata = fieldsOf(object['metadata'])
  const deletion = textOf(metadata['deletionTimestamp'])
  if (deletion !== undefined) {
    return { status: 'TERMINATING', reason: 'Deleted', message: `deleted at ${deletion}` }
  }
  const observed = numberOf(fieldsOf(object['status'])['observedGeneration'])
  const generation = numberOf(metadata['generation'])
  if (observed !== undefined && generation !== undefined && observed < generation) {
    const message = `the controller has seen generation ${observed} of ${generation}`
    return progressing('NotObserved', message)
  }
  return rule.of(object)
}

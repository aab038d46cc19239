import { type Fields, fieldsOf, numberOf, textOf } from '../fields.ts'

/** Every status, the worst last. */
export const healthStatuses = [
  'HEALTHY',
  'SUSPENDED',
  'TERMINATING',
  'PROGRESSING',
  'UNKNOWN',
  'DEGRADED',
] as const

/**
 * How an object is:
 *
 * - `HEALTHY`: as it is meant to be, or done
 * - `SUSPENDED`: somebody has stopped it on purpose
 * - `TERMINATING`: it is being deleted
 * - `PROGRESSING`: on its way to what it is meant to be
 * - `UNKNOWN`: who should report about it has fallen silent
 * - `DEGRADED`: something is wrong that does not mend itself by waiting
 */
export type HealthStatus = (typeof healthStatuses)[number]

/** How an object is, and why. */
export interface Health {
  readonly status: HealthStatus
  /** A word for programs, as conditions have it: `CrashLoopBackOff`. */
  readonly reason?: string | undefined
  /** The same for people. */
  readonly message?: string | undefined
}

/**
 * How the health of a kind is told. It depends on the object alone: on no other one, and not on the time, so that it is the
 * same for as long as the object is.
 */
export interface HealthRule {
  /** Of an object that is not being deleted, and whose controller has seen its last change. */
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

/** The health of an object. */
export function ruledHealth(rule: HealthRule, object: Fields): Health {
  const metadata = fieldsOf(object['metadata'])
  const deletion = textOf(metadata['deletionTimestamp'])
  if (deletion !== undefined) {
    return { status: 'TERMINATING', reason: 'Deleted', message: `deleted at ${deletion}` }
  }
  const observed = numberOf(fieldsOf(object['status'])['observedGeneration'])
  const generation = numberOf(metadata['generation'])
  if (observed !== undefined && generation !== undefined && observed < generation) {
    const message = `its controller has seen generation ${observed} of ${generation}`
    return progressing('NotObserved', message)
  }
  return rule.of(object)
}

/*
 * The health of an object, with the reason. Health depends on the object alone, not on other objects or the time, so it stays
 * the same as long as the object does. `ruledHealth` first deals with objects that are being deleted, and with changes that
 * the controller has not seen. The rule of the kind judges all other objects. Objects without a state, such as ConfigMaps,
 * have no health unless they are being deleted.
 */

import { type Fields, fieldsOf, itemsOf, numberOf, statusOf, textOf } from '../fields.ts'

/** All statuses, the worst first. At most ten: the index of health orders them by their positions. */
export const healthStatuses = [
  'DEGRADED',
  'UNKNOWN',
  'PROGRESSING',
  'TERMINATING',
  'SUSPENDED',
  'HEALTHY',
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

export interface Health {
  readonly status: HealthStatus
  /** A word for programs, as in conditions: `CrashLoopBackOff`. */
  readonly reason?: string | undefined
  /** The reason for people. */
  readonly message?: string | undefined
  /** Since when it is so, as the object says. */
  readonly since?: string | undefined
}

/** `undefined` for an object without a state: it only says what others read. */
export type HealthRule = (object: Fields) => Health | undefined

export function ruledHealth(rule: HealthRule, object: Fields): Health | undefined {
  const metadata = fieldsOf(object['metadata'])
  const deletion = textOf(metadata['deletionTimestamp'])
  if (deletion !== undefined) {
    const message = `deleted at ${deletion}`
    return { status: 'TERMINATING', reason: 'Deleted', message, since: deletion }
  }
  const observed = numberOf(statusOf(object)['observedGeneration'])
  const generation = numberOf(metadata['generation'])
  if (observed !== undefined && generation !== undefined && observed < generation) {
    const message = `the controller has seen generation ${observed} of ${generation}`
    return progressing('NotObserved', message)
  }
  return rule(object)
}

export const healthy: Health = { status: 'HEALTHY' }

export function progressing(reason: string, message?: string, since?: string): Health {
  return { status: 'PROGRESSING', reason, message, since }
}

export function degraded(reason: string, message?: string, since?: string): Health {
  return { status: 'DEGRADED', reason, message, since }
}

export function suspended(reason: string, message?: string): Health {
  return { status: 'SUSPENDED', reason, message }
}

/** One of `status.conditions`. */
export interface Condition {
  readonly type: string
  /** `True`, `False`, `Unknown`. */
  readonly status: string
  readonly reason: string | undefined
  readonly message: string | undefined
  /** `Error`, `Warning`, `Info`, for kinds that have it. */
  readonly severity: string | undefined
  /** The generation of the object that the condition describes. */
  readonly observedGeneration: number | undefined
  readonly since: string | undefined
}

/** The conditions of an object by type. The first one of each type counts. */
export type Conditions = ReadonlyMap<string, Condition>

export function conditionsIn(list: unknown): Conditions {
  const conditions = new Map<string, Condition>()
  for (const one of itemsOf(list)) {
    const [type, status] = [textOf(one['type']), textOf(one['status'])]
    if (type === undefined || status === undefined || conditions.has(type)) continue
    conditions.set(type, {
      type,
      status,
      reason: textOf(one['reason']),
      message: textOf(one['message']),
      severity: textOf(one['severity']),
      observedGeneration: numberOf(one['observedGeneration']),
      since: textOf(one['lastTransitionTime']),
    })
  }
  return conditions
}

export function conditionsOf(object: Fields): Conditions {
  return conditionsIn(statusOf(object)['conditions'])
}

/** The condition of this type, if it has this status. */
export function conditionWith(
  conditions: Conditions,
  type: string,
  status: 'True' | 'False' | 'Unknown',
): Condition | undefined {
  const condition = conditions.get(type)
  return condition?.status === status ? condition : undefined
}

/** DEGRADED with the reason of the condition, else with its type; `undefined` without a condition. */
export function degradedBy(condition: Condition | undefined): Health | undefined {
  return (
    condition && degraded(condition.reason ?? condition.type, condition.message, condition.since)
  )
}

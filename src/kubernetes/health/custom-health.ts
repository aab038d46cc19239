/*
 * The health of kinds without a rule of their own: by conditions that follow the conventions of kstatus, and by conditions of
 * well-known controllers, else by a phase. An object whose status has neither has no health: its kind has no state, or its
 * controller has not said anything yet. (kstatus calls it current. Where people look at health, that would be a promise.)
 */

import { isRecord } from '../../lib/json.ts'
import { type Fields, fieldsOf, itemsOf, numberOf, specOf, statusOf, textOf } from '../fields.ts'
import {
  type Condition,
  type Conditions,
  conditionsIn,
  conditionWith,
  degraded,
  degradedBy,
  type Health,
  healthy,
  progressing,
  suspended,
} from './health.ts'

/** Conditions that are bad if True, the worst first. */
const bad = ['Stalled', 'Failed', 'Failure', 'Degraded'] as const

/** Conditions that show ongoing work if True. */
const underWay = ['Reconciling', 'Progressing', 'Issuing', 'Updating'] as const

/**
 * Reasons of `Progressing` or similar conditions without ongoing work: workloads like Deployments keep the condition
 * after they have arrived, Flux after it has failed.
 */
const notUnderWay: ReadonlySet<string | undefined> = new Set([
  'NewReplicaSetAvailable',
  'ProgressingWithRetry',
])

/** Conditions that are good if True, the most telling first. */
const good = [
  'Ready',
  'Available',
  'Succeeded',
  'Healthy',
  'Synced',
  'Installed',
  'Accepted',
  'ResolvedRefs',
  'Programmed',
  'Established',
  'Complete',
] as const

/** Words in reasons and phases that show a failure, as opposed to ongoing work. */
const failure =
  /fail|error|invalid|denied|unauthor|forbidden|notfound|notexist|missing|timeout|timedout|backoff|exceeded|conflict|unreachable|unsupported|refnotpermitted|expired|crash/i

/** Phases that show ongoing work, for kinds without conditions. */
const unfinished =
  /^(?:pending|creating|provisioning|initializing|starting|progressing|updating|upgrading|inprogress|queued|waiting)/i

export function customHealth(object: Fields): Health | undefined {
  const { suspend, paused } = specOf(object)
  if (suspend === true || paused === true) return suspended('Suspended')
  if (!isRecord(object['status'])) return undefined
  const status = statusOf(object)
  const conditions = conditionsIn([
    ...itemsOf(status['conditions']),
    // Routes of the Gateway API have conditions for each Gateway that they attach to.
    ...worstFirst(itemsOf(status['parents']).flatMap(({ conditions: own }) => itemsOf(own))),
  ])
  const { generation } = fieldsOf(object['metadata'])
  return byConditions(conditions, numberOf(generation)) ?? byPhase(status)
}

/** Sorts bad conditions first, because the first of each type counts: of several Gateways, the one with a problem. */
function worstFirst(conditions: readonly Fields[]): readonly Fields[] {
  return [
    ...conditions.filter(({ status }) => status !== 'True'),
    ...conditions.filter(({ status }) => status === 'True'),
  ]
}

function byConditions(conditions: Conditions, generation: number | undefined): Health | undefined {
  for (const type of bad) {
    const found = degradedBy(conditionWith(conditions, type, 'True'))
    if (found !== undefined) return found
  }
  for (const type of underWay) {
    const found = conditionWith(conditions, type, 'True')
    if (found === undefined || notUnderWay.has(found.reason)) continue
    return progressing(found.reason ?? type, found.message, found.since)
  }
  const goods = good.flatMap((type) => conditions.get(type) ?? [])
  const not = goods.filter(({ status }) => status === 'False')
  const failed = degradedBy(not.find(isFailure))
  if (failed !== undefined) return failed
  const [first] = not
  if (first !== undefined) {
    return progressing(first.reason ?? `Not${first.type}`, first.message, first.since)
  }
  const open = goods.find((one) => one.status !== 'True' || isStale(one, generation))
  if (open !== undefined) return progressing(open.reason ?? open.type, open.message, open.since)
  return goods.length === 0 ? undefined : healthy
}

/** Whether a condition is False because of a failure, as opposed to ongoing work. */
function isFailure({ reason = '', severity, type }: Condition): boolean {
  if (severity !== undefined) return severity === 'Error'
  return type === 'Succeeded' || failure.test(reason)
}

function isStale({ observedGeneration }: Condition, generation: number | undefined): boolean {
  return (
    observedGeneration !== undefined && generation !== undefined && observedGeneration < generation
  )
}

function byPhase(status: Fields): Health | undefined {
  const phase = textOf(status['phase']) ?? textOf(status['state'])
  if (phase === undefined) return undefined
  if (failure.test(phase)) return degraded(phase)
  return unfinished.test(phase) ? progressing(phase) : healthy
}

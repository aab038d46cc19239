/*
 * What may be wrong with the objects of each kind, from their health and themselves. By default (`byHealth`), bad health is a
 * problem at once if waiting does not mend it. Ongoing work becomes a problem if it goes on for long and the object tells
 * since when.
 */

import type { ApiResource } from '../api-resource.ts'
import {
  countOf,
  type Fields,
  fieldsOf,
  itemsOf,
  numberOf,
  specOf,
  statusOf,
  textOf,
} from '../fields.ts'
import { conditionsOf, conditionWith, type Health, healthy, ruledHealth } from '../health/health.ts'
import { healthRuleOf } from '../health/health-rules.ts'
import { podProblems } from './pod-problems.ts'
import { nextScheduled } from './cron-schedule.ts'
import {
  encodeFact,
  encodeReplicas,
  encodeSuccess,
  type ProblemFact,
  type ProblemRuleName,
  waitsForPod,
} from './problem-fact.ts'
import { encodeNode } from './pod-placement.ts'
import { referenceMarks } from './problem-references.ts'
import { quantityOf } from '../decimal.ts'

/** What may be wrong with an object, from its health and itself. */
type ProblemRule = (object: Fields, health: Health) => readonly ProblemFact[]

/** Whether a rule is not switched off. */
export type IsRuleOn = (rule: ProblemRuleName) => boolean

/** The values of an object in the index of problems: its facts as `encodeFact` writes them, and marks. */
export function problemValuesOf(
  resource: Pick<ApiResource, 'group' | 'kind'>,
  isOn: IsRuleOn,
): (object: Fields) => readonly string[] {
  const health = healthRuleOf(resource)
  const name = `${resource.group}/${resource.kind}`
  const rule = (Object.hasOwn(rules, name) ? rules[name] : undefined) ?? byHealth
  const further = Object.hasOwn(furtherRules, name) ? furtherRules[name] : undefined
  const ruled = (further ?? []).filter(([one]) => isOn(one)).map(([, of]) => of)
  const marksOf = [Object.hasOwn(marks, name) ? marks[name] : undefined, referenceMarks(name)]
  if (name === '/Event' && !isOn('warningEvents')) return () => []
  return (object) => {
    const judged = ruledHealth(health, object) ?? healthy
    const isEnding = judged.status === 'TERMINATING'
    const facts = isEnding ? stuck(object, judged) : rule(object, judged)
    const more = isEnding ? [] : ruled.flatMap((of) => of(object, judged))
    const told = [...facts, ...more].flatMap((fact) => encodeFact(fact) ?? [])
    if (isEnding) return told
    return [...told, ...marksOf.flatMap((of) => of?.(object, isOn) ?? [])]
  }
}

/** The marks of objects, on which the problems of other objects depend. */
const marks: Readonly<Record<string, (object: Fields) => readonly string[]>> = {
  '/Node': (object) => [encodeNode(object)],
  '/ReplicationController': replicaMarks,
  'apps/DaemonSet': replicaMarks,
  'apps/Deployment': replicaMarks,
  'apps/ReplicaSet': replicaMarks,
  'apps/StatefulSet': replicaMarks,
  'batch/CronJob': successOf,
  'storage.k8s.io/StorageClass': ({ volumeBindingMode }) =>
    volumeBindingMode === 'WaitForFirstConsumer' ? [waitsForPod] : [],
}

/** Stands for the rules when definitions of indexes are compared. Rules do not change while a gateway runs. */
export const problemRulesVersion = '4'

/** Rules beside that of the kind, which can be switched off. */
const furtherRules: Readonly<Record<string, readonly (readonly [ProblemRuleName, ProblemRule])[]>> =
  {
    '/ResourceQuota': [['fullQuotas', quotaProblems]],
    'batch/CronJob': [['missedSchedules', scheduleProblems]],
    'batch/Job': [['endlessJobs', endlessJobs]],
    'cert-manager.io/Certificate': [['expiringCertificates', certificateProblems]],
    'policy/PodDisruptionBudget': [['blockingDisruptionBudgets', budgetProblems]],
  }

const rules: Readonly<Record<string, ProblemRule>> = {
  '/Event': eventProblems,
  '/Node': nodeProblems,
  '/PersistentVolumeClaim': claimProblems,
  '/Pod': podProblems,
  '/Service': sinceCreation,
  'apiregistration.k8s.io/APIService': sinceCreation,
  'apps/Deployment': deploymentProblems,
  'autoscaling/HorizontalPodAutoscaler': autoscalerProblems,
  'batch/Job': jobProblems,
  'policy/PodDisruptionBudget': budgetFailures,
}

function byHealth(_object: Fields, { status, ...health }: Health): readonly ProblemFact[] {
  const { reason = status, message, since } = health
  switch (status) {
    case 'DEGRADED':
    case 'UNKNOWN':
      return [{ timing: 'atOnce', severity: 'CRITICAL', reason, message, since }]
    case 'PROGRESSING':
      return [{ timing: 'later', at: since, severity: 'WARNING', reason, message, since }]
    default:
      return []
  }
}

/** As {@link byHealth}, for kinds whose work has gone on since the object was created. */
function sinceCreation(object: Fields, health: Health): readonly ProblemFact[] {
  return byHealth(object, { ...health, since: health.since ?? creationOf(object) })
}

function creationOf(object: Fields): string | undefined {
  return textOf(fieldsOf(object['metadata'])['creationTimestamp'])
}

/** A deletion that does not end, with the finalizers that it waits for. Namespaces say what in them has finalizers. */
function stuck(object: Fields, { message, since }: Health): readonly ProblemFact[] {
  const { finalizers } = fieldsOf(object['metadata'])
  const waits = itemsOf(statusOf(object)['conditions']).flatMap(({ status, type, message: text }) =>
    status === 'True' && /Remaining|Failure/.test(String(type)) ? (textOf(text) ?? []) : [],
  )
  const names = Array.isArray(finalizers) ? finalizers.join(', ') : ''
  const own = names === '' ? [] : [`waits for the finalizer${/,/.test(names) ? 's' : ''} ${names}`]
  const told = [...waits.toReversed(), ...own].join('; ')
  const fact = { severity: 'WARNING', reason: 'Terminating', since } as const
  return [{ timing: 'later', at: since, ...fact, message: told === '' ? message : told }]
}

/** Too few healthy pods are a problem of the pods. */
function budgetFailures(object: Fields, health: Health): readonly ProblemFact[] {
  return health.reason === 'TooFewPods' ? [] : byHealth(object, health)
}

/** A budget that allows no disruption although all its pods are healthy: no node with one of them can be drained. */
function budgetProblems(object: Fields): readonly ProblemFact[] {
  const { disruptionsAllowed, currentHealthy, expectedPods } = statusOf(object)
  const { minAvailable, maxUnavailable } = specOf(object)
  const [have, want] = [countOf(currentHealthy), countOf(expectedPods)]
  if (want === 0 || have < want || disruptionsAllowed !== 0) return []
  const bound =
    maxUnavailable === undefined
      ? `minAvailable is ${JSON.stringify(minAvailable)}`
      : `maxUnavailable is ${JSON.stringify(maxUnavailable)}`
  const message = `allows no disruption although all ${want} pods are healthy: ${bound}`
  const since = conditionWith(conditionsOf(object), 'DisruptionAllowed', 'False')?.since
  return [{ timing: 'atOnce', severity: 'WARNING', reason: 'NoDisruptionAllowed', message, since }]
}

/** From this share on, a quota is nearly used up. */
const nearlyFull = 0.95

function quotaProblems(object: Fields): readonly ProblemFact[] {
  const { hard, used } = statusOf(object)
  const shares = Object.entries(fieldsOf(hard)).flatMap(([name, most]) => {
    const now = fieldsOf(used)[name]
    const share = quantityOf(now) / quantityOf(most)
    // A quota of none forbids the resource.
    if (quantityOf(most) === 0 || !(share >= nearlyFull)) return []
    return [{ share, text: `${name}: ${String(now)} of ${String(most)} used` }]
  })
  if (shares.length === 0) return []
  const isFull = shares.some(({ share }) => share >= 1)
  const message = shares
    .toSorted((a, b) => b.share - a.share)
    .map(({ text }) => text)
    .join('; ')
  const [severity, reason] = isFull
    ? (['CRITICAL', 'QuotaFull'] as const)
    : (['WARNING', 'QuotaAlmostFull'] as const)
  return [{ timing: 'atOnce', severity, reason, message }]
}

/** The controller looks at schedules each 10 s, and tells of a run some time after it began. */
const leastLateMs = 60_000

/**
 * A run that should have begun by its schedule, and has not. While the last run goes on, `Forbid` lets none begin. A run that
 * may begin late (`startingDeadlineSeconds`) is missed when it may begin no more.
 */
function scheduleProblems(object: Fields): readonly ProblemFact[] {
  const { schedule, timeZone, suspend, concurrencyPolicy, startingDeadlineSeconds } = specOf(object)
  const { lastScheduleTime, lastSuccessfulTime, active } = statusOf(object)
  const text = textOf(schedule)
  if (suspend === true || text === undefined) return []
  const last = textOf(lastScheduleTime)
  const times = [last ?? creationOf(object)]
  if (concurrencyPolicy === 'Forbid') {
    if (itemsOf(active).length > 0) return []
    // Runs that were due before the last one ended were forbidden.
    times.push(textOf(lastSuccessfulTime) ?? times[0])
  }
  const afterMs = Math.max(...times.map((one) => Date.parse(one ?? '')))
  const dueMs = nextScheduled(text, afterMs, textOf(timeZone))
  if (dueMs === undefined) return []
  const since = timeOf(dueMs)
  const before = last === undefined ? 'it has never run' : `the last one was that of ${last}`
  const deadline = numberOf(startingDeadlineSeconds)
  const told = `no run has begun at ${since}, as the schedule ${text} says; ${before}`
  const fact = { severity: 'WARNING', reason: 'MissedSchedule', since } as const
  if (deadline === undefined) return [{ timing: 'later', at: since, ...fact, message: told }]
  const message = `${told}; it may begin no more, as startingDeadlineSeconds is ${deadline}`
  const at = timeOf(dueMs + Math.max(leastLateMs, deadline * 1_000))
  return [{ timing: 'from', at, ...fact, message }]
}

/** A Job without a deadline that goes on for so long may never end. */
const endlessMs = 12 * 3_600_000

function endlessJobs(object: Fields, { status }: Health): readonly ProblemFact[] {
  const since = textOf(statusOf(object)['startTime'])
  const { activeDeadlineSeconds } = specOf(object)
  const startMs = Date.parse(since ?? '')
  if (status !== 'PROGRESSING' || activeDeadlineSeconds !== undefined) return []
  if (Number.isNaN(startMs)) return []
  const message = 'has run for more than 12 hours, and has no deadline'
  const at = timeOf(startMs + endlessMs)
  return [{ timing: 'from', at, severity: 'WARNING', reason: 'RunsLong', message, since }]
}

function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/**
 * A certificate is in its last days 7 days before its end, or if it is short-lived, half way from the time of its renewal,
 * or in the last tenth of its life.
 */
export const lastDaysMs: number = 7 * 86_400_000

function certificateProblems(object: Fields): readonly ProblemFact[] {
  return certificateFacts(statusOf(object))
}

/** What is wrong with a certificate of these dates, from some time on. */
export function certificateFacts({
  notAfter,
  notBefore,
  renewalTime,
}: Fields): readonly ProblemFact[] {
  const end = textOf(notAfter)
  const endMs = Date.parse(end ?? '')
  if (end === undefined || Number.isNaN(endMs)) return []
  const beginMs = Date.parse(textOf(renewalTime ?? notBefore) ?? '')
  const share = renewalTime === undefined ? 0.1 : 0.5
  const lastMs = Number.isNaN(beginMs) ? lastDaysMs : (endMs - beginMs) * share
  const soon = timeOf(endMs - Math.max(0, Math.min(lastDaysMs, lastMs)))
  return [
    {
      timing: 'from',
      at: soon,
      until: end,
      severity: 'WARNING',
      reason: 'ExpiresSoon',
      message: `the certificate expires at ${end}, and has not been renewed`,
      since: soon,
    },
    {
      timing: 'from',
      at: end,
      severity: 'CRITICAL',
      reason: 'Expired',
      message: `the certificate has expired at ${end}`,
      since: end,
    },
  ]
}

const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const

function nodeProblems(object: Fields, { status, message, since }: Health): readonly ProblemFact[] {
  const conditions = conditionsOf(object)
  if (conditions.get('Ready')?.status !== 'True') {
    const at = since ?? creationOf(object)
    const told = { message: message ?? 'the node has no status', since: at }
    // A node without a status is about to begin.
    if (status === 'UNKNOWN' && !conditions.has('Ready')) {
      return [{ timing: 'later', at, severity: 'CRITICAL', reason: 'NotReady', ...told }]
    }
    const role = { form: 'down' } as const
    return [{ timing: 'atOnce', severity: 'CRITICAL', reason: 'NotReady', ...told, role }]
  }
  return [...pressures, 'NetworkUnavailable'].flatMap((type): readonly ProblemFact[] => {
    const found = conditionWith(conditions, type, 'True')
    if (found === undefined) return []
    const severity = type === 'NetworkUnavailable' ? 'CRITICAL' : 'WARNING'
    const told = { message: found.message, since: found.since }
    return [{ timing: 'atOnce', severity, reason: type, ...told }]
  })
}

/** Rollouts have their own deadline. Besides, too few replicas are a problem if that lasts. */
function deploymentProblems(object: Fields, health: Health): readonly ProblemFact[] {
  if (health.status !== 'PROGRESSING') return byHealth(object, health)
  const lacking = conditionWith(conditionsOf(object), 'Available', 'False')
  if (lacking === undefined) return []
  const { reason = 'NotAvailable', message, since } = lacking
  return [{ timing: 'later', at: since, severity: 'WARNING', reason, message, since }]
}

function claimProblems(object: Fields, health: Health): readonly ProblemFact[] {
  const { phase } = statusOf(object)
  if (health.status !== 'PROGRESSING' || phase === 'Bound') return byHealth(object, health)
  const { annotations } = fieldsOf(object['metadata'])
  const isChosen = fieldsOf(annotations)['volume.kubernetes.io/selected-node'] !== undefined
  const storageClass = textOf(specOf(object)['storageClassName'])
  const facts = sinceCreation(object, health)
  return isChosen ? facts : facts.map((one) => ({ ...one, role: { form: 'claim', storageClass } }))
}

/** An autoscaler that cannot work leaves its target as it is, so the target may still do well. */
function autoscalerProblems(object: Fields, health: Health): readonly ProblemFact[] {
  if (health.status === 'DEGRADED') {
    return byHealth(object, health).map((fact) => ({ ...fact, severity: 'WARNING' }))
  }
  const limited = conditionWith(conditionsOf(object), 'ScalingLimited', 'True')
  if (health.status !== 'HEALTHY' || limited?.reason !== 'TooManyReplicas') return []
  const { reason, message, since } = limited
  return [{ timing: 'atOnce', severity: 'WARNING', reason, message, since }]
}

/** A Job that is still at work has its own deadline and its own limit of failures. */
function jobProblems(object: Fields, health: Health): readonly ProblemFact[] {
  if (health.status !== 'DEGRADED') return []
  const role = { form: 'run', began: textOf(statusOf(object)['startTime']) } as const
  return byHealth(object, health).map((fact) => ({ ...fact, role }))
}

/** How many pods of a workload are ready, and how many it wants. */
function replicaMarks(object: Fields): readonly string[] {
  const { desiredNumberScheduled, numberReady, readyReplicas } = statusOf(object)
  const isByNode = desiredNumberScheduled !== undefined
  const wanted = isByNode ? desiredNumberScheduled : (specOf(object)['replicas'] ?? 1)
  const ready = isByNode ? numberReady : readyReplicas
  return [encodeReplicas({ ready: countOf(ready), wanted: countOf(wanted) })]
}

function successOf(object: Fields): readonly string[] {
  const time = textOf(statusOf(object)['lastSuccessfulTime'])
  const value = time === undefined ? undefined : encodeSuccess(time)
  return value === undefined ? [] : [value]
}

/** Reads both forms of Event: of the core group, and of events.k8s.io. */
function eventProblems(event: Fields): readonly ProblemFact[] {
  if (event['type'] !== 'Warning') return []
  const about = fieldsOf(event['involvedObject'] ?? event['regarding'])
  const [kind, name] = [textOf(about['kind']), textOf(about['name'])]
  if (kind === undefined || name === undefined) return []
  const series = fieldsOf(event['series'])
  const first = textOf(event['firstTimestamp'] ?? event['deprecatedFirstTimestamp'])
  const last = textOf(event['lastTimestamp'] ?? event['deprecatedLastTimestamp'])
  const time = textOf(event['eventTime']) ?? creationOf(event)
  const counts = [event['count'], event['deprecatedCount'], series['count'], 1].map(countOf)
  const seen = textOf(series['lastObservedTime']) ?? last ?? time
  return [
    {
      timing: 'recent',
      at: seen,
      severity: 'WARNING',
      reason: textOf(event['reason']) ?? 'Warning',
      message: textOf(event['message'] ?? event['note']),
      since: first ?? time,
      role: {
        form: 'report',
        count: Math.max(...counts),
        about: { ...referenceOf(about), kind, name },
      },
    },
  ]
}

function referenceOf(about: Fields): { [member: string]: string } {
  const members = ['apiVersion', 'namespace', 'uid'].flatMap((name) => {
    const text = textOf(about[name])
    return text === undefined ? [] : [[name, text]]
  })
  return Object.fromEntries(members) as { [member: string]: string }
}

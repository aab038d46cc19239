/*
 * What may be wrong with the objects of each kind, from their health and themselves. By default (`byHealth`), bad health is a
 * problem at once if waiting does not mend it. Ongoing work becomes a problem if it goes on for long and the object tells
 * since when.
 */

import type { ApiResource } from '../api-resource.ts'
import { countOf, type Fields, fieldsOf, itemsOf, specOf, statusOf, textOf } from '../fields.ts'
import { conditionsOf, conditionWith, type Health, healthy, ruledHealth } from '../health/health.ts'
import { healthRuleOf } from '../health/health-rules.ts'
import { podProblems } from './pod-problems.ts'
import { encodeFact, encodeSuccess, type ProblemFact, waitsForPod } from './problem-fact.ts'

/** What may be wrong with an object, from its health and itself. */
type ProblemRule = (object: Fields, health: Health) => readonly ProblemFact[]

/** The values of an object in the index of problems: its facts as `encodeFact` writes them. */
export function problemValuesOf(
  resource: Pick<ApiResource, 'group' | 'kind'>,
): (object: Fields) => readonly string[] {
  const health = healthRuleOf(resource)
  const name = `${resource.group}/${resource.kind}`
  const rule = (Object.hasOwn(rules, name) ? rules[name] : undefined) ?? byHealth
  const further = (Object.hasOwn(marks, name) ? marks[name] : undefined) ?? (() => [])
  return (object) => {
    const judged = ruledHealth(health, object) ?? healthy
    const facts = judged.status === 'TERMINATING' ? stuck(object, judged) : rule(object, judged)
    return [...facts.flatMap((fact) => encodeFact(fact) ?? []), ...further(object)]
  }
}

/** The marks of objects, on which the problems of other objects depend. */
const marks: Readonly<Record<string, (object: Fields) => readonly string[]>> = {
  'batch/CronJob': successOf,
  'storage.k8s.io/StorageClass': ({ volumeBindingMode }) =>
    volumeBindingMode === 'WaitForFirstConsumer' ? [waitsForPod] : [],
}

/** Stands for the rules when definitions of indexes are compared. Rules do not change while a gateway runs. */
export const problemRulesVersion = '1'

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

/** A deletion that does not end. Namespaces say what they wait for. */
function stuck(object: Fields, { message, since }: Health): readonly ProblemFact[] {
  const waits = itemsOf(statusOf(object)['conditions']).find(
    ({ status, type }) => status === 'True' && /Remaining|Failure/.test(String(type)),
  )
  const told = textOf(waits?.['message']) ?? message
  const fact = { severity: 'WARNING', reason: 'Terminating', message: told, since } as const
  return [{ timing: 'later', at: since, ...fact }]
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

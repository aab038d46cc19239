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
import { ageColumn, type Column, column, nameColumn, type PrintedKind, wide } from './column.ts'

/** A number or a percentage. */
const amount = (value: unknown, absent: string): string =>
  numberOf(value) === undefined ? (textOf(value) ?? absent) : String(value)

export const disruptionBudgetColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Min Available', 'string', (object) => amount(specOf(object)['minAvailable'], 'N/A')),
    column('Max Unavailable', 'string', (object) =>
      amount(specOf(object)['maxUnavailable'], 'N/A'),
    ),
    column('Allowed Disruptions', 'integer', (object) =>
      countOf(statusOf(object)['disruptionsAllowed']),
    ),
    ageColumn,
  ],
}

const unknown = '<unknown>'

/** One metric of an autoscaler: what it is now, and what it is meant to be. */
function metricText(spec: Fields, status: Fields | undefined): string {
  const member = sources[textOf(spec['type']) ?? '']
  if (member === undefined) return '<unknown type>'
  const source = fieldsOf(spec[member])
  const target = fieldsOf(source['target'])
  const now = fieldsOf(fieldsOf(status?.[member])['current'])
  const value = (of: Fields, name: string): string | undefined =>
    of[name] === undefined || of[name] === null ? undefined : amount(of[name], unknown)
  const average = value(target, 'averageValue')
  if (member === 'pods') return `${value(now, 'averageValue') ?? unknown}/${average ?? '0'}`
  if (member === 'external' || member === 'object') {
    return average === undefined
      ? `${value(now, 'value') ?? unknown}/${value(target, 'value') ?? '0'}`
      : `${value(now, 'averageValue') ?? unknown}/${average} (avg)`
  }
  const name = textOf(source['name']) ?? ''
  if (average !== undefined) return `${name}: ${value(now, 'averageValue') ?? unknown}/${average}`
  return `${name}: ${percent(now, unknown)}/${percent(target, '<auto>')}`
}

function percent(of: Fields, absent: string): string {
  const part = numberOf(of['averageUtilization'])
  return part === undefined ? absent : `${part}%`
}

const sources: Readonly<Record<string, string>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
}

const shownMetrics = 2

function targets(object: Fields): string {
  const statuses = itemsOf(statusOf(object)['currentMetrics'])
  const texts = itemsOf(specOf(object)['metrics']).map((spec, at) => metricText(spec, statuses[at]))
  if (texts.length === 0) return '<none>'
  const shown = texts.slice(0, shownMetrics).join(', ')
  const rest = texts.length - shownMetrics
  return rest > 0 ? `${shown} + ${rest} more...` : shown
}

/** For `autoscaling/v2`: version 1 has no list of metrics. */
export const autoscalerColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Reference', 'string', (object) => {
      const { kind, name } = fieldsOf(specOf(object)['scaleTargetRef'])
      return `${textOf(kind) ?? ''}/${textOf(name) ?? ''}`
    }),
    column('Targets', 'string', targets),
    column('MinPods', 'string', (object) => amount(specOf(object)['minReplicas'], '<unset>')),
    column('MaxPods', 'string', (object) => countOf(specOf(object)['maxReplicas'])),
    column('Replicas', 'string', (object) => countOf(statusOf(object)['currentReplicas'])),
    ageColumn,
  ],
}

const subjects = (name: string, kind: string): Column =>
  column(
    name,
    'string',
    (object) =>
      itemsOf(object['subjects'])
        .filter((subject) => subject['kind'] === kind)
        .map((subject) => {
          const text = textOf(subject['name']) ?? ''
          if (kind !== 'ServiceAccount') return text
          return `${textOf(subject['namespace']) ?? ''}/${text}`
        })
        .join(', '),
    wide,
  )

export const roleBindingColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Role', 'string', ({ roleRef }) => {
      const { kind, name } = fieldsOf(roleRef)
      return `${textOf(kind) ?? ''}/${textOf(name) ?? ''}`
    }),
    ageColumn,
    subjects('Users', 'User'),
    subjects('Groups', 'Group'),
    subjects('ServiceAccounts', 'ServiceAccount'),
  ],
}

export const priorityClassColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Value', 'integer', ({ value }) => countOf(value)),
    column('Global-Default', 'boolean', ({ globalDefault }) => globalDefault === true),
    ageColumn,
    column('PreemptionPolicy', 'string', ({ preemptionPolicy }) => textOf(preemptionPolicy) ?? ''),
  ],
}

export const leaseColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Holder', 'string', (object) => textOf(specOf(object)['holderIdentity']) ?? ''),
    ageColumn,
  ],
}

export const webhookColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Webhooks', 'integer', ({ webhooks }) => itemsOf(webhooks).length),
    ageColumn,
  ],
}

import { countOf, type Fields, fieldsOf, itemsOf, specOf, statusOf, textOf } from '../fields.ts'
import {
  ageColumn,
  type Column,
  column,
  dateColumn,
  nameColumn,
  nameOf,
  type PrintedKind,
  wide,
} from './column.ts'
import { inOrder } from './printed-text.ts'

const sizeOf = (value: unknown): number => Object.keys(fieldsOf(value)).length

export const nameAndAge: PrintedKind = { columns: [nameColumn(), ageColumn] }

/** The columns of the API server for unknown kinds. */
export const nameAndCreation: PrintedKind = {
  columns: [nameColumn(), { ...ageColumn, name: 'Created At', asTime: true }],
}

export const configMapColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Data', 'string', ({ data, binaryData }) => sizeOf(data) + sizeOf(binaryData)),
    ageColumn,
  ],
}

export const secretColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Type', 'string', ({ type }) => textOf(type) ?? ''),
    column('Data', 'string', ({ data }) => sizeOf(data)),
    ageColumn,
  ],
}

export const namespaceColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Status', 'string', (object) => textOf(statusOf(object)['phase']) ?? ''),
    ageColumn,
  ],
}

function nodeStatus(object: Fields): string {
  const ready = itemsOf(statusOf(object)['conditions']).findLast(({ type }) => type === 'Ready')
  const words = [
    ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady',
  ]
  if (specOf(object)['unschedulable'] === true) words.push('SchedulingDisabled')
  return words.join(',')
}

const rolePrefix = 'node-role.kubernetes.io/'

function nodeRoles(object: Fields): string {
  const { labels } = fieldsOf(object['metadata'])
  const roles = Object.entries(fieldsOf(labels)).flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return textOf(key.slice(rolePrefix.length)) ?? []
    return key === 'kubernetes.io/role' ? (textOf(value) ?? []) : []
  })
  return roles.length === 0 ? '<none>' : inOrder(roles).join(',')
}

function nodeAddress(name: string, type: string): Column {
  const addressOf = (object: Fields): string => {
    const found = itemsOf(statusOf(object)['addresses']).find((one) => one['type'] === type)
    return textOf(found?.['address']) ?? '<none>'
  }
  return column(name, 'string', addressOf, wide)
}

const nodeInfo = (object: Fields, name: string): string | undefined =>
  textOf(fieldsOf(statusOf(object)['nodeInfo'])[name])

export const nodeColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Status', 'string', nodeStatus),
    column('Roles', 'string', nodeRoles),
    ageColumn,
    column('Version', 'string', (object) => nodeInfo(object, 'kubeletVersion') ?? ''),
    nodeAddress('Internal-IP', 'InternalIP'),
    nodeAddress('External-IP', 'ExternalIP'),
    column('OS-Image', 'string', (object) => nodeInfo(object, 'osImage') ?? '<unknown>', wide),
    column(
      'Kernel-Version',
      'string',
      (object) => {
        const architecture = nodeInfo(object, 'architecture')
        const kernel = nodeInfo(object, 'kernelVersion') ?? '<unknown>'
        return architecture === undefined ? kernel : `${kernel} (${architecture})`
      },
      wide,
    ),
    column(
      'Container-Runtime',
      'string',
      (object) => nodeInfo(object, 'containerRuntimeVersion') ?? '<unknown>',
      wide,
    ),
  ],
}

function eventFirst({ firstTimestamp, eventTime }: Fields): string | undefined {
  return textOf(firstTimestamp) ?? textOf(eventTime)
}

function eventLast(event: Fields): string | undefined {
  const { series, lastTimestamp } = event
  if (series !== undefined && series !== null) return textOf(fieldsOf(series)['lastObservedTime'])
  return textOf(lastTimestamp) ?? eventFirst(event)
}

function eventCount({ series, count }: Fields): number {
  if (series !== undefined && series !== null) return countOf(fieldsOf(series)['count'])
  return countOf(count) === 0 ? 1 : countOf(count)
}

function eventObject({ involvedObject }: Fields): string {
  const { kind, name } = fieldsOf(involvedObject)
  const lower = (textOf(kind) ?? '').toLowerCase()
  return textOf(name) === undefined ? lower : `${lower}/${textOf(name)}`
}

function eventSource({ source, reportingComponent, reportingInstance }: Fields): string {
  const { component, host } = fieldsOf(source)
  const from = textOf(component) ?? textOf(reportingComponent) ?? ''
  const place = textOf(host) ?? textOf(reportingInstance)
  return place === undefined ? from : `${from}, ${place}`
}

export const eventColumns: PrintedKind = {
  columns: [
    dateColumn('Last Seen', eventLast),
    column('Type', 'string', ({ type }) => textOf(type) ?? ''),
    column('Reason', 'string', ({ reason }) => textOf(reason) ?? ''),
    column('Object', 'string', eventObject),
    column(
      'Subobject',
      'string',
      ({ involvedObject }) => textOf(fieldsOf(involvedObject)['fieldPath']) ?? '',
      wide,
    ),
    column('Source', 'string', eventSource, wide),
    column('Message', 'string', ({ message }) => (textOf(message) ?? '').trim()),
    dateColumn('First Seen', eventFirst, wide),
    column('Count', 'string', eventCount, wide),
    column('Name', 'string', nameOf, { format: 'name', priority: 1 }),
  ],
}

export const resourceQuotaColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Request', 'string', (object) => quotaText(object, false)),
    column('Limit', 'string', (object) => quotaText(object, true)),
    ageColumn,
  ],
}

function amountOf(amounts: unknown, name: string): string {
  return textOf(fieldsOf(amounts)[name]) ?? '0'
}

function quotaText(object: Fields, isLimit: boolean): string {
  const { hard, used } = statusOf(object)
  return inOrder(Object.keys(fieldsOf(hard)))
    .filter((name) => name.startsWith('limits.') === isLimit)
    .map((name) => `${name}: ${amountOf(used, name)}/${amountOf(hard, name)}`)
    .join(', ')
}

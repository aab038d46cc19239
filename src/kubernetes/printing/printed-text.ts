/*
 * Writes values of objects as kubectl shows them in columns: counts, lists, selectors, ports, quotas, metrics. A missing or
 * malformed value becomes the text that kubectl shows for it.
 */

import { type Fields, fieldsOf, itemsOf, countOf, numberOf, textOf } from '../fields.ts'
import { type Cell, humanDuration } from './column.ts'

export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

export function orNone(shown: string): string {
  return shown === '' ? '<none>' : shown
}

export function textsIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.map(String) : []
}

export function membersIn(value: unknown): number {
  return Object.keys(fieldsOf(value)).length
}

/** Two members of an object: `Deployment/web`. */
export function pathOf(value: unknown, first: string, second: string): string {
  const fields = fieldsOf(value)
  return `${textOf(fields[first]) ?? ''}/${textOf(fields[second]) ?? ''}`
}

export function membersText(items: unknown, member: string): string {
  return itemsOf(items)
    .map((item) => textOf(item[member]) ?? '')
    .join(',')
}

/** A number or a percentage. */
export function amountText(value: unknown): string | undefined {
  return numberOf(value) === undefined ? textOf(value) : String(value)
}

/** The first texts of a list, and the number of the others. */
export function firstFew(
  texts: readonly string[],
  most: number,
  absent: string,
  comma = ',',
): string {
  const shown = texts.slice(0, most).join(comma)
  const rest = texts.length - most
  if (rest > 0) return `${shown} + ${rest} more...`
  return shown === '' ? absent : shown
}

export function isBeingDeleted(object: Fields): boolean {
  return textOf(fieldsOf(object['metadata'])['deletionTimestamp']) !== undefined
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Distinct texts in the order of Go's `sort`. */
function inOrder(texts: Iterable<string>): readonly string[] {
  return [...new Set(texts)].toSorted(byCodeUnits)
}

/** Labels: `app=web,tier=front`. */
export function labelsText(value: unknown): string {
  const pairs = Object.entries(fieldsOf(value)).map(([key, label]) => `${key}=${String(label)}`)
  return orNone(pairs.toSorted(byCodeUnits).join(','))
}

/** A label selector in kubectl's syntax; `''` if it selects everything or is absent. */
export function selectorText(value: unknown): string {
  const { matchLabels, matchExpressions } = fieldsOf(value)
  const requirements = [
    ...Object.entries(fieldsOf(matchLabels)).map(([key, label]) => ({
      key,
      shown: `${key}=${String(label)}`,
    })),
    ...itemsOf(matchExpressions).map(requirementOf),
  ]
  return requirements
    .toSorted((a, b) => byCodeUnits(a.key, b.key))
    .map(({ shown }) => shown)
    .join(',')
}

export function selectorTextOrNone(value: unknown): string {
  return orNone(selectorText(value))
}

function requirementOf(requirement: Fields): { readonly key: string; readonly shown: string } {
  const key = textOf(requirement['key']) ?? ''
  const all = inOrder(textsIn(requirement['values'])).join(',')
  switch (requirement['operator']) {
    case 'In':
      return { key, shown: `${key} in (${all})` }
    case 'NotIn':
      return { key, shown: `${key} notin (${all})` }
    case 'DoesNotExist':
      return { key, shown: `!${key}` }
    default:
      return { key, shown: key }
  }
}

export function accessModesText(list: unknown): string {
  const has = new Set(textsIn(list))
  return Object.entries({
    ReadWriteOnce: 'RWO',
    ReadOnlyMany: 'ROX',
    ReadWriteMany: 'RWX',
    ReadWriteOncePod: 'RWOP',
  })
    .flatMap(([mode, short]) => (has.has(mode) ? [short] : []))
    .join(',')
}

export function nodeStatus(object: Fields): string {
  const { conditions } = fieldsOf(object['status'])
  const ready = itemsOf(conditions).findLast(({ type }) => type === 'Ready')
  const status = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady'
  const isCordoned = fieldsOf(object['spec'])['unschedulable'] === true
  return isCordoned ? `${status},SchedulingDisabled` : status
}

export function nodeRoles(value: unknown): string {
  const prefix = 'node-role.kubernetes.io/'
  const roles = Object.entries(fieldsOf(value)).flatMap(([key, label]) => {
    if (key.startsWith(prefix)) return textOf(key.slice(prefix.length)) ?? []
    return key === 'kubernetes.io/role' ? (textOf(label) ?? []) : []
  })
  return orNone(inOrder(roles).join(','))
}

export function addressIn(list: unknown, type: string): string {
  const found = itemsOf(list).find((one) => one['type'] === type)
  return textOf(found?.['address']) ?? '<none>'
}

export function kernelVersion(nodeInfo: unknown): string {
  const { architecture, kernelVersion: kernel } = fieldsOf(nodeInfo)
  const version = textOf(kernel) ?? '<unknown>'
  return textOf(architecture) === undefined ? version : `${version} (${textOf(architecture)})`
}

export function eventFirst({ firstTimestamp, eventTime }: Fields): unknown {
  return textOf(firstTimestamp) ?? eventTime
}

export function eventLast(event: Fields): unknown {
  const { series, lastTimestamp } = event
  if (!isAbsent(series)) return fieldsOf(series)['lastObservedTime']
  return textOf(lastTimestamp) ?? eventFirst(event)
}

export function eventCount({ series, count: total }: Fields): number {
  if (!isAbsent(series)) return countOf(fieldsOf(series)['count'])
  return countOf(total) === 0 ? 1 : countOf(total)
}

export function eventObject(involved: unknown): string {
  const object = fieldsOf(involved)
  const kind = (textOf(object['kind']) ?? '').toLowerCase()
  const ofObject = textOf(object['name'])
  return ofObject === undefined ? kind : `${kind}/${ofObject}`
}

export function eventSource({ source, reportingComponent, reportingInstance }: Fields): string {
  const { component, host } = fieldsOf(source)
  const from = textOf(component) ?? textOf(reportingComponent) ?? ''
  const place = textOf(host) ?? textOf(reportingInstance)
  return place === undefined ? from : `${from}, ${place}`
}

export function quotaText(status: unknown, isLimit: boolean): string {
  const { hard, used } = fieldsOf(status)
  const [limits, amounts] = [fieldsOf(hard), fieldsOf(used)]
  return inOrder(Object.keys(limits))
    .filter((key) => key.startsWith('limits.') === isLimit)
    .map((key) => `${key}: ${textOf(amounts[key]) ?? '0'}/${textOf(limits[key]) ?? '0'}`)
    .join(', ')
}

export function loadBalancerText(loadBalancer: unknown): string {
  const addresses = itemsOf(fieldsOf(loadBalancer)['ingress']).flatMap(
    ({ ip, hostname }) => textOf(ip) ?? textOf(hostname) ?? [],
  )
  return inOrder(addresses).join(',')
}

export function externalIp({ spec, status }: Fields): string {
  const { type, externalIPs, externalName } = fieldsOf(spec)
  const external = textsIn(externalIPs)
  switch (type) {
    case 'ClusterIP':
    case 'NodePort':
      return orNone(external.join(','))
    case 'LoadBalancer': {
      const balanced = loadBalancerText(fieldsOf(status)['loadBalancer'])
      const all = [...(balanced === '' ? [] : [balanced]), ...external]
      return all.length === 0 ? '<pending>' : all.join(',')
    }
    case 'ExternalName':
      return textOf(externalName) ?? ''
    default:
      return '<unknown>'
  }
}

export function portText({ port, nodePort, protocol }: Fields): string {
  const node = countOf(nodePort) > 0 ? `:${countOf(nodePort)}` : ''
  return `${countOf(port)}${node}/${textOf(protocol) ?? ''}`
}

export function endpointPort(value: Fields): string {
  const { port } = value
  return numberOf(port) === undefined ? (textOf(value['name']) ?? '*') : String(port)
}

/** Rules without a host are not shown, but counted. */
export function hostsText(value: unknown): string {
  const most = 3
  const rules = itemsOf(value)
  const hosts: string[] = []
  let read = 0
  for (; read < rules.length && hosts.length < most; read += 1) {
    const host = textOf(rules[read]?.['host'])
    if (host !== undefined) hosts.push(host)
  }
  if (hosts.length === 0) return '*'
  const shown = hosts.join(',')
  return read < rules.length ? `${shown} + ${rules.length - most} more...` : shown
}

export function parametersText(parameters: unknown): string {
  if (isAbsent(parameters)) return '<none>'
  const { kind, apiGroup, name: ofObject } = fieldsOf(parameters)
  const group = textOf(apiGroup) === undefined ? '' : `.${textOf(apiGroup)}`
  return `${textOf(kind) ?? ''}${group}/${textOf(ofObject) ?? ''}`
}

export function suspendText(suspend: unknown): string {
  return typeof suspend === 'boolean' ? (suspend ? 'True' : 'False') : '<unset>'
}

export function completions({ spec, status }: Fields): string {
  const { completions: want, parallelism } = fieldsOf(spec)
  const succeeded = countOf(fieldsOf(status)['succeeded'])
  if (numberOf(want) !== undefined) return `${succeeded}/${String(want)}`
  return countOf(parallelism) > 1 ? `${succeeded}/1 of ${countOf(parallelism)}` : `${succeeded}/1`
}

/** How long a job took, or how long it has been running. */
export function jobDuration({ status }: Fields): Cell {
  const { startTime, completionTime } = fieldsOf(status)
  const [start, end] = [textOf(startTime), textOf(completionTime)]
  if (start === undefined) return { value: '' }
  if (end === undefined) return { value: null, since: start }
  return { value: humanDuration(Date.parse(end) - Date.parse(start)) }
}

export function jobStatus(object: Fields): string {
  const conditions = itemsOf(fieldsOf(object['status'])['conditions'])
  const has = (type: string): boolean =>
    conditions.find((one) => one['type'] === type)?.['status'] === 'True'
  if (has('Complete')) return 'Complete'
  if (has('Failed')) return 'Failed'
  if (isBeingDeleted(object)) return 'Terminating'
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(has) ?? 'Running'
}

/** All metrics of an autoscaler, each with its current and its target value. */
export function targets({ spec, status }: Fields): string {
  const statuses = itemsOf(fieldsOf(status)['currentMetrics'])
  const texts = itemsOf(fieldsOf(spec)['metrics']).map((one, index) =>
    metricText(one, statuses[index]),
  )
  return firstFew(texts, 2, '<none>', ', ')
}

const metricSources: Readonly<Record<string, string>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
}

function metricText(spec: Fields, status: Fields | undefined): string {
  const member = metricSources[textOf(spec['type']) ?? '']
  if (member === undefined) return '<unknown type>'
  const source = fieldsOf(spec[member])
  const target = fieldsOf(source['target'])
  const now = fieldsOf(fieldsOf(status?.[member])['current'])
  const unknown = '<unknown>'
  const value = (of: Fields, key: string): string | undefined =>
    isAbsent(of[key]) ? undefined : (amountText(of[key]) ?? unknown)
  const average = value(target, 'averageValue')
  if (member === 'pods') return `${value(now, 'averageValue') ?? unknown}/${average ?? '0'}`
  if (member === 'external' || member === 'object') {
    return average === undefined
      ? `${value(now, 'value') ?? unknown}/${value(target, 'value') ?? '0'}`
      : `${value(now, 'averageValue') ?? unknown}/${average} (avg)`
  }
  const resource = textOf(source['name']) ?? ''
  if (average !== undefined) {
    return `${resource}: ${value(now, 'averageValue') ?? unknown}/${average}`
  }
  return `${resource}: ${percentIn(now) ?? unknown}/${percentIn(target) ?? '<auto>'}`
}

function percentIn({ averageUtilization: part }: Fields): string | undefined {
  return numberOf(part) === undefined ? undefined : `${String(part)}%`
}

/*
 * What an object adds to the health of its namespace, as the value of an index: its status and the namespace. Only objects
 * that are DEGRADED, UNKNOWN or PROGRESSING have a value, so that the index of a healthy cluster is empty. Failures that
 * their controller makes up for, or reports itself, have none.
 */

import type { ApiResource } from '../api-resource.ts'
import { type Fields, fieldsOf, itemsOf, statusOf, textOf } from '../fields.ts'
import { healthStatuses, ruledHealth } from './health.ts'
import { healthRuleOf } from './health-rules.ts'

/** The index of what objects add to the health of their namespaces. */
export const contentIndex = 'health:contents'

/** The statuses that count, the worst first. Objects that end or are stopped on purpose do not make a namespace unhealthy. */
const contentStatuses = ['DEGRADED', 'UNKNOWN', 'PROGRESSING'] as const

export type ContentStatus = (typeof contentStatuses)[number]

/** The value of an object with this status in this namespace. */
export function contentValue(status: ContentStatus, namespace: string): string {
  return `${healthStatuses.indexOf(status)}${namespace}`
}

/** The reverse of {@link contentValue}. */
export function contentOf(value: string): { readonly rank: number; readonly namespace: string } {
  return { rank: Number(value[0]), namespace: value.slice(1) }
}

/** The values of an object of a kind in {@link contentIndex}: one at most. */
export function contentValuesOf(
  resource: Pick<ApiResource, 'group' | 'kind'>,
): (object: Fields) => readonly string[] {
  const rule = healthRuleOf(resource)
  const name = `${resource.group}/${resource.kind}`
  return (object) => {
    const status = contentStatuses.find((one) => one === ruledHealth(rule, object)?.status)
    const namespace = textOf(fieldsOf(object['metadata'])['namespace'])
    if (status === undefined || namespace === undefined || isMadeUpFor(name, object)) return []
    return [contentValue(status, namespace)]
  }
}

/** Whether the controller replaces the object: a failed pod, or the Job of a CronJob, which says whether its last run failed. */
function isMadeUpFor(name: string, object: Fields): boolean {
  if (name !== 'batch/Job' && (name !== '/Pod' || statusOf(object)['phase'] !== 'Failed'))
    return false
  const { ownerReferences } = fieldsOf(object['metadata'])
  const owner = itemsOf(ownerReferences).find(({ controller }) => controller === true)
  return owner !== undefined && (name === '/Pod' || owner['kind'] === 'CronJob')
}

import { groupOf } from './json.ts'
import type { SeenObject } from './live-object.ts'

/** The tabs, in the order of their keys. */
export const tabs = [
  'summary',
  'related',
  'graph',
  'events',
  'logs',
  'yaml',
  'history',
  'access',
  'shell',
] as const

export type ObjectTab = (typeof tabs)[number]

/** The tab that an address names; the summary if there is none of this name. */
export function tabNamed(name: string | undefined): ObjectTab {
  return tabs.find((tab) => tab === name) ?? 'summary'
}

/** The tabs of an object: what has no pods has no logs, and only a pod has shells, where the gateway opens them. */
export function tabsOf({ apiVersion, kind }: SeenObject, areShells: boolean): readonly ObjectTab[] {
  const group = groupOf(apiVersion)
  const hasLogs = withLogs.includes(`${group} ${kind}`)
  return areShells ? tabs : hasLogs ? tabsWithoutShell : tabsWithoutLogs
}

const tabsWithoutShell: readonly ObjectTab[] = tabs.filter((tab) => tab !== 'shell')
const tabsWithoutLogs: readonly ObjectTab[] = tabsWithoutShell.filter((tab) => tab !== 'logs')

const withLogs: readonly string[] = [
  ' Pod',
  ' ReplicationController',
  ' Service',
  'apps Deployment',
  'apps ReplicaSet',
  'apps StatefulSet',
  'apps DaemonSet',
  'batch Job',
  'batch CronJob',
  'argoproj.io Rollout',
]

/** The kinds whose pages have logs, by their names alone. */
export const kindsWithLogs: readonly string[] = withLogs.map((kind) =>
  kind.slice(kind.indexOf(' ') + 1),
)

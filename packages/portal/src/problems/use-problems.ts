import type { LiveSnapshot } from '@informerql/client'
import { useLiveCollection, useLiveValue } from '@informerql/client/react'
import { useEffect, useMemo } from 'react'
import {
  type ChangeRowFragment as ChangeRow,
  ProblemCountsDocument,
  ProblemsChangesBeforeDocument,
  type ProblemRowFragment as ProblemRow,
  ProblemsDocument,
  type ProblemSeverity,
  type ProblemsSubscription,
  type ProblemsSubscriptionVariables,
} from '../gateway/documents.ts'
import { useAnswer, useGateway } from '../gateway/gateway.ts'
import { useStale } from '../gateway/line.ts'
import { clustersOf, type Scope, useScope } from '../scope.ts'

/** Which problems of the scope are wanted. */
export interface ProblemFilter {
  readonly severity?: ProblemSeverity | undefined
  /** The type of the kind that has them: `Deployment`. */
  readonly type?: string | undefined
  /** Absent: the worst first. */
  readonly order?: 'newest' | undefined
}

/** What is wrong in the scope, in the order of the filter. */
export interface Problems extends LiveSnapshot<ProblemRow> {
  /** Of all pages; `undefined` before the gateway has answered. */
  readonly totalCount: number | undefined
  /** The types that the gateway should have looked at, and could not. */
  readonly notLookedAt: readonly string[]
  /** What changed before each problem, by its `id`, as far as it is known. */
  readonly before: ReadonlyMap<string, readonly ChangeRow[]>
}

/** What changed before a new problem is in the archive after this time. */
const archivedMs = 1_500

/** The variables of the first problems of a scope. */
export function problemVariables(
  scope: Scope,
  filter: ProblemFilter,
  first: number,
): ProblemsSubscriptionVariables {
  const orderBy = filter.order === 'newest' ? { since: 'DESC' as const } : null
  return { ...countVariables(scope, filter), orderBy, first }
}

function countVariables(
  scope: Scope,
  { severity, type }: ProblemFilter,
): Omit<ProblemsSubscriptionVariables, 'first' | 'orderBy'> {
  return {
    ...clustersOf(scope),
    namespaces: scope.namespaces?.slice() ?? null,
    severity: severity === undefined ? null : [severity],
    types: type === undefined ? null : [type],
  }
}

/** The order of the gateway: a cluster that is lost, then the worst, those that most objects have, and the newest. */
export function byUrgency(one: ProblemRow, other: ProblemRow): number {
  return (
    Number(isOfCluster(other)) - Number(isOfCluster(one)) ||
    one.severity.localeCompare(other.severity) ||
    other.count - one.count ||
    byTime(one, other)
  )
}

/** Whether a cluster itself has it: it is lost. */
export function isOfCluster({ kind, type }: ProblemRow): boolean {
  return kind === 'Cluster' && type === null
}

/** The newest first. */
function byTime(one: ProblemRow, other: ProblemRow): number {
  return (
    (other.since ?? '').localeCompare(one.since ?? '') ||
    one.cluster.localeCompare(other.cluster) ||
    (one.object.namespace ?? '').localeCompare(other.object.namespace ?? '') ||
    (one.object.name ?? '').localeCompare(other.object.name ?? '')
  )
}

/** The first problems of the scope, live. */
export function useProblems(filter: ProblemFilter, first: number): Problems {
  const { scope } = useScope()
  const live = useLiveCollection<ProblemsSubscription, object, ProblemRow>({
    client: useGateway().socket,
    query: ProblemsDocument,
    variables: problemVariables(scope, filter, first),
    compare: filter.order === 'newest' ? byTime : byUrgency,
  })
  useStale(live.staleSince)
  const counted = useLiveValue({
    client: useGateway().socket,
    query: ProblemCountsDocument,
    variables: countVariables(scope, filter),
  })
  const before = useChangesBefore(problemVariables(scope, filter, first), live.rows)
  const { totalCount, notLookedAt = [] } = counted.value ?? {}
  const { rows, status } = live
  // All of them are here, unless the page is full.
  const isAll = status !== 'loading' && rows.length < first
  const known = totalCount === undefined ? undefined : Math.max(totalCount, rows.length)
  return { ...live, totalCount: isAll ? rows.length : known, notLookedAt, before }
}

/** The changes before each problem, asked for when there are other problems than before. None without an archive. */
function useChangesBefore(
  variables: ProblemsSubscriptionVariables,
  rows: readonly ProblemRow[],
): Problems['before'] {
  const { data, again } = useAnswer(ProblemsChangesBeforeDocument, variables, {
    enabled: rows.length > 0,
  })
  const nodes = data?.problems?.nodes ?? []
  const known = new Set(nodes.map(({ id }) => id))
  const hasNone = nodes.length > 0 && nodes.every(({ changesBefore }) => changesBefore === null)
  const others = hasNone ? '' : rows.flatMap(({ id }) => (known.has(id) ? [] : [id])).join()
  useEffect(() => {
    if (data === undefined || others === '') return
    const timer = setTimeout(again, archivedMs)
    return () => clearTimeout(timer)
  }, [data === undefined, others])
  return useMemo(
    () =>
      new Map(
        data?.problems?.nodes.map(({ id, changesBefore }) => [id, changesBefore ?? []]) ?? [],
      ),
    [data],
  )
}

/** Numbers of problems. */
export type BySeverity = Readonly<Record<ProblemSeverity, number>>

/** How many problems a severity has in the scope, and how many each cluster and each kind. */
export interface ProblemCounts {
  readonly totalCount: number
  /** Whether the user may not see all of the scope: the numbers are of the rest. */
  readonly isPartly: boolean
  readonly bySeverity: BySeverity
  /** By the name of the cluster. */
  readonly byCluster: ReadonlyMap<string, BySeverity>
  /** The most frequent first. */
  readonly byType: readonly {
    readonly type: string
    readonly kind: string
    readonly count: number
  }[]
}

/** The numbers of problems in the scope; `undefined` before the gateway has answered. */
export function useProblemCounts(): ProblemCounts | undefined {
  const { scope } = useScope()
  const { value: found } = useLiveValue({
    client: useGateway().socket,
    query: ProblemCountsDocument,
    variables: countVariables(scope, {}),
  })
  if (found === undefined) return undefined
  const bySeverity = { CRITICAL: 0, WARNING: 0 }
  const byType = new Map<string, { type: string; kind: string; count: number }>()
  const byCluster = new Map<string, { CRITICAL: number; WARNING: number }>()
  for (const { cluster, severity, type, kind, count } of found.counts) {
    bySeverity[severity] += count
    const ofCluster = byCluster.get(cluster) ?? { CRITICAL: 0, WARNING: 0 }
    ofCluster[severity] += count
    byCluster.set(cluster, ofCluster)
    if (type === null) continue
    const before = byType.get(type)
    if (before === undefined) byType.set(type, { type, kind, count })
    else before.count += count
  }
  return {
    totalCount: found.totalCount,
    isPartly: found.visible !== 'ALL',
    bySeverity,
    byCluster,
    byType: [...byType.values()].toSorted((one, other) => other.count - one.count),
  }
}

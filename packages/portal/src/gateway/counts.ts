import { useMemo } from 'react'
import { type HealthStatus, healthStatuses } from '../look/health.tsx'
import { inScope, useScope } from '../scope.ts'
import { CountsDocument, type CountsQuery } from './documents.ts'
import { type AnswerError, useAnswer } from './gateway.ts'

export type Cluster = NonNullable<CountsQuery['gatewayClusters']>[number]

/** How many objects of a kind there are. */
export interface Count {
  /** Null while the gateway has not read the kind. */
  readonly objects: number | null
  readonly health: Readonly<Partial<Record<HealthStatus, number>>>
}

/** The clusters, and what the gateway holds of those in scope. */
export interface Counts {
  /** All of the gateway; `undefined` before the gateway has answered. */
  readonly all: readonly Cluster[] | undefined
  /** Those in scope. */
  readonly clusters: readonly Cluster[]
  /** Of all clusters in scope together, by the name of the type: `Pod`. */
  readonly byType: ReadonlyMap<string, Count>
  readonly errors: readonly AnswerError[]
  readonly again: () => void
}

/** A few numbers a kind: asked again and again, as no subscription has them. Sooner while the gateway begins to read. */
const everyMs = 3_000
const soonMs = 700

/** How many objects there are of each kind in the namespaces in scope, by health. */
export function useCounts(): Counts {
  const { scope } = useScope()
  const { namespaces } = scope
  const { data, errors, again } = useAnswer(
    CountsDocument,
    { namespaces: namespaces?.slice() ?? null },
    { everyMs: (answer) => (isRead(answer) ? everyMs : soonMs) },
  )
  const all = data?.gatewayClusters ?? undefined
  const counts = useMemo(() => {
    const clusters = inScope(all ?? [], scope)
    const byType = new Map<string, Count>()
    for (const { type, objects, facets } of clusters.flatMap(({ resources }) => resources)) {
      byType.set(type, together(byType.get(type), { objects, health: healthOf(facets) }))
    }
    return { clusters, byType }
  }, [all, scope])
  return { all, ...counts, errors, again }
}

/** Both numbers as one. A cluster that has not read the kind adds none. */
function together(one: Count | undefined, other: Count): Count {
  if (one === undefined) return other
  const health = Object.fromEntries(
    healthStatuses.map((status) => [
      status,
      (one.health[status] ?? 0) + (other.health[status] ?? 0),
    ]),
  )
  const objects =
    one.objects === null && other.objects === null
      ? null
      : (one.objects ?? 0) + (other.objects ?? 0)
  return { objects, health }
}

/** Whether each cache has had its first list. */
function isRead(answer: CountsQuery | undefined): boolean {
  const resources = answer?.gatewayClusters?.flatMap((cluster) => cluster.resources) ?? []
  return resources.length > 0 && resources.every(({ objects }) => objects !== null)
}

/** The numbers by health. None where the gateway has no index of it yet. */
function healthOf(facets: Cluster['resources'][number]['facets']): Count['health'] {
  const values = facets?.flatMap((facet) => facet.values) ?? []
  return Object.fromEntries(values.map(({ value, count }) => [String(value), count]))
}

import { useLiveValue } from '@informerql/client/react'
import { useMemo, useRef } from 'react'
import { type HealthStatus, healthStatuses } from '../look/health.tsx'
import { inScope, useScope } from '../scope.ts'
import { CountsDocument, type CountsSubscription } from './documents.ts'
import { type AnswerError, errorsOf, useGateway } from './gateway.ts'

export type Cluster = NonNullable<CountsSubscription['gatewayClusters']>[number]

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
}

/** How many objects there are of each kind in the namespaces in scope, by health, live. */
export function useCounts(): Counts {
  const { scope } = useScope()
  const { namespaces } = scope
  const { value, status, error } = useLiveValue({
    client: useGateway().socket,
    query: CountsDocument,
    variables: { namespaces: namespaces?.slice() ?? null },
  })
  // Those of other namespaces stay until the first numbers of these are here.
  const before = useRef(value)
  if (value != null) before.current = value
  const all = before.current ?? undefined
  const counts = useMemo(() => {
    const clusters = inScope(all ?? [], scope)
    const byType = new Map<string, Count>()
    for (const { type, objects, facets } of clusters.flatMap(({ resources }) => resources)) {
      byType.set(type, together(byType.get(type), { objects, health: healthOf(facets) }))
    }
    return { clusters, byType }
  }, [all, scope])
  return { all, ...counts, errors: status === 'failed' ? errorsOf(error) : [] }
}

/** The clusters in scope that cannot be read, as long as they cannot. */
export function useCutClusters(): readonly Cluster[] {
  return useCounts().clusters.filter(
    ({ state }) => state === 'UNREACHABLE' || state === 'UNAUTHORIZED',
  )
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

/** The numbers by health. None where the gateway has no index of it yet. */
function healthOf(facets: Cluster['resources'][number]['facets']): Count['health'] {
  const values = facets?.flatMap((facet) => facet.values) ?? []
  return Object.fromEntries(values.map(({ value, count }) => [String(value), count]))
}

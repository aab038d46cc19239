import { useMemo } from 'react'
import type { HealthStatus } from '../look/health.tsx'
import { useScope } from '../scope.ts'
import { CountsDocument, type CountsQuery } from './documents.ts'
import { type AnswerError, useAnswer } from './gateway.ts'

export type Cluster = NonNullable<CountsQuery['gatewayClusters']>[number]

/** How many objects of a kind there are. */
export interface Count {
  /** Null while the gateway has not read the kind. */
  readonly objects: number | null
  readonly health: Readonly<Partial<Record<HealthStatus, number>>>
}

/** The clusters, and what the gateway holds of the one in scope. */
export interface Counts {
  readonly clusters: readonly Cluster[] | undefined
  /** The cluster in scope. */
  readonly cluster: Cluster | undefined
  /** By the name of the type: `Pod`. */
  readonly byType: ReadonlyMap<string, Count>
  readonly errors: readonly AnswerError[]
  readonly again: () => void
}

/** A few numbers a kind: asked again and again, as no subscription has them. Sooner while the gateway begins to read. */
const everyMs = 3_000
const soonMs = 700

/** How many objects there are of each kind in the namespaces in scope, by health. */
export function useCounts(): Counts {
  const { cluster: name, namespaces } = useScope().scope
  const { data, errors, again } = useAnswer(
    CountsDocument,
    { namespaces: namespaces?.slice() ?? null },
    { everyMs: (answer) => (isRead(answer) ? everyMs : soonMs) },
  )
  const clusters = data?.gatewayClusters ?? undefined
  const cluster = clusters?.find((one) => name === undefined || one.name === name)
  const byType = useMemo(
    () =>
      new Map(
        cluster?.resources.map(({ type, objects, facets }): [string, Count] => [
          type,
          { objects, health: healthOf(facets) },
        ]),
      ),
    [cluster],
  )
  return { clusters, cluster, byType, errors, again }
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

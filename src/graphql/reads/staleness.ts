import type { ClusterKind } from '../prepare/kind-view.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import type { ServedSchema } from '../served/served-schema.ts'

/** A kind whose cache may be out of date, as in `extensions.stale`. */
export interface StaleKind {
  readonly cluster: string
  readonly type: string
  /** RFC 3339. */
  readonly since: string
}

/** Since when the first of some caches may be out of date, by RFC 3339; `null` while all are in step. */
export function staleSince(
  { clusters }: Pick<ServedSchema, 'clusters'>,
  reads: Iterable<ClusterKind>,
): string | null {
  let earliestMs: number | undefined
  for (const { cluster, kind } of reads) {
    const sinceMs = clusters.get(cluster)?.staleSinceMs(kind.resource)
    if (sinceMs === undefined) continue
    earliestMs = Math.min(sinceMs, earliestMs ?? sinceMs)
  }
  return earliestMs === undefined ? null : new Date(earliestMs).toISOString()
}

/** The kinds that may be out of date, of those that an answer has read; `undefined` if there are none. */
export function staleKinds(
  served: Pick<ServedSchema, 'clusters'>,
  snapshot: Pick<ReadSnapshot, 'hasStale' | 'read'>,
): readonly StaleKind[] | undefined {
  if (!snapshot.hasStale) return undefined
  const stale = new Map<string, StaleKind>()
  for (const at of snapshot.read()) {
    const since = staleSince(served, [at])
    if (since === null) continue
    const { cluster, kind } = at
    const { typeName } = kind
    stale.set(`${cluster}/${typeName}`, { cluster, type: typeName, since })
  }
  return stale.size === 0 ? undefined : [...stale.values()]
}

import { ClientError, isLostCluster } from '../errors/client-error.ts'
import type { ClusterKind, IncompleteKind, KindView } from '../prepare/kind-view.ts'
import { unauthorizedCluster } from '../prepare/read-failures.ts'
import type { ClusterGap } from '../schema/read-context.ts'
import { isReachable } from '../served/cluster-argument.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { staleSince } from './staleness.ts'

/** The gap of a kind that could not be read in a cluster. */
export function gapOfError(
  served: ServedSchema,
  { cluster, kind }: ClusterKind,
  { code, message }: ClientError,
): ClusterGap {
  const since = isLostCluster(code) ? lostSince(served, cluster) : null
  return { cluster, type: kind.typeName, code, message, since }
}

/** Since when a cluster cannot be reached, by RFC 3339; `null` if it can. */
function lostSince({ members }: ServedSchema, cluster: string): string | null {
  const member = members.get(cluster)
  return member === undefined || member.state === 'CONNECTED' ? null : member.since.toISOString()
}

/** The gap of a kind that a cluster does not serve. This is no error: only some clusters may have a definition. */
export function notServedGap({ cluster, kind }: ClusterKind): ClusterGap {
  const { typeName: type } = kind
  const message = `cluster ${cluster} does not serve ${type}`
  return { cluster, type, code: 'NOT_SERVED', message, since: null }
}

/** The gap of a whole cluster that cannot be read. */
export function lostGap(served: ServedSchema, cluster: string): ClusterGap {
  const { code, message } = lostCluster(served, cluster)
  return { cluster, type: null, code, message, since: lostSince(served, cluster) }
}

/** The error of a whole cluster that cannot be read. */
export function lostCluster({ members }: ServedSchema, cluster: string): ClientError {
  if (members.get(cluster)?.state === 'UNAUTHORIZED') return unauthorizedCluster(cluster)
  const message = `cluster ${cluster} cannot be reached: the answer has what is known of it from before`
  const details = { cluster, hint: 'ask again in a moment', retryAfterMs: 1_000 }
  return new ClientError('CLUSTER_UNREACHABLE', message, details)
}

/** The error of a cluster that cannot be reached. With `isHeld`, the answer has what the cluster held when it last could be. */
export function unreachableCluster(
  { members }: ServedSchema,
  { cluster, kind }: ClusterKind,
  isHeld: boolean,
): ClientError {
  if (members.get(cluster)?.state === 'UNAUTHORIZED') {
    return unauthorizedCluster(cluster, kind.typeName)
  }
  const held = isHeld ? ': its objects are as they were last known' : ''
  const message = `cluster ${cluster} cannot be reached${held}`
  const details = {
    cluster,
    type: kind.typeName,
    hint: 'ask again in a moment',
    retryAfterMs: 1_000,
  }
  return new ClientError('CLUSTER_UNREACHABLE', message, details)
}

/** The gaps of kinds that were read: from caches of clusters that cannot be reached now, or of some namespaces only. */
export function gapsOfParts(
  served: ServedSchema,
  parts: readonly (ClusterKind & Pick<KindView, 'lacking'>)[],
): readonly ClusterGap[] {
  return parts.flatMap((part) => {
    const { lacking } = part
    const gaps: ClusterGap[] = lacking === undefined ? [] : [lackingGap(lacking)]
    if (isReachable(served, part.cluster)) return gaps
    const gap = gapOfError(served, part, unreachableCluster(served, part, true))
    return [...gaps, { ...gap, since: staleSince(served, [part]) ?? gap.since }]
  })
}

/** The errors of parts whose clusters cannot be reached. */
export function failuresOfParts(
  served: ServedSchema,
  parts: readonly ClusterKind[],
): readonly ClientError[] {
  const lost = parts.filter(({ cluster }) => !isReachable(served, cluster))
  return lost.map((part) => unreachableCluster(served, part, true))
}

/**
 * The gaps of clusters where the viewer may list none of the kinds. `refused`: clusters with a kind that the request
 * does not name and the viewer may not list. `parts`: the kinds that are read. `gaps`: those of kinds that the viewer may
 * list, and that are not read for another reason.
 */
export function closedGaps(
  refused: Iterable<string>,
  parts: readonly ClusterKind[],
  gaps: readonly ClusterGap[],
): readonly ClusterGap[] {
  const closed = new Set(refused)
  for (const { cluster } of parts) closed.delete(cluster)
  for (const { cluster, code } of gaps) {
    if (code !== 'FORBIDDEN' && code !== 'NOT_SERVED') closed.delete(cluster)
  }
  return Array.from(closed, (cluster) => {
    const message = `you may list none of the kinds in cluster ${cluster}`
    return { cluster, type: null, code: 'FORBIDDEN', message, since: null }
  })
}

/** No error: the cache is meant to have no more. */
function lackingGap({ cluster, type, code, message }: IncompleteKind): ClusterGap {
  return { cluster, type, code, message, since: null }
}

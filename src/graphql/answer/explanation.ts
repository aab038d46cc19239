/*
 * `extensions.explain`: how each field was read, and the state of the kinds behind it. The run's budget notes the reads.
 * A value that would reveal objects that the viewer may not see is null.
 */

import { type ApiResource, versionedResourceOf } from '../../kubernetes/api-resource.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import type { Access, FieldReads, ReadReport } from '../../query/condition/read-report.ts'
import { ClientError } from '../errors/client-error.ts'
import type { CacheStateName } from '../../cache/cached-resource.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'

/** How many texts of objects' own fields came from the cache, and how many were written. */
export interface FragmentUse {
  readonly hits: number
  readonly misses: number
}

/** What one field reads, over all rows: a root field, or a relation below one. */
export interface ExplainedField {
  /** The response keys from the root, without connections and edges: `deployments.pods`. */
  readonly path: string
  readonly types: readonly string[]
  /** The number of pages and look-ups. */
  readonly reads: number
  /**
   * `null` if the viewer may not see all objects of the kinds: how the server reads reveals how many objects are hidden.
   * The other fields about the read, except `order`, are then `null`, too.
   */
  readonly access: readonly Access[] | null
  /** Parts of conditions that postings answered, so that only matching objects were examined. */
  readonly postings: readonly string[] | null
  /** Parts that were tested on each value of their index. */
  readonly values: readonly string[] | null
  /** Parts that were tested on each examined object. */
  readonly tested: readonly string[] | null
  /** Relations in conditions, followed from the filtered objects: `Node.pods`. */
  readonly forwards: readonly string[] | null
  /** Relations in conditions, read backwards from the related objects. */
  readonly backwards: readonly string[] | null
  readonly order: readonly string[]
  /** Whether objects were tested one by one, because no posting was small enough or there was none. */
  readonly scanned: boolean | null
  readonly examined: number | null
  readonly tests: number | null
  readonly returned: number
}

/** One kind that was read from its cache, and the lag of the cache. */
export interface ExplainedKind {
  readonly cluster: string
  readonly type: string
  readonly state: CacheStateName
  /** `null` if the viewer may not list all of them. */
  readonly objects: number | null
  readonly resourceVersion: string | null
  readonly lagMs: number | null
}

/** `extensions.explain` of an answer: how the server answered. */
export interface Explanation {
  readonly answeredBy: 'plan'
  /** `null` for frames, which are written for all subscribers. */
  readonly fragments: FragmentUse | null
  readonly fields: readonly ExplainedField[]
  readonly types: readonly ExplainedKind[]
}

export interface Explained {
  readonly served: ServedSchema
  readonly report: ReadReport
  /** The prepared kinds, read or not. */
  readonly kinds: readonly ClusterKind[]
  /** `undefined`: the viewer may see everything. */
  readonly access: ViewerAccess | undefined
  readonly fragments?: FragmentUse
}

export function explain({ served, report, kinds, access, fragments }: Explained): Explanation {
  /** The kinds in memory, by store. */
  const cached = new Map<StoreView, ClusterKind>()
  for (const [cluster, cache] of served.clusters) {
    for (const kind of served.kinds.values()) {
      const view = cache.synced(kind.resource)
      if (view !== undefined) cached.set(view, { cluster, kind })
    }
  }
  const fields = report.fields()
  const read = fields.flatMap(({ views }) => [...views].flatMap((view) => cached.get(view) ?? []))
  return {
    answeredBy: 'plan',
    fragments: fragments ?? null,
    fields: fields.map((field) => explainedField(field, cached, access)),
    types: explainedKinds(served, [...kinds, ...read], access),
  }
}

function explainedField(
  {
    place,
    views,
    access,
    postings,
    values,
    tested,
    forwards,
    backwards,
    order,
    ...counts
  }: FieldReads,
  cached: ReadonlyMap<StoreView, ClusterKind>,
  viewer: ViewerAccess | undefined,
): ExplainedField {
  const { examined, tests } = counts
  const isWhole = [...views].every((view) => {
    const at = cached.get(view)
    return at !== undefined && (viewer === undefined || viewer.looks(at) === true)
  })
  const shown = <T>(one: T): T | null => (isWhole ? one : null)
  return {
    path: place,
    types: [...views].flatMap((view) => cached.get(view)?.kind.typeName ?? []).toSorted(),
    access: shown([...access]),
    postings: shown([...postings]),
    values: shown([...values]),
    tested: shown([...tested]),
    forwards: shown([...forwards]),
    backwards: shown([...backwards]),
    order: [...order],
    scanned: shown(access.has('scan')),
    ...counts,
    examined: shown(examined),
    tests: shown(tests),
  }
}

/** How much of a kind a viewer may list, as far as the server knows. */
function listedOf(at: ClusterKind, access: ViewerAccess | undefined): 'all' | 'some' | 'none' {
  if (access === undefined) return 'all'
  const listed = access.list(at)
  if (typeof listed === 'string' || listed instanceof ClientError) return 'none'
  return listed.form === 'all' ? 'all' : 'some'
}

function explainedKinds(
  { clusters }: ServedSchema,
  kinds: readonly ClusterKind[],
  access: ViewerAccess | undefined,
): readonly ExplainedKind[] {
  const wanted = new Map(kinds.map((at) => [keyOf(at.cluster, at.kind.resource), at]))
  return Array.from(clusters, ([cluster, cache]) =>
    cache.states().flatMap(({ resource, state, objects, resourceVersion, lagMs }) => {
      const at = wanted.get(keyOf(cluster, resource))
      // A viewer who may only look up objects by name does not learn their number.
      const seen = at === undefined ? 'none' : listedOf(at, access)
      if (at === undefined || seen === 'none') return []
      const type = at.kind.typeName
      const counted = seen === 'all' ? objects : null
      return [{ cluster, type, state, objects: counted, resourceVersion, lagMs }]
    }),
  ).flat()
}

function keyOf(cluster: string, resource: ApiResource): string {
  return `${cluster}/${versionedResourceOf(resource)}`
}

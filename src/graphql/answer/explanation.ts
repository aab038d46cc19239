import { apiVersionOf, type ApiResource } from '../../kubernetes/api-resource.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import type { Access, FieldReads, ReadReport } from '../../query/condition/read-report.ts'
import type { CacheStateName } from '../../cache/cached-resource.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'

/** How often the text of an object's own fields was at hand, and how often it had to be written. */
export interface FragmentUse {
  readonly hits: number
  readonly misses: number
}

/** What one field has read, on all rows that it was asked of: a root field, or a relation below one. */
export interface ExplainedField {
  /** Response keys from the root, without those of connections: `deployments.pods`. */
  readonly path: string
  readonly kinds: readonly string[]
  /** Pages and look-ups. */
  readonly reads: number
  /**
   * `null` where the viewer may not see all of what was examined, as is all that is told of the way but `order`: which way was the
   * cheaper one says how much there is that they do not see.
   */
  readonly access: readonly Access[] | null
  /** Parts of the condition that postings of an index answered: only their objects were examined. */
  readonly postings: readonly string[] | null
  /** Parts whose index had each of its values tried. */
  readonly values: readonly string[] | null
  /** Parts that were tried on each object examined. */
  readonly tested: readonly string[] | null
  /** Relations by which conditions on other objects were answered, from the objects that are asked about: `Node.pods`. */
  readonly forwards: readonly string[] | null
  /** The same, from the other objects. */
  readonly backwards: readonly string[] | null
  readonly order: readonly string[]
  /** Whether objects were walked and tried one by one, since no posting was small enough, or there is none. */
  readonly scanned: boolean | null
  readonly examined: number | null
  readonly tests: number | null
  readonly returned: number
}

/** One kind that was read from its cache, and how far that is behind. */
export interface ExplainedKind {
  readonly cluster: string
  readonly kind: string
  readonly state: CacheStateName
  /** `null` also where the viewer may not see all of them. */
  readonly objects: number | null
  readonly resourceVersion: string | null
  readonly lagMs: number | null
}

/** `extensions.explain` of an answer: how it was come by. */
export interface Explanation {
  readonly answeredBy: 'plan' | 'graphql-js'
  /** Of plans; graphql-js keeps no texts. */
  readonly fragments: FragmentUse | null
  readonly fields: readonly ExplainedField[]
  readonly kinds: readonly ExplainedKind[]
}

/** What an explanation is made of, besides what was read. */
export interface Explained {
  readonly served: ServedSchema
  readonly report: ReadReport
  /** The kinds that were prepared, read or not. */
  readonly kinds: readonly ClusterKind[]
  /** What the viewer may see; `undefined`: everything. */
  readonly access: ViewerAccess | undefined
  /** `undefined`: graphql-js has answered. */
  readonly fragments?: FragmentUse | undefined
}

/** Explains an answer, in the tick in which it was made. */
export function explain({ served, report, kinds, access, fragments }: Explained): Explanation {
  const cached = cachedKinds(served)
  const fields = report.fields()
  const read = fields.flatMap(({ views }) => [...views].flatMap((view) => cached.get(view) ?? []))
  return {
    answeredBy: fragments === undefined ? 'graphql-js' : 'plan',
    fragments: fragments ?? null,
    fields: fields.map((field) => explainedField(field, cached, access)),
    kinds: explainedKinds(served, [...kinds, ...read], access),
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
    return at !== undefined && (viewer === undefined || viewer.looksEverywhere(at) === true)
  })
  const told = <T>(one: T): T | null => (isWhole ? one : null)
  return {
    path: place,
    kinds: [...views].flatMap((view) => cached.get(view)?.kind.typeName ?? []).toSorted(),
    access: told([...access]),
    postings: told([...postings]),
    values: told([...values]),
    tested: told([...tested]),
    forwards: told([...forwards]),
    backwards: told([...backwards]),
    order: [...order],
    scanned: told(access.has('scan')),
    ...counts,
    examined: told(examined),
    tests: told(tests),
  }
}

/** The kinds that are in memory, by their stores. */
function cachedKinds({ clusters, kinds }: ServedSchema): ReadonlyMap<StoreView, ClusterKind> {
  const cached = new Map<StoreView, ClusterKind>()
  for (const [cluster, cache] of clusters) {
    for (const kind of kinds.values()) {
      const view = cache.synced(kind.resource)
      if (view !== undefined) cached.set(view, { cluster, kind })
    }
  }
  return cached
}

/** How much of a kind a viewer may list, as far as that is known. */
function listedOf(at: ClusterKind, access: ViewerAccess | undefined): 'all' | 'some' | 'none' {
  if (access === undefined) return 'all'
  const list = access.list(at, { watch: false })
  if (list.state !== 'allowed') return 'none'
  return list.scope.form === 'all' ? 'all' : 'some'
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
      // Who may only look at objects by their names is not told how many there are.
      const seen = at === undefined ? 'none' : listedOf(at, access)
      if (at === undefined || seen === 'none') return []
      const kind = at.kind.typeName
      const counted = seen === 'all' ? objects : null
      return [{ cluster, kind, state, objects: counted, resourceVersion, lagMs }]
    }),
  ).flat()
}

function keyOf(cluster: string, resource: ApiResource): string {
  return `${cluster}/${apiVersionOf(resource)}/${resource.resource}`
}

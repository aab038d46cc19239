import type { ProblemSeverity } from '../../kubernetes/problems/problem-fact.ts'
import type { Where } from '../../query/condition/where.ts'
import type { CompletionTerm } from '../../query/page/completions.ts'

/** One key of an order: exactly one member, the name of an index, with its direction. */
export type OrderKey = Readonly<Record<string, 'ASC' | 'DESC'>>

/** The filters of a list, as GraphQL coerces them: an omitted argument is absent, any argument may be null. */
interface FilterArguments {
  readonly namespace?: string | null
  readonly namespaces?: readonly string[] | null
  /** In kubectl's syntax, not parsed. */
  readonly labelSelector?: string | null
  readonly where?: Where | null
}

/** The part of a list: its beginning, or with `last` its end. */
export interface PageArguments {
  readonly first?: number | null
  readonly after?: string | null
  readonly last?: number | null
  readonly before?: string | null
}

/** The arguments of `owned`. */
export interface OwnedArguments extends PageArguments {
  /** Type names of further kinds to look into. */
  readonly types?: readonly string[] | null
}

/** The arguments of `usedBy`. */
export interface UsedByArguments extends PageArguments {
  /** Type names of the only kinds to look into. */
  readonly types?: readonly string[] | null
}

/** The arguments of `facets`. */
export interface FacetArguments {
  /** Names of indexes, or `labels["app"]`. */
  readonly by: readonly string[]
  /** The number of values of each, at most. */
  readonly top?: number | null
  /** Names of indexes to add up for each value. */
  readonly sum?: readonly string[] | null
}

/** The arguments of `sum`. */
export interface SumArguments {
  /** Names of indexes. */
  readonly of: readonly string[]
}

/** The arguments of `GatewayCluster.resources`. */
export interface ResourcesArguments {
  /** True: only kinds with a cache. False: only kinds without. */
  readonly loaded?: boolean | null
  /** Counts only the objects of these, of kinds that live in namespaces. */
  readonly namespaces?: readonly string[] | null
}

/** The arguments of a to-many relation. Only one from a cluster-scoped to a namespaced kind takes namespaces. */
export interface RelationArguments extends FilterArguments, PageArguments {
  readonly orderBy?: readonly OrderKey[] | null
  /** For `events` only: whether to include events that name the object as related. */
  readonly related?: boolean | null
}

/** The arguments that say in which clusters a field looks: at most one of them. */
export interface ClusterArguments {
  /** The name of one cluster. */
  readonly cluster?: string | null
  /** The names of clusters; `*` stands for all. */
  readonly clusters?: readonly string[] | null
  /** A label selector over the clusters' labels, in kubectl's syntax. */
  readonly clusterSelector?: string | null
}

/** The filters of root fields. */
interface RootFilterArguments extends FilterArguments, ClusterArguments {
  /** The `id`s of objects. `[]` matches none. */
  readonly ids?: readonly string[] | null
}

/** The arguments of a root list field. */
export interface ListFieldArguments extends RootFilterArguments, RelationArguments {
  /** The number of objects to skip. */
  readonly offset?: number | null
}

/** The arguments of `podLogs`. */
export interface PodLogsArguments extends RootFilterArguments {
  readonly container?: string | null
  readonly previous?: boolean | null
  readonly tailLines?: number | null
  /** A time by RFC 3339, or a duration such as `15m`. */
  readonly since?: string | null
  readonly timestamps?: boolean | null
  readonly contains?: string | null
}

/** The arguments that name a kind. */
export interface KindArguments {
  /** Absent: any group, if one alone has the kind. */
  readonly group?: string | null
  /** The kind as the API writes it, or the plural name of its resource. */
  readonly kind: string
}

/** The arguments of a list whose kind is not known to the schema: the types of the kind do not check them. */
export interface UntypedArguments {
  readonly namespace?: string | null
  readonly namespaces?: readonly string[] | null
  readonly where?: unknown
  readonly orderBy?: readonly unknown[] | null
}

/** The arguments of `objectList`. */
export interface ObjectListArguments
  extends
    KindArguments,
    UntypedArguments,
    Omit<ListFieldArguments, keyof UntypedArguments | 'related'> {}

/** The arguments of `kubernetesObjects`. */
export interface KubernetesObjectsArguments extends ClusterArguments, PageArguments {
  /** Kinds, types or resources; `*.GROUP` and `*` are patterns. */
  readonly kinds: readonly string[]
  readonly namespace?: string | null
  readonly namespaces?: readonly string[] | null
  readonly labelSelector?: string | null
  readonly where?: Where | null
  readonly orderBy?: readonly OrderKey[] | null
  readonly offset?: number | null
}

/** The arguments of a root look-up field. Those of namespaced kinds take `namespace`. */
export interface LookupArguments {
  readonly cluster?: string | null
  readonly namespace?: string
  readonly name: string
  /** For queries only. */
  readonly live?: boolean | null
}

/** The arguments of `objectByRef`. */
export interface ObjectByRefArguments {
  readonly cluster?: string | null
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | null
  readonly name: string
}

/** The further arguments of subscriptions. */
export interface StreamArguments {
  readonly resumeFrom?: string | null
  readonly coalesceMs?: number | null
}

/** The arguments of a subscription to a list. */
export interface ListSubscriptionArguments extends RootFilterArguments, StreamArguments {}

/** The arguments of a live page. */
export interface LivePageArguments extends ListSubscriptionArguments {
  readonly first?: number | null
  readonly orderBy?: readonly OrderKey[] | null
}

/** The arguments of a subscription to counts and sums. */
export interface FacetSubscriptionArguments
  extends ListSubscriptionArguments, Omit<FacetArguments, 'by'> {
  readonly by?: readonly string[] | null
}

/** The arguments of a subscription to counts and sums of a list whose kind they name. */
export interface ObjectListFacetsArguments
  extends ObjectListSubscriptionArguments, Omit<FacetArguments, 'by'> {
  readonly by?: readonly string[] | null
}

/** The arguments of a subscription to one object. */
export type LookupSubscriptionArguments = LookupArguments & StreamArguments

/** The arguments of a subscription to one object of any kind by its `id`. */
export interface ObjectSubscriptionArguments extends StreamArguments {
  readonly id: string
}

/** The arguments of a subscription to objects of several kinds and clusters. */
export interface ObjectsSubscriptionArguments extends StreamArguments {
  readonly ids: readonly string[]
}

/** The arguments of a subscription to a list whose kind they name. */
export interface ObjectListSubscriptionArguments
  extends KindArguments, UntypedArguments, Omit<LivePageArguments, keyof UntypedArguments> {}

/** The arguments of a subscription to objects of several kinds, or to their first ones in an order. */
export interface KubernetesObjectsSubscriptionArguments
  extends
    Omit<KubernetesObjectsArguments, 'after' | 'last' | 'before' | 'offset'>,
    StreamArguments {}

/** The arguments of a subscription to one object of any kind by its name. */
export interface ObjectByRefSubscriptionArguments extends ObjectByRefArguments, StreamArguments {}

/** The arguments of `graph`. */
export interface GraphArguments {
  /** `id`s of objects. */
  readonly roots: readonly string[]
  readonly depth?: number | null
  /** Names of relations: `Pod.node`, or `pods` of every type. */
  readonly relations?: readonly string[] | null
  readonly maxNodes?: number | null
}

/** The arguments that say where `search` and `complete` look. */
export interface SearchedPlaces extends ClusterArguments {
  /** Type names. */
  readonly types?: readonly string[] | null
  readonly namespaces?: readonly string[] | null
}

/** The arguments of `search`. */
export interface SearchArguments extends SearchedPlaces {
  readonly text: string
  readonly first?: number | null
  readonly after?: string | null
}

/** The arguments of `problems`. */
export interface ProblemsArguments extends ClusterArguments {
  readonly namespace?: string | null
  readonly namespaces?: readonly string[] | null
  /** Type names. */
  readonly types?: readonly string[] | null
  readonly severity?: readonly ProblemSeverity[] | null
  readonly orderBy?: readonly OrderKey[] | null
  readonly first?: number | null
  readonly after?: string | null
}

/** The arguments of a subscription to problems. */
export interface ProblemsSubscriptionArguments extends Omit<ProblemsArguments, 'after'> {
  readonly coalesceMs?: number | null
}

/** The arguments of `Problem.objects`. */
export interface ProblemObjectsArguments {
  readonly first?: number | null
}

/** The arguments of `complete`. */
export interface CompleteArguments extends SearchedPlaces {
  readonly text: string
  readonly terms?: readonly CompletionTerm[] | null
  readonly first?: number | null
}

/** The arguments of `can` of an object. */
export interface ObjectCanArguments {
  readonly verb: string
  readonly subresource?: string | null
}

/** The arguments of `Viewer.namespaces`. */
export interface NamespacesArguments {
  /** A type name. Absent: any of the common kinds. */
  readonly type?: string | null
  readonly cluster?: string | null
}

/** The arguments of the root field `can`: exactly one of `type` and `resource`. */
export interface CanArguments extends ObjectCanArguments {
  readonly cluster?: string | null
  /** A type name. */
  readonly type?: string | null
  /** `deployments.apps`. */
  readonly resource?: string | null
  readonly namespace?: string | null
  readonly name?: string | null
}

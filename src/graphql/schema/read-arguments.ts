import type { Where } from '../../query/condition/where.ts'

/** Which way one key of an order goes: exactly one member, the name of an index. */
export type OrderKey = Readonly<Record<string, 'ASC' | 'DESC'>>

/** What narrows and orders a list. As GraphQL coerces it: an argument that is not given is absent, one may be null. */
interface FilterArguments {
  readonly namespace?: string | null
  readonly namespaces?: readonly string[] | null
  /** kubectl's syntax, not yet parsed. */
  readonly labelSelector?: string | null
  readonly where?: Where | null
}

/** Which part of a list: its beginning, or where `last` is given its end. */
export interface PageArguments {
  readonly first?: number | null
  readonly after?: string | null
  readonly last?: number | null
  readonly before?: string | null
}

/** The arguments of `owned`. */
export interface OwnedArguments extends PageArguments {
  /** Type names of kinds to look into besides. */
  readonly kinds?: readonly string[] | null
}

/** The arguments of `usedBy`. */
export interface UsedByArguments extends PageArguments {
  /** Type names of the kinds to look into instead of all. */
  readonly kinds?: readonly string[] | null
}

/** The arguments of `facets`. */
export interface FacetArguments {
  /** Names of indexes, or `labels["app"]`. */
  readonly by: readonly string[]
  /** At most so many values of each. */
  readonly top?: number | null
}

/** The arguments of a to-many relation. `namespace(s)` are there only where a cluster-scoped kind leads to a namespaced one. */
export interface RelationArguments extends FilterArguments, PageArguments {
  readonly orderBy?: readonly OrderKey[] | null
  /** Only of `events`: also those that name the object as related. */
  readonly related?: boolean | null
}

/** What only root fields take to choose objects. */
interface RootFilterArguments extends FilterArguments {
  readonly cluster?: string | null
  /** The `id`s of objects; `[]` holds for none. */
  readonly ids?: readonly string[] | null
}

/** The arguments of a root list field. */
export interface ListFieldArguments extends RootFilterArguments, RelationArguments {}

/** The arguments of a root look-up field; `namespace` is there for namespaced kinds. */
export interface LookupArguments {
  readonly cluster?: string | null
  readonly namespace?: string
  readonly name: string
  /** Only of queries. */
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

/** What subscriptions take besides. */
interface StreamArguments {
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

/** The arguments of a subscription to one object. */
export type LookupSubscriptionArguments = LookupArguments & StreamArguments

/** The arguments of `graph`. */
export interface GraphArguments {
  /** `id`s of objects. */
  readonly roots: readonly string[]
  readonly depth?: number | null
  /** Names of relations: `Pod.node`, or `pods` of every type. */
  readonly relations?: readonly string[] | null
  readonly maxNodes?: number | null
}

/** The arguments of `search`. */
export interface SearchArguments {
  readonly text: string
  /** Type names. */
  readonly kinds?: readonly string[] | null
  readonly namespaces?: readonly string[] | null
  readonly cluster?: string | null
  readonly first?: number | null
  readonly after?: string | null
}

/** The arguments of `can` of an object. */
export interface ObjectCanArguments {
  readonly verb: string
  readonly subresource?: string | null
}

/** The arguments of the root field `can`: exactly one of `kind` and `resource`. */
export interface CanArguments extends ObjectCanArguments {
  readonly cluster?: string | null
  /** A type name. */
  readonly kind?: string | null
  /** `deployments.apps`. */
  readonly resource?: string | null
  readonly namespace?: string | null
  readonly name?: string | null
}

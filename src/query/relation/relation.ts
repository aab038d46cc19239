import type { Indexers, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { Condition, RelatedHop, RelatedOrigin, RelatedPart } from '../condition/condition.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import type { RelationDefinition } from './relation-definition.ts'

/** The object from which a relation is followed, within one tick. */
export interface RelationOrigin extends RelatedOrigin {
  /** The object, if it is decoded already. */
  readonly object?: KubernetesObject | undefined
  /** For Events only: whether to include those that name the object as related. */
  readonly withRelated?: boolean
  /** Steps already taken from this object; absent: they are not remembered. */
  readonly steps?: RelationSteps | undefined
}

/** Remembers where relations led, within one tick. */
export interface RelationSteps {
  /** Takes a step. The budget pays for new ones. */
  take(relation: Relation, origin: RelationOrigin): FollowedStep
}

/** The objects that a relation leads to from one object. */
export interface FollowedStep {
  readonly condition: Condition
  /** The visible objects. The budget pays for the search. */
  ids(part: RelatedPart, budget: WorkBudget): readonly ObjectId[]
}

/** Decodes the object from which a relation is followed, if needed. The budget pays for that. */
export function originObject({ view, id, object, budget }: RelationOrigin): KubernetesObject {
  if (object !== undefined) return object
  budget.spend('rows', 1)
  return view.object(id)
}

/** A compiled relation. */
export interface Relation {
  readonly definition: RelationDefinition
  /** The types besides `from` whose stores must be synced and readable; the last is `to`. */
  readonly reads: readonly string[]
  /** The indexes that it needs, besides those of every store, by type. */
  readonly indexers: IndexersByType
  /** Indexes that make it faster, by type. */
  readonly shortcuts?: IndexersByType
  /** The key of the only object that it leads from, for the inverse of a relation to a single object. */
  readonly only?: string
  /** An index on the store of `from` whose values are exactly the keys of the related objects. */
  readonly keysIndex?: string
  /** Whether it leads to the same objects from all objects of one namespace with the same labels. */
  readonly ofSiblings?: boolean
  /**
   * The related objects: a condition on the store of `to`, valid within the tick, to be combined with filters, a Scope
   * and a page. `nothing` if there are none.
   */
  follow(origin: RelationOrigin): Condition
  /** Follows the relation from several objects of the store at once. */
  followAll?(
    origin: Omit<RelationOrigin, 'id' | 'object' | 'view'> & { readonly view: StoreView },
    ids: readonly ObjectId[],
  ): Condition
}

/** A relation read backwards. */
export interface RelationInverse {
  /** Whether it never leaves the namespace of its start. */
  readonly isLocal: boolean
  /**
   * The objects that lead to the target: a condition on the store of `from`. Returns `undefined` if that store lacks
   * the index; absent if there is no such index.
   */
  readonly followBack?: (target: RelationOrigin, from: StoreView) => Condition | undefined
  /** The indexes that `followBack` needs. */
  readonly backIndexers?: IndexersByType
  /** One step, or several if the relation goes through other types. */
  readonly hops: readonly RelatedHop[]
}

/** A relation with its inverse, as far as indexes allow. */
export type TwoWayRelation = Relation & RelationInverse

export type IndexersByType = Readonly<Record<string, Indexers>>

/** What compiling a relation requires to know of the cluster. */
export interface RelationContext {
  /** Whether the objects of a type are namespaced. */
  isNamespaced(type: string): boolean
  /** The API group and kind of a type; `undefined` for types that are not kinds. */
  groupKindOf?(type: string): GroupKind | undefined
}

/** How references name a kind. */
export interface GroupKind {
  readonly group: string
  readonly kind: string
}

/**
 * Returns a test for objects of a store with the same namespace and labels. It reads no keys, because they are spread
 * over memory.
 */
export function siblingsOf(view: StoreView, one: ObjectId): (other: ObjectId) => boolean {
  const namespaces = view.index('namespace')
  return (other) => view.hasSameLabels(one, other) && namespaces.isSame(one, other)
}

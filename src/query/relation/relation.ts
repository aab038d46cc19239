import type { Indexers, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { Condition } from '../condition/condition.ts'
import type { RelatedHop, RelatedOrigin, RelatedPart } from '../condition/related-by.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import type { RelationDefinition } from './relation-definition.ts'

/** The object that a relation is followed from, within one tick. */
export interface RelationOrigin extends RelatedOrigin {
  /** The object itself, where it is decoded already. */
  readonly object?: KubernetesObject | undefined
  /** Of Events only: whether also those count which name the object as related. */
  readonly withRelated?: boolean
  /** Where relations led from this object already; absent: nobody remembers. */
  readonly steps?: RelationSteps | undefined
}

/** Where relations lead from objects, remembered within one tick. */
export interface RelationSteps {
  /** Where a relation leads; paid for where it is new. */
  take(relation: Relation, origin: RelationOrigin): FollowedStep
}

/** Where a relation leads from one object. */
export interface FollowedStep {
  readonly condition: Condition
  /** The objects that meet the condition and may be seen; paid for where they are looked for. */
  ids(part: RelatedPart, budget: WorkBudget): readonly ObjectId[]
}

/** The object that a relation is followed from; where it has to be decoded, that is paid for. */
export function originObject({ view, id, object, budget }: RelationOrigin): KubernetesObject {
  if (object !== undefined) return object
  budget.spend('rows', 1)
  return view.object(id)
}

/** A relation, ready to be followed. */
export interface Relation {
  readonly definition: RelationDefinition
  /** The types, besides `from`, whose stores must be synced and readable before it is followed; the last is `to`. */
  readonly reads: readonly string[]
  /** The indexes that it needs besides those which every store has, by the type of the store. */
  readonly indexers: IndexersByType
  /** Indexes that it can do without, and is faster with. */
  readonly shortcuts?: IndexersByType
  /** The key of the only object that it leads from, where it is read backwards from one that all others mean. */
  readonly only?: string
  /** The index on the store of `from`, where there is one, whose values are the keys of what it leads to, and nothing else is. */
  readonly keysIndex?: string
  /** Whether it leads to the same objects from all that are in one namespace and have the same labels. */
  readonly ofSiblings?: boolean
  /**
   * What the related objects have in common: a condition on the store of `to`, valid within the tick, to be combined
   * with filters, a Scope and a page. Where the related objects are none, it is `nothing`.
   */
  follow(origin: RelationOrigin): Condition
  /** The same of several objects of the store at once, for relations that siblings have in common. */
  followAll?(
    origin: Omit<RelationOrigin, 'id' | 'object' | 'view'> & { readonly view: StoreView },
    ids: readonly ObjectId[],
  ): Condition
}

/** A relation read the other way, from an object that it leads to. */
export interface RelationInverse {
  /** Whether it never leaves the namespace of the object that it starts from. */
  readonly isLocal: boolean
  /**
   * Which objects lead to this one: a condition on the store of `from`. `undefined` where that store lacks the index to tell;
   * absent where no index tells.
   */
  readonly followBack?: (target: RelationOrigin, from: StoreView) => Condition | undefined
  /** The indexes that it needs for that. */
  readonly backIndexers?: IndexersByType
  /** Each of its steps: one, or several where it goes through other types. */
  readonly hops: readonly RelatedHop[]
}

/** A relation that can be read both ways, as far as indexes tell. */
export type TwoWayRelation = Relation & RelationInverse

/** Indexes by the type of the store. */
export type IndexersByType = Readonly<Record<string, Indexers>>

/** What a compiler of relations must know of the cluster. */
export interface RelationContext {
  /** Whether the objects of a type live in namespaces. */
  isNamespaced(type: string): boolean
  /** The API group and kind of a type; `undefined` for types that are no kinds. */
  groupKindOf?(type: string): GroupKind | undefined
}

/** What references name a kind by. */
export interface GroupKind {
  readonly group: string
  readonly kind: string
}

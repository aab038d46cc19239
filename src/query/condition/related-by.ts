import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { Condition } from './condition.ts'
import type { Scope } from './scope.ts'
import type { WorkBudget } from './work-budget.ts'

/** A relation is followed from one object in the time of so many tests. */
export const testsPerStep = 15

/** Where an object stands that a relation is followed from: a store, or a state of the object that no store holds any more. */
export interface OriginView extends Pick<
  StoreView,
  'resource' | 'keyOf' | 'uidOf' | 'hasIndex' | 'labelsOf' | 'object'
> {
  index(name: string): Pick<IndexView, 'valuesOf'>
}

/** An object that others are related to, within one tick. */
export interface RelatedOrigin {
  readonly view: OriginView
  readonly id: ObjectId
  /** What may be read of a type among those that the relation reads. */
  readonly part: (type: string) => RelatedPart
  readonly budget: WorkBudget
  /** How many objects may still be looked at on a way back of several steps; absent: any number. */
  readonly allowance?: Allowance | undefined
}

/** A number that goes down as it is used. */
export interface Allowance {
  left: number
}

/** One step of a relation, from objects of one type to those of another, as it is read backwards. */
export interface RelatedHop {
  readonly from: string
  readonly to: string
  /**
   * Which objects lead to one in this step alone: a condition on the store of `from`. `undefined` where that store has no index to
   * tell; absent where none tells.
   */
  readonly followBack?:
    | ((target: RelatedOrigin, from: StoreView) => Condition | undefined)
    | undefined
}

/** How objects are related to others: all that a condition on those others must know of a relation. */
export interface RelatedBy {
  /** `Node.pods`. */
  readonly name: string
  /** The type of the objects that it starts from. */
  readonly from: string
  /** The type of those that it leads to. */
  readonly to: string
  /** The types that are read to follow it, `from` among them, with the indexes that they are read by. */
  readonly indexes: ReadonlyMap<string, RelatedIndexes>
  /** Whether it never leaves the namespace of the object that it starts from. */
  readonly isLocal: boolean
  /** Where it leads from an object: a condition on the store of `to`. */
  follow(origin: RelatedOrigin): Condition
  /** Its steps: one, or several where it goes through other types. */
  readonly hops: readonly RelatedHop[]
  /**
   * The same read backwards: which objects lead to one, a condition on the store of `from`. `undefined` where that store has no
   * index to tell, or where that would look at more objects than the target's allowance.
   */
  followBack?(target: RelatedOrigin, from: StoreView): Condition | undefined
}

/** Indexes of a store, by name. */
export interface RelatedIndexes {
  readonly needed: readonly string[]
  /** Those that it can be read backwards by. */
  readonly useful: readonly string[]
}

/** A kind that a condition on related objects rests on: its store, and what of it the viewer may see. */
export interface RelatedPart {
  readonly view: StoreView
  readonly scope: Scope
}

/** What conditions on related objects read in one execution. */
export interface RelatedStores {
  /**
   * A type that a relation reads. Throws where it cannot be read: then nothing is known of who is related to whom. `argument` is
   * the one that asks.
   */
  part(type: string, relation: RelatedBy, argument: string): RelatedPart
  /** Whether there can be objects of a type at all; where not, nothing is related to them. */
  has(type: string): boolean
  /** The error of a condition that rests on objects which the viewer may not see all of. */
  outOfSight(type: string, argument: string): Error
  /** What has been found out about a condition, by the store of the objects that are asked about; nothing once a part has changed. */
  known(condition: Condition): Map<StoreView, object>
}

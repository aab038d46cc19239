import type { ApiResource } from '../../kubernetes/api-resource.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import type { HeldObject, Projection } from '../codec/object-codec.ts'
import type { ObjectSelection } from '../codec/projection.ts'

/**
 * The number of an object in its store: small, dense, used again after the object is gone. Valid within one tick
 * only; what must outlive a tick keeps the key or the UID.
 */
export type ObjectId = number

/** The ids of the objects that have one value in one index, in no particular order. */
export interface PostingView {
  readonly size: number
  [Symbol.iterator](): IterableIterator<ObjectId>
}

/** One index of a store, from each value to the objects that have it. */
export interface IndexView {
  readonly name: string
  /** How many objects have at least one value. */
  readonly objectCount: number
  /** The objects with this value; `undefined` where there are none. */
  posting(value: string): PostingView | undefined
  /** Whether the object has the value: constant time. */
  has(id: ObjectId, value: string): boolean
  /** Whether two objects have one value each, or none, and the same one. */
  isSame(one: ObjectId, other: ObjectId): boolean
  /** The values of one object. */
  valuesOf(id: ObjectId): readonly string[]
  /** The least of one object's values, or the greatest; `undefined` where it has none. */
  endValue(id: ObjectId, greatest: boolean): string | undefined
  /** All values that at least one object has, in no particular order. */
  values(): IterableIterator<string>
  /**
   * The same in the order of UTF-16 code units, or in the opposite one: from a value on, itself included where an object
   * has it, or all. Beginning costs a search. The order is kept from the first call on; that call sorts all values.
   */
  orderedValues(from: string | undefined, descending: boolean): IterableIterator<string>
}

/**
 * A store as its readers see it. Everything is synchronous: what is read within one tick is one moment of the
 * resource. Objects are decoded on demand and are not to be kept beyond the tick.
 */
export interface StoreView<T extends KubernetesObject = KubernetesObject> {
  readonly resource: ApiResource
  readonly size: number
  /**
   * About how many bytes of memory its objects and indices take, what they share included. Reckoned, not measured: for
   * stores of some thousand objects within a third of what the process uses for them. While a list is being received
   * and compared, what it brings comes on top.
   */
  readonly heldBytes: number
  /** The position of the last applied list, event or bookmark; `''` before the first list. */
  readonly resourceVersion: ResourceVersion
  idOf(key: string): ObjectId | undefined
  idOfUid(uid: string): ObjectId | undefined
  /** `namespace/name`, or `name`. */
  keyOf(id: ObjectId): string
  /** `''` for the few kinds without UIDs (metrics). */
  uidOf(id: ObjectId): string
  /**
   * The object as it is held. Its identity is the object's version: another one after each change, the same one for
   * as long as nothing has changed, also over a relist. Throws `RangeError` where no object has the id.
   */
  held(id: ObjectId): HeldObject
  /** See `ObjectCodec.projection`. */
  projection(selection: ObjectSelection): Projection
  /** The object, decoded. Throws `RangeError` where no object has the id. */
  object(id: ObjectId): T
  /** All ids in the order of namespace, then name (both by UTF-16 code units). */
  ids(): IterableIterator<ObjectId>
  /** The ids after `key` in the same order; `key` itself need not exist. */
  idsAfter(key: string): IterableIterator<ObjectId>
  /** The ids before `key` in the opposite order, the last one first; of all where there is no key. */
  idsBefore(key: string | undefined): IterableIterator<ObjectId>
  /** An index by its name; throws `UnknownIndexError`. */
  index(name: string): IndexView
  hasIndex(name: string): boolean
  /** The names of its indexes. */
  indexNames(): readonly string[]
  /** The built-in index of one label key: value to objects. `undefined` where no object has the key. */
  label(key: string): IndexView | undefined
  /** The label keys that at least one object has, in no particular order. */
  labelKeys(): IterableIterator<string>
  /** The labels of an object, from their indexes: it is not decoded. */
  labelsOf(id: ObjectId): Readonly<Record<string, string>>
  /** Whether two objects have the same labels, without reading them; of two whose labels nobody else has it may say no. */
  hasSameLabels(one: ObjectId, other: ObjectId): boolean
}

/**
 * The indexes that every store has: `namespace`, `name`, `uid`, `ownerUid` (each owner's UID) and, outside
 * {@link StoreView.index}, one per label key.
 */
export const builtInIndexes = ['namespace', 'name', 'uid', 'ownerUid'] as const

/** Computes the values of one object in one index. Must be pure. */
export type IndexFunction<T extends KubernetesObject = KubernetesObject> = (
  object: T,
) => readonly string[]

/** Index functions by index name, client-go's `Indexers`. */
export type Indexers<T extends KubernetesObject = KubernetesObject> = Readonly<
  Record<string, IndexFunction<T>>
>

import type { ApiResource } from '../../kubernetes/api-resource.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import type { HeldObject, Projection } from '../codec/object-codec.ts'
import type { ObjectSelection } from '../codec/projection.ts'
import type { CharacterSet } from './character-set.ts'

/**
 * The number of an object in its store: small, dense, and reused after the object is gone. Valid within one tick; keep
 * the key or the UID for longer.
 */
export type ObjectId = number

/** The ids of the objects with one value, in no particular order. */
export interface PostingView {
  readonly size: number
  [Symbol.iterator](): IterableIterator<ObjectId>
}

/** One index of a store. */
export interface IndexView {
  readonly name: string
  readonly objectCount: number
  /** The number of distinct values. */
  readonly size: number
  /** Grows whenever an object gets or loses a value. */
  readonly revision: number
  /** The objects with this value; `undefined` if there are none. */
  posting(value: string): PostingView | undefined
  /** Whether the object has the value. Constant time. */
  has(id: ObjectId, value: string): boolean
  /** Whether two objects both have no value, or the same single value. */
  isSame(one: ObjectId, other: ObjectId): boolean
  valuesOf(id: ObjectId): readonly string[]
  /** The least or greatest value of an object; `undefined` if it has none. */
  endValue(id: ObjectId, greatest: boolean): string | undefined
  /** All distinct values, in no particular order. */
  values(): IterableIterator<string>
  /**
   * All distinct values in UTF-16 order or the reverse, starting at `from` (inclusive) if given. Starting costs a
   * search. The first call sorts all values; the order is kept from then on.
   */
  orderedValues(from: string | undefined, descending: boolean): IterableIterator<string>
  /**
   * The distinct values that begin with `prefix`, ignoring case, in the order of their lower-case forms. Starting costs
   * a search. The first call sorts all values; the order is kept from then on.
   */
  terms(prefix: string): IterableIterator<string>
  /** The characters of the values, and perhaps more. The first call reads all values; the set is kept from then on. */
  characters(): Pick<CharacterSet, 'isLowerCase' | 'mayContain'>
}

/**
 * A store as its readers see it. Everything is synchronous: all reads within one tick see one moment of the resource.
 * Objects are decoded on demand; do not keep them beyond the tick.
 */
export interface StoreView<T extends KubernetesObject = KubernetesObject> {
  readonly resource: ApiResource
  readonly size: number
  /**
   * The approximate memory of the objects and indexes, including what they share. For stores of some thousand objects,
   * within a third of the actual use. A list being received or compared comes on top.
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
   * The object as it is held. Its identity is the object's version: it changes with every change of the object, and
   * only then, even across a relist. Throws `RangeError` if the id is unused.
   */
  held(id: ObjectId): HeldObject
  /** See `ObjectCodec.projection`. */
  projection(selection: ObjectSelection): Projection
  /** The object, decoded. Throws `RangeError` if the id is unused. */
  object(id: ObjectId): T
  /** All ids ordered by namespace, then name (both by UTF-16 code units). */
  ids(): IterableIterator<ObjectId>
  /** The ids behind `key` in that order; `key` need not exist. */
  idsAfter(key: string): IterableIterator<ObjectId>
  /** The ids before `key` in reverse order; all without a key. */
  idsBefore(key: string | undefined): IterableIterator<ObjectId>
  /** An index by name. Throws `UnknownIndexError`. */
  index(name: string): IndexView
  hasIndex(name: string): boolean
  indexNames(): readonly string[]
  /** The built-in index of a label key; `undefined` if no object has the key. */
  label(key: string): IndexView | undefined
  /** All label keys in use, in no particular order. */
  labelKeys(): IterableIterator<string>
  /** The labels of an object, from their indexes, without decoding it. */
  labelsOf(id: ObjectId): Readonly<Record<string, string>>
  /**
   * Whether two objects have the same labels, without reading them. May return false for two objects whose labels no
   * other object has.
   */
  hasSameLabels(one: ObjectId, other: ObjectId): boolean
}

/**
 * The indexes that every store has: `namespace`, `name`, `uid`, `ownerUid` (the UID of each owner). Label indexes come
 * on top, outside {@link StoreView.index}.
 */
export const builtInIndexes = ['namespace', 'name', 'uid', 'ownerUid'] as const

/** Computes the values of an object in an index. Must be pure. */
export type IndexFunction<T extends KubernetesObject = KubernetesObject> = (
  object: T,
) => readonly string[]

/** Index functions by name; client-go's `Indexers`. */
export type Indexers<T extends KubernetesObject = KubernetesObject> = Readonly<
  Record<string, IndexFunction<T>>
>

/** The functions of the indexes that every store has, besides one per label key. They accept objects of any shape. */
export const builtInIndexers: Readonly<Record<(typeof builtInIndexes)[number], IndexFunction>> = {
  namespace: ({ metadata }) => ownValue(metadata.namespace),
  name: ({ metadata }) => ownValue(metadata.name),
  uid: ({ metadata }) => ownValue(metadata.uid),
  ownerUid: ({ metadata }) => {
    const owners: unknown = metadata.ownerReferences
    if (!Array.isArray(owners)) return none
    return owners.flatMap((owner: { uid?: unknown } | null) => ownValue(owner?.uid))
  },
}

const none: readonly string[] = []

function ownValue(value: unknown): readonly string[] {
  return typeof value === 'string' && value !== '' ? [value] : none
}

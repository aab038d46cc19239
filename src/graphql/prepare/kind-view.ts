import type { WantedIndexes } from '../../cache/cached-resource.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { NameGate, Scope } from '../../query/condition/scope.ts'
import type { Kind } from '../model/kind.ts'

/** One kind in one cluster: what an operation needs to be synced before it reads it. */
export interface ClusterKind {
  /** The cluster's name. */
  readonly cluster: string
  readonly kind: Kind
  /** Indexes that are built when they are asked for: those that it is to be read by, and those that make that faster. */
  readonly indexes?: WantedIndexes | undefined
}

/** One kind in one cluster as one execution reads it: its store, and what of it the viewer may see. */
export interface KindView extends ClusterKind {
  readonly view: StoreView
  /** Which cluster the store is of, and which of its histories: positions in it mean nothing in another one. */
  readonly incarnation: string
  /** What may be listed. */
  readonly scope: Scope
  /** What may be looked up by its name besides; absent where that is nothing more. */
  readonly byName?: NameGate | undefined
  /** Whether its objects were read from the API server for one operation: the store holds these alone, without indexes of the kind. */
  readonly isDirect?: true
}

/** An object that is there and may be seen. */
export interface FoundObject {
  readonly part: KindView
  readonly id: ObjectId
}

/** How a kind is to be listed. */
export interface ListReading {
  /** The namespaces that nothing else is read of, where what is asked for says so: then only those are asked about. */
  readonly within?: (() => readonly string[] | undefined) | undefined
  /** Whether its changes are read, too. */
  readonly watch?: boolean
}

/**
 * The kinds that one execution reads, settled before it runs: made anew for each execution and each frame of a
 * subscription, so that no failure and no permission outlives its cause. Valid within one tick.
 */
export interface KindViews {
  /**
   * The part of a kind that is listed, counted, filtered or followed. Throws the `ClientError` of the field that wants it where
   * it cannot be read: FORBIDDEN where the viewer may list nothing of it. What nobody has waited for yet is noted besides,
   * for another round.
   */
  part(at: ClusterKind, reading?: ListReading): KindView
  /**
   * The part of a kind for looking up single objects, whose keys are given where they are known. `undefined` where the
   * viewer may look at none of them: to them, they are not there. Throws as {@link part} does where it cannot be read.
   */
  forLookup(at: ClusterKind, keys?: readonly string[]): KindView | undefined
}

/** The same, and what happens to be in memory. */
export interface CachedParts extends KindViews {
  /** The part of a kind that happens to be cached and synced, whoever wanted it, where the viewer may list something of it. */
  cachedPart(at: ClusterKind, reading?: ListReading): KindView | undefined
}

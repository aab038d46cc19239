/*
 * How later rooms see a kind of a cluster. `ClusterKind` names it, before anything is read. `KindView` is one execution's
 * view of it: the store, and the part of it that the viewer may see. `ReadParts` (`preparation.ts`) gives these views,
 * settled once for each execution: a failure or a permission must not outlive its cause, so nothing here may be kept
 * beyond the tick.
 */

import type { Coverage } from '../../cache/coverage.ts'
import type { WantedIndexes } from '../../cache/cached-resource.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { NameGate, Scope } from '../../query/condition/scope.ts'
import type { Kind } from '../model/kind.ts'

/** A kind that was read from a cache of some namespaces only, as `extensions.incomplete` shows it. */
export interface IncompleteKind {
  readonly cluster: string
  readonly type: string
  readonly code: 'NAMESPACE_NOT_CACHED'
  readonly message: string
  /** The namespaces that the answer covers; `null`: all but `excluded`. */
  readonly namespaces: readonly string[] | null
  readonly excluded: readonly string[]
}

/** One kind in one cluster, which an operation needs synced before it reads it. */
export interface ClusterKind {
  readonly cluster: string
  readonly kind: Kind
  /** Lazy indexes to build: indexes that the read needs, and indexes that make it faster. */
  readonly indexes?: WantedIndexes | undefined
  /** Whether the answer can do without the kind. The operation then waits for it only while its cluster can be reached. */
  readonly isOptional?: boolean | undefined
}

export interface KindView extends ClusterKind {
  readonly view: StoreView
  /** Names the cluster of the store and its history. Positions of another incarnation are invalid here. */
  readonly incarnation: string
  readonly scope: Scope
  /** Further objects that the viewer may look up by name; absent: none. */
  readonly byName?: NameGate | undefined
  /** The namespaces that the store covers; absent: all. The scope is within them. */
  readonly coverage?: Coverage | undefined
  /** The gap of a list without a namespace, within what the viewer may see; absent: no gap. */
  readonly lacking?: IncompleteKind | undefined
  /** Whether the store holds only objects read from the API server for one operation, without the kind's indexes. */
  readonly isDirect?: true
}

/** An existing object that the viewer may see. */
export interface FoundObject {
  readonly part: KindView
  readonly id: ObjectId
}

/** How an operation lists a kind. */
export interface ListReading {
  /** The namespaces that the request is limited to. Access is reviewed for these only. */
  readonly within?: (() => readonly string[] | undefined) | undefined
  /** Whether the operation also follows changes. */
  readonly watch?: boolean
  /** Whether a missing kind is prepared for another run. Default: true. */
  readonly prepares?: boolean
}

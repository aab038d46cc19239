/*
 * How later rooms see a kind of a cluster. `ClusterKind` names it, before anything is read. `KindView` is one execution's
 * view of it: the store, and the part of it that the viewer may see. `CachedParts` gives these views, settled once for
 * each execution: a failure or a permission must not outlive its cause, so nothing here may be kept beyond the tick.
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

/** The kinds that one execution or one frame reads. Valid within one tick. */
export interface CachedParts {
  /**
   * The part of a kind to list, count, filter or follow. Throws the `ClientError` of the field if the kind cannot be
   * read: FORBIDDEN if the viewer may list nothing of it. Notes a kind that is not prepared, for the next round.
   */
  part(at: ClusterKind, reading?: ListReading): KindView
  /**
   * The part of a kind for look-ups of single objects, by their keys if they are known. `undefined` if the viewer may
   * look up none of them: for the viewer, they do not exist. Throws as {@link part} does if the kind cannot be read.
   */
  forLookup(at: ClusterKind, keys?: readonly string[]): KindView | undefined
  /** The part of a kind if its store is synced and the viewer may list something of it. Does not load the kind. */
  cachedPart(at: ClusterKind, reading?: ListReading): KindView | undefined
}

export class ByKind<V> {
  readonly #values = new Map<string, Map<Kind, V>>()

  get({ cluster, kind }: ClusterKind): V | undefined {
    return this.#values.get(cluster)?.get(kind)
  }

  set({ cluster, kind }: ClusterKind, value: V): void {
    let kinds = this.#values.get(cluster)
    if (kinds === undefined) this.#values.set(cluster, (kinds = new Map<Kind, V>()))
    kinds.set(kind, value)
  }

  *values(): Generator<V, void, void> {
    for (const kinds of this.#values.values()) yield* kinds.values()
  }

  *kinds(): Generator<ClusterKind, void, void> {
    for (const [cluster, kinds] of this.#values) {
      for (const kind of kinds.keys()) yield { cluster, kind }
    }
  }

  clear(): void {
    this.#values.clear()
  }
}

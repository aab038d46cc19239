/** Why an object is no longer part of a list. */
export type Removal = 'DELETED' | 'UNMATCHED' | 'HIDDEN' | 'CLUSTER_REMOVED'

/** One change in a subscription frame, as the gateway sends it. */
export interface FrameChange<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED'
  /** The reason of a removal: the object is deleted, no longer matches, may no longer be seen, or its cluster is gone. */
  readonly removal?: Removal | null
  readonly objectId: string
  /** `null` in the removal of an object that the viewer may no longer see. */
  readonly object?: T | null
}

/** One frame of a subscription; ask for at least these fields. */
export interface Frame<T> {
  /** Drop all objects before applying the changes. */
  readonly reset: boolean
  /** Whether the snapshot is complete: true from then on until the next reset. */
  readonly synced: boolean
  readonly changes: readonly FrameChange<T>[]
  readonly resumeToken?: string
  /** Since when the rows may be out of date; `null` while they are not. */
  readonly staleSince?: string | null
  /** The clusters that are missing at this time, or whose objects may be out of date. */
  readonly incomplete?: readonly ClusterGap[]
}

/** One cluster whose objects an answer lacks, or has only as they were before the gateway lost contact. */
export interface ClusterGap {
  readonly cluster: string
  /** The type of the kind in the schema. */
  readonly type?: string
  /** `NOT_SERVED` if the cluster does not serve the kind; else the code of an error. */
  readonly code?: string
  readonly message?: string
  /** Since when the objects of the cluster may be out of date. */
  readonly since?: string | null
}

/**
 * Folds the frames of a subscription into a map of objects by id. Changes the map in place, so a frame costs as much as
 * its changes. Copy the map for renderers that compare by identity.
 */
export class FrameFold<T> {
  readonly #objects: Map<string, T>
  #hasBase: boolean
  #synced = false
  #resumeToken: string | undefined

  /**
   * `queried` are all nodes of the list whose `resumeToken` the subscription begins with. Absent: it begins with a
   * snapshot.
   */
  constructor(queried?: readonly (T & { readonly id: string })[]) {
    this.#objects = new Map(queried?.map((node) => [node.id, node]))
    this.#hasBase = queried !== undefined
  }

  get objects(): ReadonlyMap<string, T> {
    return this.#objects
  }

  /** Whether the snapshot has been complete since the last reset. */
  get synced(): boolean {
    return this.#synced
  }

  /** Whether these are all objects of the list, not only those that changed after a token. */
  get complete(): boolean {
    return this.#hasBase && this.#synced
  }

  /** The value of `resumeFrom` for the next subscription. */
  get resumeToken(): string | undefined {
    return this.#resumeToken
  }

  /** Applies one frame; returns the objects after it. */
  apply({ reset, synced, changes, resumeToken }: Frame<T>): ReadonlyMap<string, T> {
    if (reset) {
      this.#objects.clear()
      this.#hasBase = true
      this.#synced = false
    }
    for (const { type, objectId, object } of changes) {
      if (type === 'REMOVED') this.#objects.delete(objectId)
      else if (object !== undefined && object !== null) this.#objects.set(objectId, object)
    }
    this.#synced ||= synced
    this.#resumeToken = resumeToken ?? this.#resumeToken
    return this.#objects
  }
}

/**
 * The ids of objects that a normalising cache must evict: deleted objects, and those that the viewer may no longer see.
 * An object that only no longer matches stays in the cache.
 */
export function goneObjects({ changes }: Frame<unknown>): string[] {
  return changes.flatMap(({ type, objectId, removal }) =>
    type === 'REMOVED' && removal !== 'UNMATCHED' ? [objectId] : [],
  )
}

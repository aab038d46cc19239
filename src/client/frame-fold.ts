/** One change in a subscription frame, as the gateway sends it. */
export interface FrameChange<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED'
  /** Why it is REMOVED: it is gone, it no longer matches, the viewer may no longer see it. */
  readonly removal?: 'DELETED' | 'UNMATCHED' | 'HIDDEN' | null
  readonly objectId: string
  /** `null` in a removal whose object the viewer may no longer see. */
  readonly object?: T | null
}

/** One frame of a subscription; ask for at least these fields. */
export interface Frame<T> {
  /** Forget what you hold before applying the changes. */
  readonly reset: boolean
  /** The snapshot is complete: true from then on until the next reset. */
  readonly synced: boolean
  readonly changes: readonly FrameChange<T>[]
  readonly resumeToken?: string
}

/**
 * Folds the frames of a subscription into the objects that it is about, by their id. The map is changed in place, so a
 * frame costs as much as its changes; copy it where a renderer compares by identity.
 */
export class FrameFold<T> {
  readonly #objects = new Map<string, T>()
  #synced = false
  #resumeToken: string | undefined

  get objects(): ReadonlyMap<string, T> {
    return this.#objects
  }

  /** Whether the snapshot has been complete since the last reset. */
  get synced(): boolean {
    return this.#synced
  }

  /** What to pass as `resumeFrom` when subscribing again. */
  get resumeToken(): string | undefined {
    return this.#resumeToken
  }

  /** Applies one frame; returns the objects after it. */
  apply({ reset, synced, changes, resumeToken }: Frame<T>): ReadonlyMap<string, T> {
    if (reset) {
      this.#objects.clear()
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

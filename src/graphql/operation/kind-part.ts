import type { StoreView } from '../../informer/store/store-view.ts'
import type { Scope } from '../../query/condition/scope.ts'
import type { Kind } from '../model/kind.ts'

/** One kind in one cluster: what an operation needs to be synced before it reads it. */
export interface KindAt {
  /** The cluster's name. */
  readonly cluster: string
  readonly kind: Kind
}

/** One kind in one cluster as one execution reads it: its store, and what of it the viewer may see. */
export interface KindPart extends KindAt {
  readonly view: StoreView
  readonly scope: Scope
}

/**
 * The kinds that one execution reads, settled before it runs: made anew for each execution and each frame of a
 * subscription, so that no failure and no permission outlives its cause. Valid within one tick.
 */
export interface KindParts {
  /**
   * The part of a kind. Throws the `ClientError` of the field that wants it where it cannot be read; a kind that
   * nobody has waited for yet is noted besides, for another round.
   */
  part(at: KindAt): KindPart
}

/** The same, and what happens to be in memory. */
export interface CachedParts extends KindParts {
  /** The part of a kind that happens to be cached and synced, whoever wanted it; nothing is noted. */
  cachedPart(at: KindAt): KindPart | undefined
}

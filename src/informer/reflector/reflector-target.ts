import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import type { Bookmark } from '../../kubernetes/watch-event.ts'
import type { InformerFailure, InformerObserver } from '../informer-observer.ts'
import type { Delta } from './delta-queue.ts'
import type { ListerWatcher } from './lister-watcher.ts'
import type { StoreContents, StoreEntry } from '../store/store-contents.ts'

/** The result of reading the text of an object. */
export interface Intake {
  readonly key: string
  /** `undefined` if the user's transform refused the object. */
  readonly entry: StoreEntry | undefined
  readonly resourceVersion: ResourceVersion
}

/** The contents of a bookmark. */
export type TakenBookmark = Pick<Bookmark, 'endsInitialEvents'> & {
  readonly resourceVersion: ResourceVersion
}

/** Where a reflector stores what it receives. */
export interface ReflectorTarget {
  /** Reads an object. Returns `undefined`, after reporting it, if the object is of another kind. */
  take(text: Uint8Array): Intake | undefined
  /**
   * Reads a bookmark. Returns `undefined`, after reporting it, if the bookmark is of another kind or has no position.
   */
  takeBookmark(text: Uint8Array): TakenBookmark | undefined
  /** An empty generation of the store, for a list to fill. */
  stage(): StoreContents
  push(delta: Delta): void
  /** Whether the target holds as many deltas as it may. */
  isFull(): boolean
  /** Resolves when there is room. */
  room(signal: AbortSignal): Promise<void>
}

/** The part of an observer that a reflector calls. */
export type ReflectorObserver = Pick<
  InformerObserver,
  'listed' | 'listing' | 'watched' | 'watching'
> & {
  failed(failure: InformerFailure, error: Error): void
}

/** The source, target and observer of a reflector. */
export interface ReflectorParts {
  /** For messages: `pods`, `deployments.apps`. */
  readonly resourceName: string
  readonly source: ListerWatcher
  readonly target: ReflectorTarget
  readonly observer: ReflectorObserver
}

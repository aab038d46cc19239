import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import type { Bookmark } from '../../kubernetes/watch-event.ts'
import type { InformerFailure, InformerObserver } from '../informer-observer.ts'
import type { Delta } from './delta-queue.ts'
import type { ListerWatcher } from './lister-watcher.ts'
import type { StoreContents, StoreEntry } from '../store/store-contents.ts'

/** What became of the text of one object. */
export interface Intake {
  readonly key: string
  /** `undefined` where the user's transform refused it. */
  readonly entry: StoreEntry | undefined
  readonly resourceVersion: ResourceVersion
}

/** What a bookmark says. */
export type TakenBookmark = Pick<Bookmark, 'endsInitialEvents'> & {
  readonly resourceVersion: ResourceVersion
}

/** Where a reflector puts what it receives. */
export interface ReflectorTarget {
  /** Reads one object; `undefined` where it is none of this kind. Both refusals have been reported. */
  take(text: Uint8Array): Intake | undefined
  /** Reads a bookmark; `undefined` where it is one of another kind, or says no position, which has been reported. */
  takeBookmark(text: Uint8Array): TakenBookmark | undefined
  /** An empty generation of the store, to be filled by a list. */
  stage(): StoreContents
  push(delta: Delta): void
  /** Whether it has as much as it may hold. */
  isFull(): boolean
  /** Resolves when there is room for more. */
  room(signal: AbortSignal): Promise<void>
}

/** What a reflector reports. */
export type ReflectorObserver = Pick<
  InformerObserver,
  'listed' | 'listing' | 'watched' | 'watching'
> & {
  failed(failure: InformerFailure, error: Error): void
}

/** What a reflector stands between, and what it says of itself. */
export interface ReflectorParts {
  /** For messages: `pods`, `deployments.apps`. */
  readonly resourceName: string
  readonly source: ListerWatcher
  readonly target: ReflectorTarget
  readonly observer: ReflectorObserver
}

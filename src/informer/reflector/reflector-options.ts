import { type BackoffOptions, reflectorBackoff } from '../../lib/backoff.ts'
import {
  aNumber,
  aString,
  checksLike,
  oneOf,
  type OptionChecks,
  optionsOf,
} from '../../lib/options.ts'
import type { InformerObserver, ReportFailure } from '../informer-observer.ts'
import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import type { StoreContents } from '../store/store-contents.ts'
import type { ArchivedBase } from './archived-base.ts'
import type { ListerWatcher, Selection } from './lister-watcher.ts'
import type { ObjectIntake } from './object-intake.ts'

/** Finds the objects of an archive; `byNamespaces`: those of a store of several namespaces. */
export type BaseOf = (
  signal: AbortSignal,
  byNamespaces: boolean,
) => Promise<ArchivedBase | undefined>

export interface ReflectorParts {
  /** For messages: `pods`, `deployments.apps`. */
  readonly resourceName: string
  readonly source: ListerWatcher
  readonly intake: ObjectIntake
  /** An empty generation of the store, for a list to fill. */
  readonly stage: (isReread?: boolean) => StoreContents
  readonly observer: InformerObserver
  readonly failed: ReportFailure
  /** The objects of an archive, to begin with. Absent, or without an answer: a list. */
  readonly base?: BaseOf | undefined
  /** The first list is of this resource version or a later one. Absent: any. */
  readonly notBefore?: ResourceVersion | undefined
}

/** How a reflector lists and watches. Times are in milliseconds. */
export interface ReflectorOptions extends Selection {
  /** Items per LIST page. If given, every list has pages of this size; else 500, where paging is useful. */
  readonly pageSize?: number
  /**
   * `watchlist` (KEP-3157) requests the list as a stream if the source knows that its server supports that, and falls
   * back to `list` if it fails.
   */
  readonly initialList?: 'list' | 'watchlist'
  /** Missing members have their defaults. */
  readonly backoff?: Partial<BackoffOptions>
  /** The longest `Retry-After` of a server that is honoured. `0` means the back-off instead. */
  readonly maxRetryAfterMs?: number
  /** Bounds of `timeoutSeconds`, chosen uniformly for each watch. */
  readonly watchTimeoutSeconds?: { readonly min: number; readonly max: number }
  /** How long a streaming list may be silent. After that, lists of this server are no longer streamed. */
  readonly watchListSilenceMs?: number
  /** How long a streaming list may take in all, with the same consequence. */
  readonly watchListDeadlineMs?: number
  /** A watch that ends sooner than this, without an event, is a failure. */
  readonly shortWatchMs?: number
  /** Lists that take longer, until they are applied, are reported with their stages. */
  readonly slowListMs?: number
  /** After a pause of the event loop of this length, the watch is reopened. */
  readonly suspendGapMs?: number
}

/** The defaults of {@link ReflectorOptions}, without the selection. */
export const reflectorDefaults: Required<Omit<ReflectorOptions, keyof Selection>> = {
  pageSize: 500,
  initialList: 'list',
  backoff: reflectorBackoff,
  maxRetryAfterMs: 600_000,
  watchTimeoutSeconds: { min: 300, max: 600 },
  watchListSilenceMs: 10_000,
  watchListDeadlineMs: 60_000,
  shortWatchMs: 1000,
  slowListMs: 10_000,
  suspendGapMs: 60_000,
}

export const reflectorChecks: OptionChecks<ReflectorOptions> = {
  ...checksLike(reflectorDefaults),
  namespace: aString,
  labelSelector: aString,
  fieldSelector: aString,
  pageSize: aNumber(1),
  initialList: oneOf('list', 'watchlist'),
  watchTimeoutSeconds: (option, value) => {
    optionsOf({ min: aNumber(), max: aNumber() })(option, value)
    const { min, max } = value as { readonly min: number; readonly max: number }
    aNumber(min)(`${option}.max`, max)
  },
}

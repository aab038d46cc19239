import { backoffChecks, type BackoffOptions, reflectorBackoff } from '../../lib/backoff.ts'
import {
  aDuration,
  aNumber,
  aString,
  oneOf,
  type OptionChecks,
  optionsOf,
} from '../../lib/options.ts'
import type { Selection } from './lister-watcher.ts'

/** How a reflector lists and watches; times in milliseconds. */
export interface ReflectorOptions extends Selection {
  /** Items per LIST page. When given, every list is paged by it; else 500, where paging is of use. */
  readonly pageSize?: number
  /**
   * `watchlist` (KEP-3157) asks for the list as a stream, where the source says that its server knows such lists, and
   * falls back to `list` where that fails all the same.
   */
  readonly initialList?: 'list' | 'watchlist'
  /** What is absent in it is as in the default. */
  readonly backoff?: Partial<BackoffOptions>
  /** The longest that a server's `Retry-After` is followed; `0` there means the back-off. */
  readonly maxRetryAfterMs?: number
  /** Bounds of `timeoutSeconds`, chosen uniformly for each watch. */
  readonly watchTimeoutSeconds?: { readonly min: number; readonly max: number }
  /** How long a streaming list may be silent; beyond it, no list of this server is streamed again. */
  readonly watchListSilenceMs?: number
  /** How long a streaming list may take to its end, with the same consequence. */
  readonly watchListDeadlineMs?: number
  /** A watch that ends sooner, without an event, is a failure. */
  readonly shortWatchMs?: number
  /** A list that takes longer, until it is applied, is reported with its stages. */
  readonly slowListMs?: number
  /** A pause of the event loop after which the watch is opened anew. */
  readonly suspendGapMs?: number
}

/** Every default of {@link ReflectorOptions}, but for the selection. */
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
  namespace: aString,
  labelSelector: aString,
  fieldSelector: aString,
  pageSize: aNumber(1),
  initialList: oneOf('list', 'watchlist'),
  backoff: optionsOf(backoffChecks),
  maxRetryAfterMs: aDuration,
  watchTimeoutSeconds: (option, value) => {
    optionsOf({ min: aNumber(), max: aNumber() })(option, value)
    const { min, max } = value as { readonly min: number; readonly max: number }
    aNumber(min)(`${option}.max`, max)
  },
  watchListSilenceMs: aDuration,
  watchListDeadlineMs: aDuration,
  shortWatchMs: aDuration,
  slowListMs: aDuration,
  suspendGapMs: aDuration,
}

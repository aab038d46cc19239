import type { ResourceVersion } from '../../kubernetes/resource-version.ts'

/** Query parameters that select what is listed and watched; the same for every request of one reflector. */
export interface Selection {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** The query parameters of one LIST. An absent one is not sent. */
export interface ListOptions extends Selection {
  /** `''` is sent as no parameter at all: the most recent state. */
  readonly resourceVersion?: ResourceVersion
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  readonly limit?: number
  readonly continue?: string
}

/** The query parameters of one WATCH. */
export interface WatchOptions extends Selection {
  readonly resourceVersion?: ResourceVersion
  readonly resourceVersionMatch?: 'NotOlderThan'
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean
  readonly timeoutSeconds?: number
}

/** `metadata` of a list. */
export interface ListMetadata {
  readonly resourceVersion: ResourceVersion
  readonly continue?: string
  readonly remainingItemCount?: number
}

/**
 * A list as it arrives. Each step is a batch of items, each the UTF-8 text of one JSON object. The bytes are valid
 * until the next step only: they may point into a buffer that is used again.
 */
export interface ListResponse extends AsyncIterable<readonly Uint8Array[]> {
  /** Complete once the iteration has ended; throws before that. */
  metadata(): ListMetadata
}

/**
 * A source of objects: what a reflector needs to know of an API server (client-go's `ListerWatcher`). Both methods
 * throw `ApiStatusError` when the server refuses and other errors when it cannot be reached; both end when the signal
 * is aborted. Leaving an iteration early closes the connection.
 */
export interface ListerWatcher {
  list(options: ListOptions, signal: AbortSignal): Promise<ListResponse>
  /**
   * Resolves when the response has begun. Each step is a batch of frames, each the UTF-8 text of one event
   * `{"type":…,"object":…}` without its line feed, valid until the next step only. Ends where the server closes the
   * stream cleanly; throws where the connection breaks.
   */
  watch(options: WatchOptions, signal: AbortSignal): Promise<AsyncIterable<readonly Uint8Array[]>>
}

import type { ApiResource } from '../../kubernetes/api-resource.ts'
import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import { present } from '../../lib/options.ts'

/** The query parameters that select objects: the same for every request of a reflector. */
export interface Selection {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** Picks the selection from options. Absent members stay absent. */
export function selectionOf({ namespace, labelSelector, fieldSelector }: Selection): Selection {
  return present({ namespace, labelSelector, fieldSelector } as Selection)
}

/** The query parameters of a LIST. Absent ones are not sent. */
export interface ListOptions extends Selection {
  /** `''` sends no parameter: the most recent state. */
  readonly resourceVersion?: ResourceVersion
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  readonly limit?: number
  readonly continue?: string
}

/** The query parameters of a WATCH. */
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
 * A list while it arrives. Each step is a batch of items; each item is the UTF-8 text of one JSON object. The bytes are
 * only valid until the next step, because their buffer may be reused.
 */
export interface ListResponse extends AsyncIterable<readonly Uint8Array[]> {
  /** Complete once the iteration has ended; throws before that. */
  metadata(): ListMetadata
}

/**
 * A source of objects: what a reflector needs of an API server (client-go's `ListerWatcher`). All methods throw
 * `ApiStatusError` if the server refuses, other errors if the server cannot be reached, and end when the signal aborts.
 * Leaving an iteration early closes the connection.
 */
export interface ListerWatcher {
  /** If given, informers of other resources refuse the source. */
  readonly resource?: ApiResource
  /** Whether the source sends only the metadata of objects. An informer that expects otherwise refuses it. */
  readonly metadataOnly?: boolean
  list(options: ListOptions, signal: AbortSignal): Promise<ListResponse>
  /**
   * Resolves when the response begins. Each step is a batch of frames; each frame is the UTF-8 text of one event
   * `{"type":…,"object":…}` without its line feed, valid until the next step. Ends when the server closes the stream
   * cleanly; throws when the connection breaks.
   */
  watch(options: WatchOptions, signal: AbortSignal): Promise<AsyncIterable<readonly Uint8Array[]>>
  /**
   * Whether the server is known to stream lists correctly: only then is it asked to. Absent: assumed until the server
   * refuses.
   */
  streamsLists?(signal: AbortSignal): Promise<boolean>
  /** Called when the server refused a streaming list, or never ended one, so that its other resources do not try. */
  streamingListRefused?(): void
  /** Whether the server promises an order of resource versions. Absent or rejecting: assumed. */
  ordersResourceVersions?(signal: AbortSignal): Promise<boolean>
  /**
   * Resolves with `true` when the server, which could not be reached, answers again, and with `false` when the signal
   * aborts. Ends a back-off early. Absent: the back-off lasts its full time.
   */
  returned?(signal: AbortSignal): Promise<boolean>
  /** Aborted, with an error, when every further request would fail because its connection was closed by the program. */
  readonly closed?: AbortSignal
}

/** Changes the query parameters of every request (client-go's `TweakListOptionsFunc`). Returns the options to send. */
export type TweakListOptions = <T extends ListOptions | WatchOptions>(options: T) => T

/** A source that tweaks every request. */
export function tweakedSource(source: ListerWatcher, tweak: TweakListOptions): ListerWatcher {
  return {
    list: (options, signal) => source.list(tweak(options), signal),
    watch: (options, signal) => source.watch(tweak(options), signal),
    streamsLists: async (signal) => (await source.streamsLists?.(signal)) ?? true,
    streamingListRefused: () => source.streamingListRefused?.(),
    ordersResourceVersions: async (signal) =>
      (await source.ordersResourceVersions?.(signal)) ?? true,
    ...(source.returned === undefined ? {} : { returned: source.returned.bind(source) }),
    ...(source.closed === undefined ? {} : { closed: source.closed }),
  }
}

/** Whether a source's server promises an order of resource versions; `undefined` if it cannot be asked now. */
export async function ordersResourceVersions(source: ListerWatcher): Promise<boolean | undefined> {
  try {
    return (await source.ordersResourceVersions?.(new AbortController().signal)) ?? true
  } catch {
    return undefined
  }
}

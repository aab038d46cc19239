import type { ApiResource } from '../../kubernetes/api-resource.ts'
import type { ResourceVersion } from '../../kubernetes/resource-version.ts'

/** Query parameters that select what is listed and watched; the same for every request of one reflector. */
export interface Selection {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** The selection among other options; what is not selected by is absent. */
export function selectionOf({ namespace, labelSelector, fieldSelector }: Selection): Selection {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  }
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
 * A source of objects: what a reflector needs to know of an API server (client-go's `ListerWatcher`). All methods
 * throw `ApiStatusError` when the server refuses and other errors when it cannot be reached, and end when the signal
 * is aborted. Leaving an iteration early closes the connection.
 */
export interface ListerWatcher {
  /** Where it says so, an informer of another resource refuses it. */
  readonly resource?: ApiResource
  /** Whether it gives the metadata of objects alone; an informer that expects the other refuses it. */
  readonly metadataOnly?: boolean
  list(options: ListOptions, signal: AbortSignal): Promise<ListResponse>
  /**
   * Resolves when the response has begun. Each step is a batch of frames, each the UTF-8 text of one event
   * `{"type":…,"object":…}` without its line feed, valid until the next step only. Ends where the server closes the
   * stream cleanly; throws where the connection breaks.
   */
  watch(options: WatchOptions, signal: AbortSignal): Promise<AsyncIterable<readonly Uint8Array[]>>
  /**
   * Whether the server streams lists as it should: only where it does is it asked for one. Where the method is missing, it is
   * believed to, until it refuses.
   */
  streamsLists?(signal: AbortSignal): Promise<boolean>
  /** Tells that the server refused a streaming list, or never ended one: none of its resources need be tried. */
  streamingListRefused?(): void
  /**
   * Whether the server promises an order of resource versions. Where the method is missing, or rejects, it is believed to.
   */
  ordersResourceVersions?(signal: AbortSignal): Promise<boolean>
  /**
   * Resolves with `true` when the server, which could not be reached, answers again; with `false` when the signal is aborted. It
   * ends a back-off early. Where the method is missing, the back-off is waited out.
   */
  returned?(signal: AbortSignal): Promise<boolean>
}

/** Changes the query parameters of every request (client-go's `TweakListOptionsFunc`). Returns the options to send. */
export type TweakListOptions = <T extends ListOptions | WatchOptions>(options: T) => T

/** A source whose every request is tweaked. */
export function tweakedSource(source: ListerWatcher, tweak: TweakListOptions): ListerWatcher {
  return {
    list: (options, signal) => source.list(tweak(options), signal),
    watch: (options, signal) => source.watch(tweak(options), signal),
    streamsLists: async (signal) => (await source.streamsLists?.(signal)) ?? true,
    streamingListRefused: () => source.streamingListRefused?.(),
    ordersResourceVersions: async (signal) =>
      (await source.ordersResourceVersions?.(signal)) ?? true,
    ...(source.returned === undefined ? {} : { returned: source.returned.bind(source) }),
  }
}

/** Whether the server of a source promises an order of resource versions; `undefined` where it cannot be asked now. */
export async function ordersResourceVersions(source: ListerWatcher): Promise<boolean | undefined> {
  try {
    return (await source.ordersResourceVersions?.(new AbortController().signal)) ?? true
  } catch {
    return undefined
  }
}

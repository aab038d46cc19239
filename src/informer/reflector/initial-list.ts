import {
  anyResourceVersion,
  latestResourceVersion,
  type ResourceVersion,
} from '../../kubernetes/resource-version.ts'
import { isExpired, isTooLargeResourceVersion } from '../../kubernetes/status.ts'
import { readErrorEvent, readWatchFrame } from '../../kubernetes/watch-event.ts'
import type { StoreContents } from '../store/store-contents.ts'
import type { ListClock } from './delta-queue.ts'
import {
  type ListMetadata,
  type ListOptions,
  type ListResponse,
  selectionOf,
} from './lister-watcher.ts'
import { isRetriedInPlace, WatchListRefusedError } from './reflector-errors.ts'
import {
  reflectorDefaults,
  type ReflectorOptions,
  type ReflectorParts,
} from './reflector-options.ts'
import type { WatchStream } from './watch-stream.ts'

/** A whole list that is not visible to readers yet. */
export interface ReceivedList {
  readonly contents: StoreContents
  readonly resourceVersion: ResourceVersion
}

interface InitialListOptions extends ReflectorOptions {
  /** Called with a refusal after which the request may be repeated. Resolves when it is time to do so. */
  readonly retry: (error: unknown, signal: AbortSignal) => Promise<void>
}

/**
 * Lists a resource like client-go's reflector and pager: at `"0"` first, later at the last seen resource version, and
 * paged only where that does not bypass the server's cache.
 *
 * A list may take seconds and many pages, and may fail at any of them, while readers continue. So its items fill a new,
 * invisible generation of the store, indexes included. Only a complete list becomes a delta, which replaces the
 * generation before in one step. The two share the templates of their objects, so the second takes much less memory
 * than the first.
 */
export class InitialList {
  readonly #parts: ReflectorParts
  readonly #options: InitialListOptions
  /** The server answered a list at `"0"` in pages, so there is no cache to bypass. */
  #pagingSticks = false

  constructor(parts: ReflectorParts, options: InitialListOptions) {
    this.#parts = parts
    this.#options = options
  }

  /**
   * Receives the list at a position. If the server cannot serve the position, calls `onUnavailable` and lists the most
   * recent state once.
   */
  async receive(
    requested: ResourceVersion,
    clock: ListClock,
    signal: AbortSignal,
    onUnavailable: (error: Error) => void,
  ): Promise<ReceivedList> {
    try {
      return await this.#pages(requested, clock, signal)
    } catch (error) {
      const isBehind = isExpired(error) || isTooLargeResourceVersion(error)
      if (requested === latestResourceVersion || !isBehind) throw error
      onUnavailable(error as Error)
      return await this.#pages(latestResourceVersion, clock, signal)
    }
  }

  async #pages(
    requested: ResourceVersion,
    clock: ListClock,
    signal: AbortSignal,
  ): Promise<ReceivedList> {
    const { stage } = this.#parts
    const fromCache = requested !== latestResourceVersion && requested !== anyResourceVersion
    // A configured page size always applies. Else lists are paged where the server may answer in pages.
    const isPaged = !fromCache || this.#pagingSticks
    const limit = this.#options.pageSize ?? (isPaged ? reflectorDefaults.pageSize : undefined)
    const page = limit === undefined ? {} : { limit }
    // With a limit, servers take a position as exact by default: they would list an old state as long as they have it,
    // even if no watch can start there.
    const match =
      limit !== undefined && fromCache ? ({ resourceVersionMatch: 'NotOlderThan' } as const) : {}
    const contents = stage()
    const start = { ...page, ...match, resourceVersion: requested }
    const first = await this.#page(start, contents, clock, signal)
    if (first.continue !== undefined && requested === anyResourceVersion) this.#pagingSticks = true
    let next = first.continue
    while (next !== undefined && next !== '') {
      try {
        next = (await this.#page({ ...page, continue: next }, contents, clock, signal)).continue
      } catch (error) {
        if (!isExpired(error)) throw error
        // The snapshot behind the pages is gone: request one whole list.
        const whole = stage()
        const metadata = await this.#page({ resourceVersion: requested }, whole, clock, signal)
        return { contents: whole, resourceVersion: metadata.resourceVersion }
      }
    }
    return { contents, resourceVersion: first.resourceVersion }
  }

  async #page(
    options: ListOptions,
    contents: StoreContents,
    clock: ListClock,
    signal: AbortSignal,
  ): Promise<ListMetadata> {
    const { intake } = this.#parts
    const response = await clock.untilFirstByte(this.#request(options, signal))
    for await (const items of response) {
      signal.throwIfAborted()
      clock.heard()
      for (const text of items) {
        const entry = intake.take(text)?.entry
        if (entry !== undefined) contents.put(entry)
      }
    }
    return response.metadata()
  }

  /** If the server asks for a pause, repeats a page instead of the whole list. */
  async #request(options: ListOptions, signal: AbortSignal): Promise<ListResponse> {
    const selected = { ...selectionOf(this.#options), ...options }
    while (true) {
      try {
        return await this.#parts.source.list(selected, signal)
      } catch (error) {
        if (signal.aborted || !isRetriedInPlace(error)) throw error
        await this.#options.retry(error, signal)
      }
    }
  }
}

/**
 * Reads a watch that was opened with `sendInitialEvents` up to the bookmark that ends its initial events (KEP-3157).
 * From then on the stream is a plain watch from the list's resource version.
 *
 * Servers before 1.27 do not know the parameter: they send the objects, then changes, and never the bookmark. Two
 * deadlines detect them: silence if nothing changes, and the total time if something does. Both reject with a lasting
 * {@link WatchListRefusedError}.
 */
export async function receiveInitialEvents(
  stream: WatchStream,
  clock: ListClock,
  parts: ReflectorParts,
  options: typeof reflectorDefaults,
): Promise<ReceivedList> {
  const { watchListDeadlineMs: deadlineMs, watchListSilenceMs: silenceMs } = options
  const refused = (problem: string, isLasting: boolean) =>
    new WatchListRefusedError(parts.resourceName, problem, isLasting)
  const contents = parts.stage()
  let isFirst = true
  while (true) {
    const leftMs = Math.max(0, deadlineMs - stream.ageMs)
    const late =
      silenceMs <= leftMs
        ? `was silent for ${silenceMs} ms`
        : `has not ended its initial events in ${deadlineMs} ms`
    // Even if more has arrived: it might go on for ever.
    if (leftMs === 0) throw refused(late, true)
    const next = stream.next({ ms: Math.min(silenceMs, leftMs), late: () => refused(late, true) })
    const frames = await (isFirst ? clock.untilFirstByte(next) : next)
    isFirst = false
    clock.heard()
    if (frames === undefined) throw refused('ended before its initial events did', false)
    for (const [position, frame] of frames.entries()) {
      const end = collect(frame, contents, parts)
      if (end !== undefined) {
        stream.unread(frames.slice(position + 1))
        return { contents, resourceVersion: end }
      }
    }
  }
}

/** The resource version of the list, if the frame is the bookmark that ends it. */
function collect(
  frame: Uint8Array,
  contents: StoreContents,
  { resourceName, intake }: ReflectorParts,
): ResourceVersion | undefined {
  const { type, object } = readWatchFrame(frame)
  if (type === 'ERROR') throw readErrorEvent(resourceName, object)
  if (type === 'BOOKMARK') {
    const bookmark = intake.takeBookmark(object)
    return bookmark?.endsInitialEvents === true ? bookmark.resourceVersion : undefined
  }
  const taken = intake.take(object)
  if (taken === undefined) return undefined
  const { key, entry } = taken
  if (type === 'DELETED' || entry === undefined) contents.remove(key)
  else contents.put(entry)
  return undefined
}

import { isExpired, isTooLargeResourceVersion } from '../../kubernetes/status.ts'
import {
  anyResourceVersion,
  latestResourceVersion,
  type ResourceVersion,
} from '../../kubernetes/resource-version.ts'
import type { ListClock } from './list-stages.ts'
import type {
  ListerWatcher,
  ListMetadata,
  ListOptions,
  ListResponse,
  Selection,
} from './lister-watcher.ts'
import { isRetriedInPlace } from './reflector-errors.ts'
import type { ReflectorTarget } from './reflector-target.ts'
import type { StoreContents } from '../store/store-contents.ts'

/** A whole list, not yet visible to anyone. */
export interface ReceivedList {
  readonly contents: StoreContents
  readonly resourceVersion: ResourceVersion
  readonly items: number
}

export interface InitialListOptions {
  readonly source: ListerWatcher
  readonly target: ReflectorTarget
  readonly selection: Selection
  /** A configured page size always holds; without one, pages are asked for where the server may serve them. */
  readonly pageSize: number | undefined
  readonly defaultPageSize: number
  /** Told of a refusal after which the same request is to be sent again; resolves when it is time. */
  readonly retry: (error: unknown, signal: AbortSignal) => Promise<void>
}

/**
 * Lists a resource as client-go's reflector and pager do: at `"0"` first, later at the last seen resource version,
 * paged only where that does not bypass the server's cache.
 *
 * The replacement is staged. A list may take seconds and many pages, and may fail at any of them, while readers go on
 * asking. So its items fill a generation of the store that nobody reads, indices and all; only a list that arrived to
 * its last byte becomes a delta, which takes the place of the generation before in one step. A list that fails leaves
 * nothing behind: what it had staged is dropped with it. The price is that two generations exist for a while; they share
 * the templates that their objects are held against, so that the second takes much less than the first.
 */
export class InitialList {
  readonly #options: InitialListOptions
  /** The server answered a list at `"0"` in pages, so it has no cache to bypass. */
  #pagingSticks = false

  constructor(options: InitialListOptions) {
    this.#options = options
  }

  /**
   * Receives the list at a position. Where that is not to be had, lists once at the most recent state instead, after
   * `onUnavailable`.
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
    const { pageSize, defaultPageSize, selection } = this.#options
    const fromCache = requested !== latestResourceVersion && requested !== anyResourceVersion
    const limit = pageSize ?? (fromCache && !this.#pagingSticks ? undefined : defaultPageSize)
    const contents = this.#options.target.stage()
    const page = limit === undefined ? {} : { limit }
    // With a limit, a server takes a position for exactly that one unless told: it would list the past for as long as it
    // has it, however often no watch can begin there.
    const match =
      limit !== undefined && fromCache ? ({ resourceVersionMatch: 'NotOlderThan' } as const) : {}
    const first = await this.#page(
      { ...selection, ...page, ...match, resourceVersion: requested },
      contents,
      clock,
      signal,
    )
    if (first.continue !== undefined && requested === anyResourceVersion) this.#pagingSticks = true
    let next = first.continue
    while (next !== undefined && next !== '') {
      try {
        const metadata = await this.#page(
          { ...selection, ...page, continue: next },
          contents,
          clock,
          signal,
        )
        next = metadata.continue
      } catch (error) {
        if (!isExpired(error)) throw error
        // The snapshot behind the pages is gone: one whole list instead.
        return await this.#whole(requested, clock, signal)
      }
    }
    return { contents, resourceVersion: first.resourceVersion, items: contents.size }
  }

  async #whole(
    requested: ResourceVersion,
    clock: ListClock,
    signal: AbortSignal,
  ): Promise<ReceivedList> {
    const contents = this.#options.target.stage()
    const { resourceVersion } = await this.#page(
      { ...this.#options.selection, resourceVersion: requested },
      contents,
      clock,
      signal,
    )
    return { contents, resourceVersion, items: contents.size }
  }

  async #page(
    options: ListOptions,
    contents: StoreContents,
    clock: ListClock,
    signal: AbortSignal,
  ): Promise<ListMetadata> {
    const { target } = this.#options
    const response = await clock.untilFirstByte(this.#request(options, signal))
    for await (const items of response) {
      signal.throwIfAborted()
      for (const text of items) {
        const entry = target.take(text)?.entry
        if (entry !== undefined) contents.put(entry)
      }
    }
    return response.metadata()
  }

  /** Where the server asks for a pause, one page of a long list is asked for again, not the list. */
  async #request(options: ListOptions, signal: AbortSignal): Promise<ListResponse> {
    const { source, retry } = this.#options
    while (true) {
      try {
        return await source.list(options, signal)
      } catch (error) {
        if (signal.aborted || !isRetriedInPlace(error)) throw error
        await retry(error, signal)
      }
    }
  }
}

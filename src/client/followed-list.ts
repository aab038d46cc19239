// Front ends with an older `lib` need this to read the types.
/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A list in a normalising cache, followed by the frames of a subscription: what the adapters for Apollo Client, urql and
 * Relay share. A {@link FollowedList} keeps the subscription open through lost connections, folds its frames, and hands its
 * adapter the rows that the list has now, with the objects to evict. {@link listed} is the rule by which fetched pages and
 * these rows become one list. An adapter applies it wherever pages or frames are written, so its cache never says that a
 * list has no next page while rows are missing.
 */
import {
  type Frame,
  FrameFold,
  missingField,
  PageFold,
  type PageFrame,
  type Removal,
} from './frame-fold.ts'
import type { Compare } from './live-collection.ts'
import { Listeners } from './listeners.ts'
import type { Received } from './live-stream.ts'
import type { LiveTransport } from './live-transport.ts'
import { LiveSubscription } from './live-value.ts'

/** An object as a normalising cache identifies it. */
export interface CachedRow {
  readonly __typename?: string | undefined
  readonly id: string
}

/** The rows of a subscription: all rows of a list, or those of a live page. */
export interface FollowedRows<Key> {
  readonly keys: readonly Key[]
  /** Whether the first snapshot is complete. */
  readonly isComplete: boolean
  /** Whether the rows are in the order of the list. */
  readonly isOrdered: boolean
  /** The number of objects on all pages, for a live page. */
  readonly pageTotal?: number | undefined
}

/** Fetched pages of a list, joined. */
export interface FetchedRows<Key> {
  readonly keys: readonly Key[]
  readonly hasNextPage: boolean
  /**
   * Whether there may be more rows though no page follows. Before the first snapshot is complete: the pages were fetched
   * one after the other, and what has come between them is in none. After it: the last page {@link disagrees}.
   */
  readonly isDoubtful: boolean
}

/** A list after frames. */
export interface ListedRows<Key> {
  readonly keys: readonly Key[]
  readonly hasNextPage: boolean
  /** `undefined`: as it was fetched. */
  readonly totalCount: number | undefined
}

/**
 * A list as fetched pages and followed rows make it. A list with a next page only loses rows, so that its next page
 * continues where it ends. A list without one has all rows: new ones at its end, or in their order. A doubtful end is a
 * next page. A live page is what it is.
 */
export function listed<Key>(
  fetched: FetchedRows<Key>,
  { keys, isComplete, isOrdered, pageTotal }: FollowedRows<Key>,
): ListedRows<Key> {
  const { keys: held } = fetched
  const hasNextPage = fetched.hasNextPage || fetched.isDoubtful
  if (!isComplete) return { keys: held, hasNextPage, totalCount: undefined }
  if (pageTotal !== undefined)
    return { keys, hasNextPage: pageTotal > keys.length, totalCount: pageTotal }
  const all = new Set(keys)
  const kept = held.filter((key) => all.has(key))
  if (hasNextPage) return { keys: kept, hasNextPage, totalCount: keys.length }
  if (isOrdered) return { keys, hasNextPage, totalCount: keys.length }
  for (const key of kept) all.delete(key)
  return { keys: [...kept, ...all], hasNextPage, totalCount: keys.length }
}

/**
 * Whether a last page knows other rows than the frames so far: one of them is older. Then the list is not said to be whole
 * before the next frame, or before the page is fetched again.
 */
export function disagrees<Key>(
  page: { readonly keys: readonly Key[]; readonly totalCount: unknown },
  { keys, isComplete, pageTotal }: FollowedRows<Key>,
): boolean {
  if (!isComplete || pageTotal !== undefined) return false
  if (typeof page.totalCount === 'number' && page.totalCount !== keys.length) return true
  const all = new Set(keys)
  return !page.keys.every((key) => all.has(key))
}

type ListFrame<Row> = Frame<Row> | PageFrame<Row>

/** A list in the cache of a library: what an adapter does. */
export abstract class ListCache<Row> {
  /** The cache: lists of the same one know of each other's rows. */
  abstract readonly cache: object
  /** Opens the subscription. Its frames are the only root field. */
  abstract readonly client: LiveTransport
  /** Folds a frame. */
  apply: ((frame: ListFrame<Row>) => Received) | undefined
  /**
   * The result of a frame that has been folded before the transport hands it on: for caches that are written only while
   * they take a result in.
   */
  folded: Received | undefined

  /** Writes the rows of the list, and evicts objects. */
  abstract write(rows: FollowedRows<Row>, gone: readonly Row[]): void
  /** Leaves the list as it is. */
  abstract release(): void
  /** Fetches the next page, or the first, or the last one again. Resolves to the state of the list after it. */
  abstract fetch(again: boolean): Promise<FetchedState>
}

/** `doubtful`: no page follows, but the cache does not say so yet. */
export type FetchedState = 'more' | 'doubtful' | 'whole'

/** Options of a list that is followed, whatever the cache. */
export interface FollowOptions<Row> {
  /** The order of rows in a list that has been fetched to its end; default: new rows are at the end. */
  readonly compare?: Compare<Row> | undefined
  /** Receives errors of listeners; by default they are reported as uncaught errors. */
  readonly listenerFailed?: ((error: unknown) => void) | undefined
}

/** The folds of the lists that are followed in a cache. */
const followedIn = new WeakMap<object, Set<FrameFold<CachedRow>>>()

/**
 * A list in a cache that a subscription keeps right, from when it is made until `close`. `getSnapshot()` is the state of
 * the subscription; the rows are in the cache.
 */
export class FollowedList<Row extends CachedRow = CachedRow> extends LiveSubscription<
  ListFrame<Row>,
  object
> {
  readonly #cache: ListCache<Row>
  readonly #frames: Listeners
  #fetching: Promise<boolean> | undefined

  constructor(
    cache: ListCache<Row>,
    variables: Readonly<Record<string, unknown>>,
    { compare, listenerFailed }: FollowOptions<Row>,
  ) {
    const fold = new ListFold<Row>(cache, compare)
    cache.apply = (frame) => fold.apply(frame)
    const frames = new Listeners()
    let released = false
    super(
      { client: cache.client, query: '', variables, listenerFailed },
      {
        received: (frame: ListFrame<Row>) => {
          const { folded = fold.apply(frame) } = cache
          cache.folded = undefined
          return { received: folded, isOther: false }
        },
        told: () => frames.tell(),
        shown: () => ({}),
        stateChanged: (status) => {
          if (released || (status !== 'failed' && status !== 'closed')) return
          released = true
          fold.close()
          cache.release()
        },
      },
    )
    this.#cache = cache
    this.#frames = frames
    // Holds the subscription until it is closed.
    void this.synced.catch(() => {})
  }

  /**
   * Fetches the next page of the list, or its first. Resolves to whether there may be another one. Where the last page and
   * the frames disagree, it waits for the next frame, and fetches the page again. Calls at the same time fetch one page.
   * Rejects with the errors of the query, and with `TypeError` for a live page.
   */
  readonly fetchMore = (): Promise<boolean> =>
    (this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined
    }))

  async #fetch(): Promise<boolean> {
    let state = await this.#cache.fetch(false)
    for (let round = 0; state === 'doubtful' && round < mostRounds; round++) {
      // oxlint-disable-next-line no-await-in-loop -- one round after the other
      const isFollowed = await this.synced.then(
        () => this.status !== 'failed' && this.status !== 'closed',
        () => false,
      )
      if (!isFollowed) break
      // oxlint-disable-next-line no-await-in-loop
      if (round > 0) await this.#nextFrame()
      // oxlint-disable-next-line no-await-in-loop
      state = await this.#cache.fetch(true)
    }
    return state !== 'whole'
  }

  /** Waits for a frame, or a moment. */
  async #nextFrame(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const leave = this.#frames.add(resolve)
    const timer = setTimeout(resolve, roundMs)
    await promise
    leave()
    clearTimeout(timer)
  }
}

/** How often a last page is fetched again that the frames disagree with, and how long it waits for a frame each time. */
const mostRounds = 10
const roundMs = 300

/** Folds frames of a list or a live page, and writes what has changed. */
class ListFold<Row extends CachedRow> {
  readonly #cache: ListCache<Row>
  readonly #compare: Compare<Row> | undefined
  readonly #list = new FrameFold<Row>()
  readonly #page = new PageFold<Row>()
  readonly #others: Set<FrameFold<CachedRow>>
  #rows: FollowedRows<Row> | undefined

  constructor(cache: ListCache<Row>, compare: Compare<Row> | undefined) {
    this.#cache = cache
    this.#compare = compare
    this.#others = followedIn.get(cache.cache) ?? new Set()
    followedIn.set(cache.cache, this.#others)
    this.#others.add(this.#list)
  }

  close(): void {
    this.#others.delete(this.#list)
  }

  apply(frame: ListFrame<Row>): Received {
    if ('totalCount' in frame) {
      const missing = missingField(frame, 'page')
      if (missing !== undefined) return { missing }
      if (!this.#page.apply(frame)) return 'unfit'
      const { rows: keys, synced, totalCount: pageTotal } = this.#page
      if (synced) this.#write({ keys, isComplete: true, isOrdered: true, pageTotal }, [])
      return synced ? 'synced' : 'incomplete'
    }
    const missing = missingField(frame, 'cached')
    if (missing !== undefined) return { missing }
    const gone = this.#gone(frame)
    this.#list.apply(frame)
    const { objects, complete, synced } = this.#list
    const isOther =
      frame.reset ||
      this.#rows?.isComplete !== complete ||
      frame.changes.some(({ type }) => type !== 'MODIFIED' || this.#compare !== undefined)
    if (complete && isOther) {
      const keys = [...objects.values()]
      if (this.#compare !== undefined) keys.sort(this.#compare)
      this.#write({ keys, isComplete: true, isOrdered: this.#compare !== undefined }, gone)
    } else if (this.#rows === undefined || gone.length > 0) {
      // A new snapshot is on its way: until it is complete, the list is what it was.
      this.#write(this.#rows ?? noRows, gone)
    }
    return synced ? 'synced' : 'incomplete'
  }

  #write(rows: FollowedRows<Row>, gone: readonly Row[]): void {
    this.#rows = rows
    this.#cache.write(rows, gone)
  }

  /**
   * The rows that the cache must evict. A deleted object is gone from all lists. One that is hidden, or whose cluster this
   * list has lost, may still be a row of another followed list.
   */
  #gone({ changes }: Frame<Row>): readonly Row[] {
    const gone: Row[] = []
    for (const { type, removal, objectId, object } of changes) {
      if (type !== 'REMOVED' || removal === 'UNMATCHED') continue
      const row = this.#list.objects.get(objectId) ?? object
      const others = [...this.#others].filter(
        (other) => other !== (this.#list as FrameFold<CachedRow>) && other.objects.has(objectId),
      )
      if (removal === 'DELETED') for (const other of others) other.apply(deletion(objectId))
      else if (others.length > 0) continue
      if (row !== undefined && row !== null) gone.push(row)
    }
    return gone
  }
}

const noRows: FollowedRows<never> = { keys: [], isComplete: false, isOrdered: false }

function deletion(objectId: string): Frame<never> {
  const removal: Removal = 'DELETED'
  return { reset: false, synced: false, changes: [{ type: 'REMOVED', removal, objectId }] }
}

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
import type { LiveRequest, LiveSink, LiveTransport } from './live-transport.ts'
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

/**
 * Where a list ends: `more` if its last page says that another one follows; `doubtful` if none follows, and there may be
 * more rows all the same; `whole` if it has all rows.
 */
export type ListEnd = 'more' | 'doubtful' | 'whole'

/** Fetched pages of a list, joined. */
export interface FetchedRows<Key> {
  readonly keys: readonly Key[]
  /** That of the last page by {@link endOfPage}. */
  readonly end: ListEnd
  /** Whether they are several: before the first snapshot, rows that have come between them are in none. */
  readonly isJoined: boolean
}

/** A list after frames. */
export interface ListedRows<Key> {
  readonly keys: readonly Key[]
  readonly end: ListEnd
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
  { keys: held, end: fetched, isJoined }: FetchedRows<Key>,
  { keys, isComplete, isOrdered, pageTotal }: FollowedRows<Key>,
): ListedRows<Key> {
  const isSure = fetched !== 'whole' || isComplete || !isJoined
  const end = isSure ? fetched : 'doubtful'
  const hasNextPage = end !== 'whole'
  if (!isComplete) return { keys: held, end, hasNextPage, totalCount: undefined }
  const totalCount = pageTotal ?? keys.length
  if (pageTotal !== undefined) {
    return { keys, end, hasNextPage: pageTotal > keys.length, totalCount }
  }
  const all = new Set(keys)
  const kept = held.filter((key) => all.has(key))
  if (hasNextPage) return { keys: kept, end, hasNextPage, totalCount }
  for (const key of kept) all.delete(key)
  return { keys: isOrdered ? keys : [...kept, ...all], end, hasNextPage, totalCount }
}

/**
 * The end that a page says. It is doubtful if the page knows other rows than the frames so far: one of them is older. Then
 * the list is not said to be whole before the next frame, or before the page is fetched again.
 */
export function endOfPage<Key>(
  page: {
    readonly keys: readonly Key[]
    readonly totalCount: unknown
    readonly hasNextPage: unknown
  },
  { keys, isComplete, pageTotal }: FollowedRows<Key>,
): ListEnd {
  if (page.hasNextPage !== false) return 'more'
  if (!isComplete || pageTotal !== undefined) return 'whole'
  const isCounted = typeof page.totalCount !== 'number' || page.totalCount === keys.length
  const all = new Set(keys)
  return isCounted && page.keys.every((key) => all.has(key)) ? 'whole' : 'doubtful'
}

/** The rows of a list that no frame has come for yet. */
export const noRows: FollowedRows<never> = { keys: [], isComplete: false, isOrdered: false }

type ListFrame<Row> = Frame<Row> | PageFrame<Row>

/** The frame in the data of a result. */
export function frameIn<Row>(data: unknown): ListFrame<Row> | undefined {
  return Object.values(data ?? {}).find(
    (value): value is ListFrame<Row> =>
      typeof value === 'object' && value !== null && ('changes' in value || 'reset' in value),
  )
}

/** Options of a list that is followed, whatever the cache. */
export interface FollowOptions<Row> {
  /** The order of rows in a list that has been fetched to its end; default: new rows are at the end. */
  readonly compare?: Compare<Row> | undefined
  /** Receives errors of listeners; by default they are reported as uncaught errors. */
  readonly listenerFailed?: ((error: unknown) => void) | undefined
  /**
   * What sends the subscriptions: the client of graphql-ws, or a `WebSocketClient`. By it, `status` is `reconnecting` while
   * the connection is lost. Without it, a client that reconnects by itself leaves `status` as it was.
   */
  readonly socket?: Pick<LiveTransport, 'on'> | undefined
}

/** Options of a list of a query, as Apollo Client and urql have them. */
export interface QueryListOptions<Row, Query, Variables, Subscription> extends FollowOptions<Row> {
  /**
   * A query with one list that selects `nodes { id … }`, `pageInfo { hasNextPage endCursor }` and, where it is shown,
   * `totalCount`. Apollo Client takes `edges { node { id … } }`, too; urql, a list at the root.
   */
  readonly query: Query
  /** The variables of the query, without its cursor. */
  readonly variables?: Variables
  /**
   * A subscription to the same list (`pods`) or to its live page (`podsPage`), whose `object` selects at least what the
   * list selects: `reset synced changes { type removal objectId object { id … } }`, or `reset synced totalCount changes {
   * step index from objectId object { id … } }`. With `resumeToken` and `$resumeFrom` it continues after a lost connection.
   */
  readonly subscription: Subscription
  /** The variables of the subscription; default: those of the query that it declares. */
  readonly subscriptionVariables?: object
}

/** The folds of the lists that are followed in a cache. */
const followedIn = new WeakMap<object, Set<FrameFold<CachedRow>>>()

/**
 * A list in the cache of a library. It folds the frames of a list or of a live page. What an adapter adds is how its cache
 * is written, and how it fetches; `Writer` is what it writes with.
 */
export abstract class ListCache<Row extends CachedRow, Writer = void> {
  /** The rows of the list as frames have left them. */
  rows: FollowedRows<Row> = noRows
  readonly #compare: Compare<Row> | undefined
  readonly #list = new FrameFold<Row>()
  readonly #page = new PageFold<Row>()
  /** The folds of all lists in the same cache. */
  readonly #folds: Set<FrameFold<CachedRow>>
  /** Whether the snapshot was complete after the frame before; `undefined` before the first one. */
  #wasSynced: boolean | undefined
  #received: Received = 'unfit'
  /** The cursor before the last page that was fetched. */
  #after: string | undefined

  constructor(cache: object, { compare }: FollowOptions<Row>) {
    this.#compare = compare
    this.#folds = followedIn.get(cache) ?? new Set()
    followedIn.set(cache, this.#folds)
    this.#folds.add(this.#list)
  }

  /** Opens the subscription. Its frames are the only root field. */
  abstract subscribe(request: LiveRequest, sink: LiveSink): () => void
  /** Writes `rows`, and evicts objects. `isOther`: the rows are other ones than before. */
  protected abstract write(isOther: boolean, gone: readonly Row[], writer: Writer): void
  /** Leaves the list as it is. */
  protected abstract release(): void
  /**
   * Where the list ends in the cache, with the cursor there: null for an empty page; `undefined` if it is not selected.
   * `undefined` while the list is not there.
   */
  protected abstract end(): { readonly end: ListEnd; readonly cursor: unknown } | undefined
  /** Fetches the page after a cursor, or the first one. Rejects if there is none. */
  protected abstract fetch(after: string | undefined): Promise<void>

  close(): void {
    this.#folds.delete(this.#list)
    this.release()
  }

  /** Fetches the next page, or the first, or the last one again. */
  async fetchPage(again: boolean): Promise<ListEnd> {
    if (this.rows.pageTotal !== undefined) {
      throw new TypeError('a live page has no next page: ask for a larger `first`')
    }
    const known = this.end()
    if (!again) {
      if (known?.end === 'whole') return 'whole'
      if (known !== undefined && known.cursor === undefined) {
        throw new TypeError('the list must select pageInfo { hasNextPage endCursor }')
      }
      // An empty last page has no cursor: the page before it leads to it.
      if (known?.cursor !== null) this.#after = known?.cursor as string | undefined
    }
    await this.fetch(this.#after)
    return this.end()?.end ?? 'more'
  }

  /** Folds the frame of a result, in the step in which the cache takes it in. */
  take(data: unknown, writer: Writer): void {
    const frame = frameIn<Row>(data)
    if (frame !== undefined) this.#received = this.#apply(frame, writer)
  }

  /** The result of the frame that the transport hands on, after the cache has taken it in. */
  received(): Received {
    const received = this.#received
    this.#received = 'unfit'
    return received
  }

  #apply(frame: ListFrame<Row>, writer: Writer): Received {
    const isPage = 'totalCount' in frame
    const missing = missingField(frame, isPage ? 'page' : 'cached')
    if (missing !== undefined) return { missing }
    if (isPage) {
      if (!this.#page.apply(frame)) return 'unfit'
      const { rows: keys, synced, totalCount: pageTotal } = this.#page
      if (!synced) return 'incomplete'
      this.rows = { keys, isComplete: true, isOrdered: true, pageTotal }
      this.write(true, [], writer)
      return 'synced'
    }
    const gone = this.#gone(frame)
    this.#list.apply(frame)
    const { objects, complete, synced } = this.#list
    const wasSynced = this.#wasSynced
    this.#wasSynced = synced
    const isOrdered = this.#compare !== undefined
    // Until a new snapshot is complete, the list is what it was.
    const isOther =
      complete &&
      (frame.reset ||
        wasSynced !== true ||
        frame.changes.some(({ type }) => type !== 'MODIFIED' || isOrdered))
    if (isOther) {
      const keys = [...objects.values()]
      this.rows = {
        keys: isOrdered ? keys.toSorted(this.#compare) : keys,
        isComplete: true,
        isOrdered,
      }
    }
    const isFirst = wasSynced === undefined
    if (isOther || isFirst || gone.length > 0) this.write(isOther, gone, writer)
    return synced ? 'synced' : 'incomplete'
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
      const others = [...this.#folds].filter(
        (other) => other !== (this.#list as FrameFold<CachedRow>) && other.objects.has(objectId),
      )
      if (removal === 'DELETED') for (const other of others) other.apply(deletion(objectId))
      else if (others.length > 0) continue
      if (row !== undefined && row !== null) gone.push(row)
    }
    return gone
  }
}

function deletion(objectId: string): Frame<never> {
  const removal: Removal = 'DELETED'
  return { reset: false, synced: false, changes: [{ type: 'REMOVED', removal, objectId }] }
}

/**
 * A list in a cache that a subscription keeps right, from when it is made until `close`. `getSnapshot()` is the state of
 * the subscription; the rows are in the cache.
 */
export class FollowedList<Row extends CachedRow = CachedRow> extends LiveSubscription<
  ListFrame<Row>,
  object
> {
  readonly #cache: ListCache<Row, never>
  readonly #frames: Listeners
  #fetching: Promise<boolean> | undefined

  constructor(
    cache: ListCache<Row, never>,
    variables: Readonly<Record<string, unknown>>,
    { listenerFailed, socket }: FollowOptions<Row>,
  ) {
    const client: LiveTransport = {
      subscribe: (request, sink) => cache.subscribe(request, sink),
      on: (event, listener) => socket?.on?.(event, listener) ?? (() => {}),
    }
    const frames = new Listeners()
    let released = false
    super(
      { client, query: '', variables, listenerFailed },
      {
        received: () => ({ received: cache.received(), isOther: false }),
        told: () => frames.tell(),
        shown: () => ({}),
        stateChanged: (status) => {
          if (released || (status !== 'failed' && status !== 'closed')) return
          released = true
          cache.close()
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
    let end = await this.#cache.fetchPage(false)
    for (let round = 0; end === 'doubtful' && round < mostRounds; round++) {
      const isFollowed = await this.synced.then(
        () => this.status !== 'failed' && this.status !== 'closed',
        () => false,
      )
      if (!isFollowed) break
      if (round > 0) await this.#nextFrame()
      end = await this.#cache.fetchPage(true)
    }
    return end !== 'whole'
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

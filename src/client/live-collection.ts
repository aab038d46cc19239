// Front ends with an older `lib` need this to read the types.
/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The objects of a subscription, kept for a page. Frames go to a {@link StagedFold}, which never shows a part of a new
 * snapshot and says which rows changed. The collection hands these changes to its views, each with its own order and
 * filter, and to the listeners of changes. It updates all views before it calls any listener, so a listener never sees
 * one view before and another after a frame. `getSnapshot` of the collection is that of its first view.
 */
import type { Frame, Removal } from './frame-fold.ts'
import {
  type LiveQuery,
  type LiveSnapshot,
  type LiveState,
  type LiveStatus,
  LiveStream,
} from './live-stream.ts'
import { Listeners } from './listeners.ts'

/** The row type of a subscription's result: that of the objects in the changes of its root field. */
export type RowOf<Result> = Result extends object
  ? NonNullable<Result[keyof Result]> extends { readonly changes: readonly (infer Change)[] }
    ? Change extends { readonly object?: infer Row }
      ? NonNullable<Row>
      : never
    : never
  : never

/** Options of {@link liveCollection}. */
export interface LiveCollectionOptions<Result, Variables, Row> extends LiveQuery<
  Result,
  Variables
> {
  /**
   * A subscription with one root field, a list or a single object, that selects `reset synced changes { type removal
   * objectId object { … } }`. To continue after a lost connection it must also select `resumeToken` and take
   * `$resumeFrom: String` for its argument `resumeFrom`; otherwise it starts over. With `staleSince` selected,
   * snapshots say when the gateway has lost its watch.
   */
  readonly query: LiveQuery<Result, Variables>['query']
  /** The order of the rows; default: order of arrival. */
  readonly compare?: Compare<Row>
}

/**
 * Keeps the objects of a subscription through lost connections, restarted gateways and new snapshots. It connects with
 * its first subscriber, and leaves shortly after the last one, with its rows: the next subscriber lets it go on. Throws
 * `TypeError` for a document without its text.
 */
export function liveCollection<Result, Variables, Row = RowOf<Result>>(
  options: LiveCollectionOptions<Result, Variables, Row>,
): LiveCollection<Row> {
  return new LiveCollection<Row>(options)
}

/** The current objects of a subscription. `subscribe` and `getSnapshot` fit React's `useSyncExternalStore`. */
export class LiveCollection<Row> implements Disposable {
  readonly #listenerFailed: ((error: unknown) => void) | undefined
  readonly #fold = new StagedFold<Row>()
  readonly #all: LiveView<Row>
  readonly #views = new Set<LiveView<Row>>()
  readonly #changed: Listeners<[changes: readonly RowChange<Row>[]]>
  readonly #stream: LiveStream<Frame<Row>>

  constructor({ compare, listenerFailed, ...query }: LiveCollectionOptions<unknown, unknown, Row>) {
    this.#listenerFailed = listenerFailed
    this.#stream = new LiveStream({
      ...query,
      received: (frame: Frame<Row>) => {
        const changes = this.#fold.apply(frame)
        if (changes.length > 0) {
          for (const view of this.#views) view.apply(changes)
          for (const view of this.#views) view.tell()
          this.#changed.tell(changes)
        }
        return this.#fold.synced ? 'synced' : 'incomplete'
      },
      stateChanged: () => {
        for (const view of this.#views) view.stateChanged()
        for (const view of this.#views) view.tell()
      },
    })
    this.#changed = new Listeners({ failed: listenerFailed, hold: this.#stream.hold })
    this.#all = this.view({ compare })
  }

  /** The objects by id. Changes in place; renderers use {@link getSnapshot}. */
  get objects(): ReadonlyMap<string, Row> {
    return this.#fold.rows
  }

  get status(): LiveStatus {
    return this.#stream.status
  }

  /**
   * Resolves when the first snapshot is complete; rejects if that cannot happen any more. Reading it
   * counts as a subscriber until {@link close}.
   */
  get synced(): Promise<void> {
    return this.#stream.synced
  }

  /** The same object until something changes. Works without `this`. */
  readonly getSnapshot = (): LiveSnapshot<Row> => this.#all.getSnapshot()

  /**
   * Calls `listener` after each frame that changes the snapshot. Returns a function that removes it. Works without
   * `this`.
   */
  readonly subscribe = (listener: () => void): (() => void) => this.#all.subscribe(listener)

  /** Calls `listener`, a subscriber, with the changes of each frame. Returns a function that removes it. */
  onChanges(listener: (changes: readonly RowChange<Row>[]) => void): () => void {
    return this.#changed.add(listener)
  }

  /** A view of the rows: in another order, or filtered. Each change costs some work until the view is closed. */
  view(options: ViewOptions<Row>): LiveView<Row> {
    const view: LiveView<Row> = new LiveView<Row>(options, this.#fold.rows, {
      state: () => this.#stream.state,
      listeners: new Listeners({ failed: this.#listenerFailed, hold: this.#stream.hold }),
      closed: () => void this.#views.delete(view),
    })
    this.#views.add(view)
    return view
  }

  /** Ends the subscription for good. The rows stay. */
  close(): void {
    this.#stream.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** Compares two rows, as for `Array.prototype.sort`. */
export type Compare<Row> = (a: Row, b: Row) => number

/** The filter and the order of a view. */
export interface ViewOptions<Row> {
  /** Default: order of arrival. */
  readonly compare?: Compare<Row> | undefined
  /** Selects rows; default: all. */
  readonly filter?: ((row: Row) => boolean) | undefined
}

/** The part of the collection that a view uses. */
interface ViewSource {
  readonly state: () => LiveState
  readonly listeners: Listeners
  readonly closed: () => void
}

interface Entry<Row> {
  readonly id: string
  readonly row: Row
  /** The order of arrival, which sorts rows that compare equal. */
  readonly number: number
}

/**
 * Sorted rows of a collection. A change costs a binary search and a move within one array. The array of a snapshot is
 * built on access, once for all changes since the last access.
 */
export class LiveView<Row> implements Disposable {
  readonly #compare: Compare<Entry<Row>>
  readonly #accepts: (row: Row) => boolean
  readonly #entries = new Map<string, Entry<Row>>()
  readonly #order: Entry<Row>[] = []
  #rows: readonly Row[] | undefined
  #count = 0
  readonly #state: () => LiveState
  readonly #closed: () => void
  readonly #listeners: Listeners
  #snapshot: LiveSnapshot<Row> | undefined
  #isTold = true

  constructor(
    { compare, filter }: ViewOptions<Row>,
    rows: Iterable<readonly [string, Row]>,
    { state, listeners, closed }: ViewSource,
  ) {
    this.#compare = (a, b) => compare?.(a.row, b.row) || a.number - b.number
    this.#accepts = filter ?? (() => true)
    this.#state = state
    this.#closed = closed
    this.#listeners = listeners
    for (const [id, row] of rows) {
      if (this.#accepts(row)) this.#entries.set(id, { id, row, number: this.#count++ })
    }
    for (const entry of this.#entries.values()) this.#order.push(entry)
    this.#order.sort(this.#compare)
  }

  /** The same object until something changes. Works without `this`. */
  readonly getSnapshot = (): LiveSnapshot<Row> => {
    this.#rows ??= this.#order.map(({ row }) => row)
    return (this.#snapshot ??= { rows: this.#rows, ...this.#state() })
  }

  /**
   * Calls `listener` when the snapshot has changed; counts as a subscriber of the collection. Returns a function that
   * removes it. Works without `this`.
   */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener)

  /** Stops updates. */
  close(): void {
    this.#listeners.clear()
    this.#closed()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** For the collection: applies changes of rows. */
  apply(changes: readonly RowChange<Row>[]): void {
    let isOther = false
    for (const change of changes) {
      const { id } = change
      const isShown = change.type === 'REMOVED' ? this.#delete(id) : this.#set(id, change.row)
      isOther ||= isShown
    }
    if (!isOther) return
    this.#rows = undefined
    this.stateChanged()
  }

  /** For the collection: drops the snapshot after a change of status or rows. */
  stateChanged(): void {
    this.#snapshot = undefined
    this.#isTold = false
  }

  /** For the collection: notifies the listeners of a change, if any. */
  tell(): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#listeners.tell()
  }

  /** Returns whether the shown rows have changed. */
  #set(id: string, row: Row): boolean {
    if (!this.#accepts(row)) return this.#delete(id)
    const known = this.#entries.get(id)
    if (known !== undefined) this.#remove(known)
    const entry = { id, row, number: known?.number ?? this.#count++ }
    this.#entries.set(id, entry)
    this.#order.splice(this.#placeOf(entry), 0, entry)
    return true
  }

  #delete(id: string): boolean {
    const known = this.#entries.get(id)
    if (known === undefined) return false
    this.#remove(known)
    return this.#entries.delete(id)
  }

  #remove(entry: Entry<Row>): void {
    const place = this.#placeOf(entry)
    // An inconsistent `compare` may have put it elsewhere.
    const at = this.#order[place] === entry ? place : this.#order.indexOf(entry)
    this.#order.splice(at, 1)
  }

  /** The position of an entry, present or not. */
  #placeOf(entry: Entry<Row>): number {
    let low = 0
    let high = this.#order.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#order[middle] as Entry<Row>
      if (this.#compare(other, entry) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** A change of a shown row. */
export type RowChange<Row> =
  | { readonly type: 'ADDED'; readonly id: string; readonly row: Row }
  | { readonly type: 'MODIFIED'; readonly id: string; readonly row: Row; readonly previous: Row }
  | {
      readonly type: 'REMOVED'
      readonly id: string
      readonly previous: Row
      /** `undefined` if a new snapshot lacks the row. */
      readonly removal: Removal | undefined
    }

/**
 * Folds frames without ever showing a partial snapshot: after a reset, new rows are collected while the old rows stay,
 * and replace them when the snapshot is complete. The first snapshot is shown as it arrives.
 */
class StagedFold<Row> {
  #rows = new Map<string, Row>()
  #staged: Map<string, Row> | undefined
  #synced = false
  #hasBeenSynced = false

  get rows(): ReadonlyMap<string, Row> {
    return this.#rows
  }

  /** Whether the rows are complete and followed. */
  get synced(): boolean {
    return this.#synced
  }

  /** Applies a frame. Returns the changes of the shown rows. */
  apply({ reset, synced, changes }: Frame<Row>): readonly RowChange<Row>[] {
    const told: RowChange<Row>[] = []
    if (reset) {
      this.#synced = false
      this.#staged = new Map()
      // Drops an incomplete first snapshot.
      if (!this.#hasBeenSynced) told.push(...this.#removals(this.#staged))
    }
    const staged = this.#hasBeenSynced ? this.#staged : undefined
    for (const change of changes) {
      const { type, objectId, object } = change
      if (type === 'REMOVED') {
        if (staged === undefined) told.push(...this.#remove(objectId, change.removal ?? undefined))
        else staged.delete(objectId)
      } else if (object !== undefined && object !== null) {
        if (staged === undefined) told.push(this.#set(objectId, object))
        else staged.set(objectId, object)
      }
    }
    if (synced && !this.#synced) {
      this.#synced = true
      this.#hasBeenSynced = true
      this.#staged = undefined
      if (staged !== undefined) told.push(...this.#removals(staged))
      for (const [id, row] of staged ?? []) told.push(this.#set(id, row))
    }
    return told
  }

  #set(id: string, row: Row): RowChange<Row> {
    const previous = this.#rows.get(id)
    this.#rows.set(id, row)
    return previous === undefined
      ? { type: 'ADDED', id, row }
      : { type: 'MODIFIED', id, row, previous }
  }

  #remove(id: string, removal: Removal | undefined): RowChange<Row>[] {
    const previous = this.#rows.get(id)
    if (previous === undefined) return []
    this.#rows.delete(id)
    return [{ type: 'REMOVED', id, previous, removal }]
  }

  #removals(staying: ReadonlyMap<string, Row>): RowChange<Row>[] {
    return [...this.#rows.keys()]
      .filter((id) => !staying.has(id))
      .flatMap((id) => this.#remove(id, undefined))
  }
}

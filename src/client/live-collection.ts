// Front ends with an older `lib` need this to read the types.
/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The objects of a subscription, kept for a page. Frames go to a {@link StagedFold}, which never shows a part of a new
 * snapshot and says which rows changed. The collection hands these changes to its views, each with its own order and
 * filter, and to the listeners of changes. It updates all views before it calls any listener, so a listener never sees
 * one view before and another after a frame.
 */
import { type Frame, missingField, type Removal } from './frame-fold.ts'
import type { LiveQuery, LiveSnapshot, LiveState, RowOf } from './live-stream.ts'
import { LiveSubscription } from './live-value.ts'
import type { Listeners } from './listeners.ts'

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
export function liveCollection<Row>(
  options: LiveCollectionOptions<unknown, object, Row> & { readonly query: string },
): LiveCollection<Row>
export function liveCollection<Result, Variables, Row = RowOf<Result>>(
  options: LiveCollectionOptions<Result, Variables, Row>,
): LiveCollection<Row>
export function liveCollection<Row>(
  options: LiveCollectionOptions<unknown, object, Row>,
): LiveCollection<Row> {
  return new LiveCollection<Row>(options)
}

/** The current objects of a subscription. */
export class LiveCollection<Row> extends LiveSubscription<
  Frame<Row>,
  Pick<LiveSnapshot<Row>, 'rows'>
> {
  /** The objects by id. Changes in place; renderers use `getSnapshot`. */
  readonly objects: ReadonlyMap<string, Row>
  readonly #views: Set<LiveView<Row>>
  readonly #changed: Listeners<[changes: readonly RowChange<Row>[]]>

  constructor({ compare, ...query }: LiveCollectionOptions<unknown, unknown, Row>) {
    const fold = new StagedFold<Row>()
    const views = new Set<LiveView<Row>>()
    const rows = new SortedRows({ compare }, fold.rows)
    let changed: Listeners<[changes: readonly RowChange<Row>[]]> | undefined
    let changes: readonly RowChange<Row>[] = []
    super(query, {
      received(frame: Frame<Row>) {
        const missing = missingField(frame, 'list')
        if (missing !== undefined) {
          changes = []
          return { received: { missing }, isOther: false }
        }
        changes = fold.apply(frame)
        rows.apply(changes)
        for (const view of views) view.apply(changes)
        return { received: fold.synced ? 'synced' : 'incomplete', isOther: changes.length > 0 }
      },
      told() {
        for (const view of views) view.tell()
        if (changes.length > 0) changed?.tell(changes)
      },
      stateChanged() {
        for (const view of views) view.stateChanged()
        for (const view of views) view.tell()
      },
      shown: () => ({ rows: rows.all }),
    })
    this.objects = fold.rows
    this.#views = views
    this.#changed = changed = this.listeners()
  }

  /** Calls `listener`, a subscriber, with the changes of each frame. Returns a function that removes it. */
  onChanges(listener: (changes: readonly RowChange<Row>[]) => void): () => void {
    return this.#changed.add(listener)
  }

  /** A view of the rows: in another order, or filtered. Each change costs some work until the view is closed. */
  view(options: ViewOptions<Row>): LiveView<Row> {
    const view: LiveView<Row> = new LiveView<Row>(new SortedRows(options, this.objects), {
      state: () => this.state,
      listeners: this.listeners(),
      closed: () => void this.#views.delete(view),
    })
    this.#views.add(view)
    return view
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

/** Rows of a collection, filtered and sorted, and what a page shows of them. */
export class LiveView<Row> implements Disposable {
  readonly #rows: SortedRows<Row>
  readonly #source: ViewSource
  #snapshot: LiveSnapshot<Row> | undefined
  #isTold = true

  constructor(rows: SortedRows<Row>, source: ViewSource) {
    this.#rows = rows
    this.#source = source
  }

  /** The same object until something changes. Works without `this`. */
  readonly getSnapshot = (): LiveSnapshot<Row> =>
    (this.#snapshot ??= { rows: this.#rows.all, ...this.#source.state() })

  /**
   * Calls `listener` when the snapshot has changed; counts as a subscriber of the collection. Returns a function that
   * removes it. Works without `this`.
   */
  readonly subscribe = (listener: () => void): (() => void) => this.#source.listeners.add(listener)

  /** Stops updates. */
  close(): void {
    this.#source.listeners.clear()
    this.#source.closed()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** For the collection: applies changes of rows. */
  apply(changes: readonly RowChange<Row>[]): void {
    if (this.#rows.apply(changes)) this.stateChanged()
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
    this.#source.listeners.tell()
  }
}

/**
 * Sorted rows. A change costs a binary search and a move within one array. The array of a snapshot is built on access,
 * once for all changes since the last access.
 */
class SortedRows<Row> {
  readonly #compare: Compare<Entry<Row>>
  readonly #accepts: (row: Row) => boolean
  readonly #entries = new Map<string, Entry<Row>>()
  readonly #order: Entry<Row>[] = []
  #all: readonly Row[] | undefined
  #count = 0

  constructor({ compare, filter }: ViewOptions<Row>, rows: Iterable<readonly [string, Row]>) {
    this.#compare = (a, b) => compare?.(a.row, b.row) || a.number - b.number
    this.#accepts = filter ?? (() => true)
    for (const [id, row] of rows) {
      if (this.#accepts(row)) this.#entries.set(id, { id, row, number: this.#count++ })
    }
    for (const entry of this.#entries.values()) this.#order.push(entry)
    this.#order.sort(this.#compare)
  }

  get all(): readonly Row[] {
    return (this.#all ??= this.#order.map(({ row }) => row))
  }

  /** Applies changes. Returns whether the rows have changed. */
  apply(changes: readonly RowChange<Row>[]): boolean {
    let isOther = false
    for (const change of changes) {
      const { id } = change
      const isShown = change.type === 'REMOVED' ? this.#delete(id) : this.#set(id, change.row)
      isOther ||= isShown
    }
    if (isOther) this.#all = undefined
    return isOther
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

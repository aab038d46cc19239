// Front ends with an older `lib` need this to read the types.
/// <reference lib="esnext.disposable" preserve="true" />
import { Listeners } from './listeners.ts'
import type { LiveSnapshot, LiveState } from './live-stream.ts'
import type { RowChange } from './staged-fold.ts'

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
  readonly listenerFailed: ((error: unknown) => void) | undefined
  /** Keeps the subscription open until the returned function is called. */
  readonly hold: () => () => void
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
  readonly #source: ViewSource
  readonly #listeners: Listeners
  #snapshot: LiveSnapshot<Row> | undefined
  #isTold = true

  constructor(
    { compare, filter }: ViewOptions<Row>,
    source: ViewSource,
    rows: Iterable<readonly [string, Row]>,
  ) {
    this.#compare = (a, b) => compare?.(a.row, b.row) || a.number - b.number
    this.#accepts = filter ?? (() => true)
    this.#source = source
    this.#listeners = new Listeners({ failed: source.listenerFailed, hold: source.hold })
    for (const [id, row] of rows) {
      if (this.#accepts(row)) this.#entries.set(id, { id, row, number: this.#count++ })
    }
    for (const entry of this.#entries.values()) this.#order.push(entry)
    this.#order.sort(this.#compare)
  }

  /** The same object until something changes. Works without `this`. */
  readonly getSnapshot = (): LiveSnapshot<Row> => {
    this.#rows ??= this.#order.map(({ row }) => row)
    return (this.#snapshot ??= { rows: this.#rows, ...this.#source.state() })
  }

  /**
   * Calls `listener` when the snapshot has changed; counts as a subscriber of the collection. Returns a function that
   * removes it. Works without `this`.
   */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener)

  /** Stops updates. */
  close(): void {
    this.#listeners.clear()
    this.#source.closed()
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

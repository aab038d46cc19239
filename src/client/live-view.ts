// What a front end with an older `lib` needs to read these types.
/// <reference lib="esnext.disposable" preserve="true" />
import { Listeners } from './listeners.ts'
import type { LiveSnapshot } from './live-snapshot.ts'
import { type Compare, SortedRows } from './sorted-rows.ts'
import type { RowChange } from './staged-fold.ts'

/** Which rows of a collection a view shows, and in which order. */
export interface ViewOptions<Row> {
  /** Default: in the order in which they came. */
  readonly compare?: Compare<Row> | undefined
  /** Which rows are shown; default: all. */
  readonly filter?: ((row: Row) => boolean) | undefined
}

/** What a view needs of the collection that it is of. */
interface ViewSource {
  readonly state: () => Pick<LiveSnapshot<unknown>, 'status' | 'error'>
  readonly listenerFailed: ((error: unknown) => void) | undefined
  readonly closed: () => void
}

/** Rows of a collection in an order, kept up to date change by change. */
export class LiveView<Row> implements Disposable {
  readonly #rows: SortedRows<Row>
  readonly #source: ViewSource
  readonly #listeners: Listeners
  #snapshot: LiveSnapshot<Row> | undefined
  #isTold = true

  constructor({ compare, filter }: ViewOptions<Row>, source: ViewSource) {
    this.#rows = new SortedRows(compare, filter)
    this.#source = source
    this.#listeners = new Listeners(source.listenerFailed)
  }

  /** The same until something changes. Needs no `this`. */
  readonly getSnapshot = (): LiveSnapshot<Row> =>
    (this.#snapshot ??= { rows: this.#rows.rows, ...this.#source.state() })

  /** Calls back when the snapshot has changed. Returns what ends that. Needs no `this`. */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener)

  /** Is changed no more. */
  close(): void {
    this.#listeners.clear()
    this.#source.closed()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** The collection's: what it is to begin with. */
  replace(rows: Iterable<readonly [string, Row]>): void {
    this.#rows.replace(rows)
  }

  /** The collection's: what has become of its rows. */
  apply(changes: readonly RowChange<Row>[]): void {
    let isOther = false
    for (const change of changes) {
      const { id } = change
      isOther =
        (change.type === 'REMOVED' ? this.#rows.delete(id) : this.#rows.set(id, change.row)) ||
        isOther
    }
    if (isOther) this.stateChanged()
  }

  /** The collection's: another status, or other rows. */
  stateChanged(): void {
    this.#snapshot = undefined
    this.#isTold = false
  }

  /** The collection's: calls back those who listen, if there is anything to tell. */
  tell(): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#listeners.tell()
  }
}

// Front ends with an older `lib` need this to read the types.
import { Listeners } from './listeners.ts'
import type { LiveSnapshot } from './live-stream.ts'
import { type Compare, SortedRows } from './sorted-rows.ts'
import type { RowChange } from './staged-fold.ts'

/** The filter and the order of a view. */
export interface ViewOptions<Row> {
  /** Default: order of arrival. */
  readonly compare?: Compare<Row> | undefined
  /** Selects rows; default: all. */
  readonly filter?: ((row: Row) => boolean) | undefined
}

/** The part of the collection that a view uses. */
interface ViewSource {
  readonly state: () => Pick<LiveSnapshot<unknown>, 'status' | 'error'>
  readonly listenerFailed: ((error: unknown) => void) | undefined
  readonly closed: () => void
}

/** Sorted rows of a collection. Each change updates them. */
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

  /** The same object until something changes. Works without `this`. */
  readonly getSnapshot = (): LiveSnapshot<Row> =>
    (this.#snapshot ??= { rows: this.#rows.rows, ...this.#source.state() })

  /** Calls `listener` when the snapshot has changed. Returns a function that removes it. Works without `this`. */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener)

  /** Stops updates. */
  close(): void {
    this.#listeners.clear()
    this.#source.closed()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** For the collection: sets the initial rows. */
  replace(rows: Iterable<readonly [string, Row]>): void {
    this.#rows.replace(rows)
  }

  /** For the collection: applies changes of rows. */
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
}

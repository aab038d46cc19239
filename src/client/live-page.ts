// Front ends with an older `lib` need this to read the types.
/// <reference lib="esnext.disposable" preserve="true" />
import { Listeners } from './listeners.ts'
import type { RowOf } from './live-collection.ts'
import { type LiveQuery, type LiveSnapshot, type LiveStatus, LiveStream } from './live-stream.ts'
import { PageFold, type PageFrame } from './page-fold.ts'

/** Options of {@link livePage}. */
export interface LivePageOptions<Result, Variables> extends LiveQuery<Result, Variables> {
  /**
   * A subscription with one root field, such as `podsPage`, that selects `reset synced totalCount changes { step index
   * from objectId object { … } }`. To continue after a lost connection it must also select `resumeToken` and take
   * `$resumeFrom: String` for its argument `resumeFrom`; otherwise it starts over. With `staleSince` selected,
   * snapshots say when the gateway has lost its watch.
   */
  readonly query: LiveQuery<Result, Variables>['query']
  /** Receives errors of listeners; by default they are reported as uncaught errors. */
  readonly listenerFailed?: (error: unknown) => void
}

/** An immutable snapshot of a page. */
export interface LivePageSnapshot<Row> extends LiveSnapshot<Row> {
  /** The number of objects on all pages of the list; `undefined` before the first page is complete. */
  readonly totalCount: number | undefined
}

/**
 * Keeps the rows of a page, in the gateway's order, through lost connections, restarted gateways and new snapshots. It
 * connects with its first subscriber, and leaves shortly after the last one, with its rows: the next subscriber lets it
 * go on. Throws `TypeError` for a document without its text.
 */
export function livePage<Result, Variables, Row = RowOf<Result>>(
  options: LivePageOptions<Result, Variables>,
): LivePage<Row> {
  return new LivePage<Row>(options)
}

/** The current first objects of an ordered list. `subscribe` and `getSnapshot` fit React's `useSyncExternalStore`. */
export class LivePage<Row> implements Disposable {
  readonly #fold = new PageFold<Row>()
  readonly #stream: LiveStream<PageFrame<Row>>
  readonly #listeners: Listeners
  #snapshot: LivePageSnapshot<Row> | undefined

  constructor({ listenerFailed, ...query }: LivePageOptions<unknown, unknown>) {
    this.#stream = new LiveStream({
      ...query,
      received: (frame: PageFrame<Row>) => {
        const { rows, totalCount } = this.#fold
        if (!this.#fold.apply(frame)) return 'unfit'
        // A change of the status notifies the listeners itself.
        const isLive = this.#stream.status === 'live'
        if (rows !== this.#fold.rows || totalCount !== this.#fold.totalCount) {
          this.#snapshot = undefined
          if (isLive) this.#listeners.tell()
        }
        return this.#fold.synced ? 'synced' : 'incomplete'
      },
      stateChanged: () => {
        this.#snapshot = undefined
        this.#listeners.tell()
      },
    })
    this.#listeners = new Listeners({ failed: listenerFailed, hold: this.#stream.hold })
  }

  get status(): LiveStatus {
    return this.#stream.status
  }

  /**
   * Resolves when the first page is complete; rejects if that cannot happen any more. Reading it
   * counts as a subscriber until {@link close}.
   */
  get synced(): Promise<void> {
    return this.#stream.synced
  }

  /** The same object until something changes. Works without `this`. */
  readonly getSnapshot = (): LivePageSnapshot<Row> => {
    const { rows, totalCount } = this.#fold
    return (this.#snapshot ??= { rows, totalCount, ...this.#stream.state })
  }

  /**
   * Calls `listener`, a subscriber, when the snapshot has changed. Returns a function that removes it. Works without
   * `this`.
   */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener)

  /** Ends the subscription for good. The rows stay. */
  close(): void {
    this.#stream.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

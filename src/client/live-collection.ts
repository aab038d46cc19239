// Front ends with an older `lib` need this to read the types.
/// <reference lib="esnext.disposable" preserve="true" />
import type { Frame } from './frame-fold.ts'
import { type LiveQuery, type LiveSnapshot, type LiveStatus, LiveStream } from './live-stream.ts'
import { type Compare, LiveView, type ViewOptions } from './live-view.ts'
import { Listeners } from './listeners.ts'
import { type RowChange, StagedFold } from './staged-fold.ts'

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
    const source = {
      state: () => this.#stream.state,
      listenerFailed: this.#listenerFailed,
      hold: this.#stream.hold,
      closed: () => void this.#views.delete(view),
    }
    const view: LiveView<Row> = new LiveView<Row>(options, source, this.#fold.rows)
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

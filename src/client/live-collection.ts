// What a front end with an older `lib` needs to read these types.
/// <reference lib="esnext.disposable" preserve="true" />
import type { Frame } from './frame-fold.ts'
import type { LiveSnapshot, LiveStatus } from './live-snapshot.ts'
import { type LiveQuery, liveRequest, LiveStream } from './live-stream.ts'
import type { LiveRequest, LiveTransport } from './live-transport.ts'
import { LiveView, type ViewOptions } from './live-view.ts'
import { Listeners } from './listeners.ts'
import type { Compare } from './sorted-rows.ts'
import { type RowChange, StagedFold } from './staged-fold.ts'

/** The rows of a subscription's result: of the objects in the changes of its one root field. */
export type RowOf<Result> = Result extends object
  ? NonNullable<Result[keyof Result]> extends { readonly changes: readonly (infer Change)[] }
    ? Change extends { readonly object?: infer Row }
      ? NonNullable<Row>
      : never
    : never
  : never

/** What {@link liveCollection} opens, and how its rows are shown. */
export interface LiveCollectionOptions<Result, Variables, Row> extends LiveQuery<
  Result,
  Variables
> {
  /**
   * A subscription with one root field, to a list or a single object, that asks for `reset synced changes { type removal objectId
   * object { … } }`. It goes on where it was after a lost connection if it asks for `resumeToken`, too, and takes
   * `$resumeFrom: String` for its argument `resumeFrom`; else it begins anew.
   */
  readonly query: LiveQuery<Result, Variables>['query']
  /** The order of the rows; default: in which they came. */
  readonly compare?: Compare<Row>
  /** Told of what a listener has thrown; default: reported as an uncaught error is. */
  readonly listenerFailed?: (error: unknown) => void
}

/**
 * Opens a subscription at once and keeps what it is about, through lost connections, restarted gateways and new snapshots, until
 * it is closed. Throws `TypeError` for a document that does not tell its text.
 */
export function liveCollection<Result, Variables, Row = RowOf<Result>>(
  options: LiveCollectionOptions<Result, Variables, Row>,
): LiveCollection<Row> {
  const { client, compare, listenerFailed } = options
  return new LiveCollection<Row>({ client, request: liveRequest(options), compare, listenerFailed })
}

interface CollectionOptions<Row> {
  readonly client: LiveTransport
  readonly request: LiveRequest
  readonly compare: Compare<Row> | undefined
  readonly listenerFailed: ((error: unknown) => void) | undefined
}

/** The objects of a subscription, as they are at the moment. `subscribe` and `getSnapshot` fit React's `useSyncExternalStore`. */
export class LiveCollection<Row> implements Disposable {
  readonly #listenerFailed: CollectionOptions<Row>['listenerFailed']
  readonly #fold = new StagedFold<Row>()
  readonly #all: LiveView<Row>
  readonly #views = new Set<LiveView<Row>>()
  readonly #changed: Listeners<[changes: readonly RowChange<Row>[]]>
  readonly #stream: LiveStream<Frame<Row>>

  constructor({ client, request, compare, listenerFailed }: CollectionOptions<Row>) {
    this.#listenerFailed = listenerFailed
    this.#changed = new Listeners(listenerFailed)
    this.#stream = new LiveStream({
      client,
      request,
      received: (frame: Frame<Row>) => {
        this.#show(this.#fold.apply(frame))
        return this.#fold.synced ? 'synced' : 'incomplete'
      },
      stateChanged: () => this.#stateChanged(),
    })
    this.#all = this.view({ compare })
    this.#stream.open()
  }

  /** The objects by the id of each. Changed in place: for renderers there is {@link getSnapshot}. */
  get objects(): ReadonlyMap<string, Row> {
    return this.#fold.rows
  }

  get status(): LiveStatus {
    return this.#stream.status
  }

  /** Resolves when the first snapshot is complete; rejects when that cannot be any more. */
  get synced(): Promise<void> {
    return this.#stream.synced
  }

  /** The same until something changes. Needs no `this`. */
  readonly getSnapshot = (): LiveSnapshot<Row> => this.#all.getSnapshot()

  /** Calls back after each frame that changes the snapshot. Returns what ends that. Needs no `this`. */
  readonly subscribe = (listener: () => void): (() => void) => this.#all.subscribe(listener)

  /** Calls back with what has become of each row, frame by frame. Returns what ends that. */
  onChanges(listener: (changes: readonly RowChange<Row>[]) => void): () => void {
    return this.#changed.add(listener)
  }

  /** The same rows in another order, or some of them. Costs as much as its changes, until it is closed. */
  view(options: ViewOptions<Row>): LiveView<Row> {
    const view: LiveView<Row> = new LiveView<Row>(options, {
      state: () => ({ status: this.#stream.status, error: this.#stream.error }),
      listenerFailed: this.#listenerFailed,
      closed: () => void this.#views.delete(view),
    })
    view.replace(this.#fold.rows)
    this.#views.add(view)
    return view
  }

  /** Ends the subscription. What is shown stays. */
  close(): void {
    this.#stream.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #show(changes: readonly RowChange<Row>[]): void {
    if (changes.length === 0) return
    for (const view of this.#views) view.apply(changes)
    for (const view of this.#views) view.tell()
    this.#changed.tell(changes)
  }

  #stateChanged(): void {
    for (const view of this.#views) view.stateChanged()
    for (const view of this.#views) view.tell()
  }
}

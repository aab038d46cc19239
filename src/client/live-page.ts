// What a front end with an older `lib` needs to read these types.
/// <reference lib="esnext.disposable" preserve="true" />
import { Listeners } from './listeners.ts'
import type { RowOf } from './live-collection.ts'
import type { LiveSnapshot, LiveStatus } from './live-snapshot.ts'
import { type LiveQuery, liveRequest, LiveStream } from './live-stream.ts'
import type { LiveRequest, LiveTransport } from './live-transport.ts'
import { PageFold, type PageFrame } from './page-fold.ts'

/** What {@link livePage} opens. */
export interface LivePageOptions<Result, Variables> extends LiveQuery<Result, Variables> {
  /**
   * A subscription with one root field, such as `podsPage`, that asks for `reset synced totalCount changes { step index from
   * objectId object { … } }`. It goes on where it was after a lost connection if it asks for `resumeToken`, too, and takes
   * `$resumeFrom: String` for its argument `resumeFrom`; else it begins anew.
   */
  readonly query: LiveQuery<Result, Variables>['query']
  /** Told of what a listener has thrown; default: reported as an uncaught error is. */
  readonly listenerFailed?: (error: unknown) => void
}

/** A page at one moment. Never changed: the next moment has another. */
export interface LivePageSnapshot<Row> extends LiveSnapshot<Row> {
  /** All objects of the list, on every page; `undefined` before the first page is complete. */
  readonly totalCount: number | undefined
}

/**
 * Opens a subscription to a page at once and keeps its rows, in the gateway's order, through lost connections, restarted gateways
 * and new snapshots, until it is closed. Throws `TypeError` for a document that does not tell its text.
 */
export function livePage<Result, Variables, Row = RowOf<Result>>(
  options: LivePageOptions<Result, Variables>,
): LivePage<Row> {
  const { client, listenerFailed } = options
  return new LivePage<Row>({ client, request: liveRequest(options), listenerFailed })
}

interface PageOptions {
  readonly client: LiveTransport
  readonly request: LiveRequest
  readonly listenerFailed: ((error: unknown) => void) | undefined
}

/** The first objects of an ordered list, as they are at the moment. `subscribe` and `getSnapshot` fit React's `useSyncExternalStore`. */
export class LivePage<Row> implements Disposable {
  readonly #fold = new PageFold<Row>()
  readonly #stream: LiveStream<PageFrame<Row>>
  readonly #listeners: Listeners
  #snapshot: LivePageSnapshot<Row> | undefined

  constructor({ client, request, listenerFailed }: PageOptions) {
    this.#listeners = new Listeners(listenerFailed)
    this.#stream = new LiveStream({
      client,
      request,
      received: (frame: PageFrame<Row>) => {
        const { rows, totalCount } = this.#fold
        if (!this.#fold.apply(frame)) return 'unfit'
        // With its status, where that is another one, too.
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
    this.#stream.open()
  }

  get status(): LiveStatus {
    return this.#stream.status
  }

  /** Resolves when the first page is complete; rejects when that cannot be any more. */
  get synced(): Promise<void> {
    return this.#stream.synced
  }

  /** The same until something changes. Needs no `this`. */
  readonly getSnapshot = (): LivePageSnapshot<Row> => {
    const { rows, totalCount } = this.#fold
    const { status, error } = this.#stream
    return (this.#snapshot ??= { rows, totalCount, status, error })
  }

  /** Calls back when the snapshot has changed. Returns what ends that. Needs no `this`. */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener)

  /** Ends the subscription. What is shown stays. */
  close(): void {
    this.#stream.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

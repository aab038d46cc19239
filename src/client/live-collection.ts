import type { Frame } from './frame-fold.ts'
import { documentText, type LiveDocument } from './live-document.ts'
import { failureOf, type LiveFailure } from './live-failure.ts'
import type { LiveSnapshot, LiveStatus } from './live-snapshot.ts'
import { LiveView, type ViewOptions } from './live-view.ts'
import type { LiveRequest, LiveResult, LiveTransport } from './live-transport.ts'
import { retryDelayMs } from './retry-delay.ts'
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
export interface LiveCollectionOptions<Result, Variables, Row> {
  /** A client of graphql-ws, or a {@link WebSocketClient}. It may be shared by many. */
  readonly client: LiveTransport
  /**
   * A subscription with one root field, to a list or a single object, that asks for `reset synced changes { type removal objectId
   * object { … } }`. It goes on where it was after a lost connection if it asks for `resumeToken`, too, and takes
   * `$resumeFrom: String` for its argument `resumeFrom`; else it begins anew.
   */
  readonly query: LiveDocument<Result, Variables>
  readonly variables?: Omit<Variables, 'resumeFrom'>
  readonly operationName?: string
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
  const { client, query, variables, operationName, compare, listenerFailed } = options
  const request = {
    query: documentText(query),
    variables: { ...variables },
    ...(operationName === undefined ? {} : { operationName }),
  }
  return new LiveCollection<Row>({ client, request, compare, listenerFailed })
}

interface CollectionOptions<Row> {
  readonly client: LiveTransport
  readonly request: LiveRequest
  readonly compare: Compare<Row> | undefined
  readonly listenerFailed: ((error: unknown) => void) | undefined
}

/** The objects of a subscription, as they are at the moment. `subscribe` and `getSnapshot` fit React's `useSyncExternalStore`. */
export class LiveCollection<Row> implements Disposable {
  readonly #options: CollectionOptions<Row>
  readonly #fold = new StagedFold<Row>()
  readonly #all: LiveView<Row>
  readonly #views = new Set<LiveView<Row>>()
  readonly #changed = new Set<(changes: readonly RowChange<Row>[]) => void>()
  readonly #synced = Promise.withResolvers<void>()
  readonly #forgetClosed: (() => void) | undefined
  #resumeToken: string | undefined
  #unsubscribe: (() => void) | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #status: LiveStatus = 'loading'
  #error: Error | undefined

  constructor(options: CollectionOptions<Row>) {
    this.#options = options
    this.#synced.promise.catch(() => {})
    this.#all = this.view({ compare: options.compare })
    this.#forgetClosed = options.client.on?.('closed', () => this.#lost())
    this.#open()
  }

  /** The objects by the id of each. Changed in place: for renderers there is {@link getSnapshot}. */
  get objects(): ReadonlyMap<string, Row> {
    return this.#fold.rows
  }

  get status(): LiveStatus {
    return this.#status
  }

  /** Resolves when the first snapshot is complete; rejects when that cannot be any more. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /** The same until something changes. Needs no `this`. */
  readonly getSnapshot = (): LiveSnapshot<Row> => this.#all.getSnapshot()

  /** Calls back after each frame that changes the snapshot. Returns what ends that. Needs no `this`. */
  readonly subscribe = (listener: () => void): (() => void) => this.#all.subscribe(listener)

  /** Calls back with what has become of each row, frame by frame. Returns what ends that. */
  onChanges(listener: (changes: readonly RowChange<Row>[]) => void): () => void {
    this.#changed.add(listener)
    return () => void this.#changed.delete(listener)
  }

  /** The same rows in another order, or some of them. Costs as much as its changes, until it is closed. */
  view(options: ViewOptions<Row>): LiveView<Row> {
    const view: LiveView<Row> = new LiveView<Row>(options, {
      state: () => ({ status: this.#status, error: this.#error }),
      failed: (error) => this.#listenerFailed(error),
      closed: () => void this.#views.delete(view),
    })
    view.replace(this.#fold.rows)
    this.#views.add(view)
    return view
  }

  /** Ends the subscription. What is shown stays. */
  close(): void {
    if (this.#status === 'closed') return
    this.#end()
    this.#become('closed', undefined)
    this.#synced.reject(new Error('the collection was closed before it was complete'))
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #open(): void {
    this.#retry = undefined
    const { query, operationName, variables } = this.#options.request
    const token = (): string | undefined => this.#resumeToken
    const request: LiveRequest = {
      query,
      ...(operationName === undefined ? {} : { operationName }),
      // Read each time that it is sent: a transport that subscribes again by itself then goes on where this is.
      get variables() {
        const resumeFrom = token()
        return resumeFrom === undefined ? variables : { ...variables, resumeFrom }
      },
    }
    let over = false
    const ended = (reason: unknown): void => {
      if (over) return
      over = true
      this.#ended(failureOf(reason))
    }
    const unsubscribe = this.#options.client.subscribe(request, {
      next: (result) => {
        if (!over) this.#next(result, ended)
      },
      error: ended,
      complete: () => ended({ code: 1000, reason: 'the gateway ended the subscription' }),
    })
    // It may have ended before it returned.
    if (over) unsubscribe()
    else {
      this.#unsubscribe = () => {
        over = true
        unsubscribe()
      }
    }
  }

  #next({ data, errors }: LiveResult, ended: (reason: unknown) => void): void {
    const frame = Object.values((data ?? {}) as Record<string, Frame<Row> | null>)[0] ?? undefined
    if (frame === undefined) {
      this.#unsubscribe?.()
      ended(errors ?? [{ message: 'the subscription brought no frame' }])
      return
    }
    const changes = this.#fold.apply(frame)
    this.#resumeToken = frame.resumeToken ?? this.#resumeToken
    this.#failures = 0
    this.#show(changes)
    if (this.#fold.synced) {
      this.#become('live', undefined)
      this.#synced.resolve()
    } else if (this.#status === 'live') this.#become('reconnecting', undefined)
  }

  #show(changes: readonly RowChange<Row>[]): void {
    if (changes.length === 0) return
    for (const view of this.#views) view.apply(changes)
    for (const view of this.#views) view.tell()
    for (const listener of this.#changed) {
      try {
        listener(changes)
      } catch (error) {
        this.#listenerFailed(error)
      }
    }
  }

  /** The transport's connection is gone; it may come back by itself. */
  #lost(): void {
    if (this.#status === 'live') this.#become('reconnecting', undefined)
  }

  #ended({ error, code, isLasting, retryAfterMs }: LiveFailure): void {
    this.#unsubscribe = undefined
    if (this.#status === 'closed') return
    if (isLasting) {
      this.#end()
      this.#become('failed', error)
      this.#synced.reject(error)
      return
    }
    // What it stood for may be another thing now.
    if (code === 'SCHEMA_CHANGED') this.#resumeToken = undefined
    this.#become(this.#status === 'loading' ? 'loading' : 'reconnecting', error)
    const delayMs = Math.max(retryDelayMs(this.#failures++), retryAfterMs ?? 0)
    this.#retry = setTimeout(() => this.#open(), delayMs)
  }

  #end(): void {
    clearTimeout(this.#retry)
    this.#forgetClosed?.()
    const unsubscribe = this.#unsubscribe
    this.#unsubscribe = undefined
    unsubscribe?.()
  }

  #become(status: LiveStatus, error: Error | undefined): void {
    if (this.#status === status && this.#error === error) return
    this.#status = status
    this.#error = error
    for (const view of this.#views) view.stateChanged()
    for (const view of this.#views) view.tell()
  }

  #listenerFailed(error: unknown): void {
    const { listenerFailed } = this.#options
    if (listenerFailed !== undefined) listenerFailed(error)
    else {
      queueMicrotask(() => {
        throw error
      })
    }
  }
}

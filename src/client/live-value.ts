// Front ends with an older `lib` need this to read the types.
/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Subscriptions that a page shows as one snapshot: the rows of a collection (`live-collection.ts`), those of a live page,
 * folded from its steps, or the last frame of live counts. Each is a {@link LiveShown}, which says what a frame changes and
 * what is shown. The rest is the same for all: a snapshot that is kept until something changes, and listeners who hold the
 * stream open.
 */
import { missingField, PageFold, type PageFrame, type StreamFrame } from './frame-fold.ts'
import { Listeners } from './listeners.ts'
import {
  type LiveQuery,
  type LiveSnapshot,
  type LiveState,
  type LiveStatus,
  LiveStream,
  type Received,
  type RowOf,
} from './live-stream.ts'

/** What frames leave to be shown. */
interface LiveShown<Frame, Shown extends object> {
  /** Applies a frame. `isOther`: what is shown has changed. */
  readonly received: (frame: Frame) => { readonly received: Received; readonly isOther: boolean }
  /** Called after each frame, when `getSnapshot` already shows it. */
  readonly told?: () => void
  /** What a snapshot has besides the state of the subscription. */
  readonly shown: () => Shown
  /** Called before the listeners when the state of the subscription has changed, as `getSnapshot` already shows. */
  readonly stateChanged?: (status: LiveStatus) => void
}

/** What a subscription shows now, such as rows. `subscribe` and `getSnapshot` fit React's `useSyncExternalStore`. */
export class LiveSubscription<
  Frame extends StreamFrame,
  Shown extends object,
> implements Disposable {
  readonly #shown: () => Shown
  readonly #failed: LiveQuery<unknown, unknown>['listenerFailed']
  readonly #stream: LiveStream<Frame>
  readonly #listeners: Listeners
  #snapshot: (Shown & LiveState) | undefined

  constructor(
    query: LiveQuery<unknown, unknown>,
    { received, told, shown, stateChanged }: LiveShown<Frame, Shown>,
  ) {
    this.#shown = shown
    this.#failed = query.listenerFailed
    this.#stream = new LiveStream({
      ...query,
      received: (frame: Frame) => {
        const { received: result, isOther } = received(frame)
        // The status becomes live next, which notifies the listeners itself.
        const becomesLive = result === 'synced' && this.#stream.status !== 'live'
        if (isOther) this.#snapshot = undefined
        if (isOther && !becomesLive) this.#listeners.tell()
        told?.()
        return result
      },
      stateChanged: () => {
        this.#snapshot = undefined
        stateChanged?.(this.#stream.status)
        this.#listeners.tell()
      },
    })
    this.#listeners = this.listeners()
  }

  /** Listeners who are subscribers. */
  protected listeners<Told extends readonly unknown[] = []>(): Listeners<Told> {
    return new Listeners({ failed: this.#failed, hold: this.#stream.hold })
  }

  protected get state(): LiveState {
    return this.#stream.state
  }

  get status(): LiveStatus {
    return this.#stream.status
  }

  /**
   * Resolves when the first snapshot is complete, or with the first frame of a value; rejects if that cannot happen any
   * more. Reading it counts as a subscriber until {@link close}.
   */
  get synced(): Promise<void> {
    return this.#stream.synced
  }

  /** The same object until something changes. Works without `this`. */
  readonly getSnapshot = (): Shown & LiveState =>
    (this.#snapshot ??= { ...this.#shown(), ...this.state })

  /**
   * Calls `listener`, a subscriber, when the snapshot has changed. Returns a function that removes it. Works without
   * `this`.
   */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener)

  /** Ends the subscription for good. What it shows stays. */
  close(): void {
    this.#stream.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** Options of {@link livePage}. */
export interface LivePageOptions<Result, Variables> extends LiveQuery<Result, Variables> {
  /**
   * A subscription with one root field, such as `podsPage`, that selects `reset synced totalCount changes { step index
   * from objectId object { … } }`. To continue after a lost connection it must also select `resumeToken` and take
   * `$resumeFrom: String` for its argument `resumeFrom`; otherwise it starts over. With `staleSince` selected,
   * snapshots say when the gateway has lost its watch.
   */
  readonly query: LiveQuery<Result, Variables>['query']
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
export function livePage<Row>(
  options: LivePageOptions<unknown, object> & { readonly query: string },
): LivePage<Row>
export function livePage<Result, Variables, Row = RowOf<Result>>(
  options: LivePageOptions<Result, Variables>,
): LivePage<Row>
export function livePage<Row>(options: LivePageOptions<unknown, object>): LivePage<Row> {
  const fold = new PageFold<Row>()
  return new LiveSubscription(options, {
    received(frame: PageFrame<Row>) {
      const missing = missingField(frame, 'page')
      if (missing !== undefined) return { received: { missing }, isOther: false }
      const { rows, totalCount } = fold
      if (!fold.apply(frame)) return { received: 'unfit', isOther: false }
      const isOther = rows !== fold.rows || totalCount !== fold.totalCount
      return { received: fold.synced ? 'synced' : 'incomplete', isOther }
    },
    shown: () => ({ rows: fold.rows, totalCount: fold.totalCount }),
  })
}

/** The current first objects of an ordered list. */
export type LivePage<Row> = LiveSubscription<
  PageFrame<Row>,
  Pick<LivePageSnapshot<Row>, 'rows' | 'totalCount'>
>

/** The result of a subscription's root field. */
export type ValueOf<Result> = Result extends object ? NonNullable<Result[keyof Result]> : never

/** Options of {@link liveValue}. */
export interface LiveValueOptions<Result, Variables> extends LiveQuery<Result, Variables> {
  /**
   * A subscription with one root field whose frames each take the place of the one before: `podFacets`,
   * `objectListFacets`, `gatewayClusters`. With `staleSince` and `incomplete` selected, snapshots have them.
   */
  readonly query: LiveQuery<Result, Variables>['query']
}

/** An immutable snapshot of a value. */
export interface LiveValueSnapshot<Value> extends LiveState {
  /** `undefined` before the first frame. */
  readonly value: Value | undefined
}

/**
 * Keeps the last frame of a subscription, such as live counts, through lost connections and restarted gateways. It
 * connects with its first subscriber, and leaves shortly after the last one, with its value: the next subscriber lets it
 * go on. Throws `TypeError` for a document without its text.
 */
export function liveValue<Value>(
  options: LiveValueOptions<unknown, object> & { readonly query: string },
): LiveValue<Value>
export function liveValue<Result, Variables, Value = ValueOf<Result>>(
  options: LiveValueOptions<Result, Variables>,
): LiveValue<Value>
export function liveValue<Value>(options: LiveValueOptions<unknown, object>): LiveValue<Value> {
  let value: Value | undefined
  return new LiveSubscription(options, {
    received(frame: StreamFrame) {
      value = frame as Value
      return { received: 'synced', isOther: true }
    },
    shown: () => ({ value }),
  })
}

/** The present value of a subscription. */
export type LiveValue<Value> = LiveSubscription<
  StreamFrame,
  Pick<LiveValueSnapshot<Value>, 'value'>
>

/** A store as Svelte and RxJS know it: calls `run` with the present snapshot at once, and with each later one. */
export interface SnapshotStore<Snapshot> {
  readonly subscribe: (run: (snapshot: Snapshot) => void) => () => void
}

/**
 * A collection, view, page or value as a store of Svelte (`$store.rows`). For Vue, Solid and others, `subscribe` and
 * `getSnapshot` of the subscription itself are all that a store needs. A store that is subscribed to is a subscriber.
 */
export function liveStore<Snapshot>(live: {
  readonly subscribe: (listener: () => void) => () => void
  readonly getSnapshot: () => Snapshot
}): SnapshotStore<Snapshot> {
  return {
    subscribe(run) {
      let told: Snapshot | undefined
      const tell = (): void => {
        const snapshot = live.getSnapshot()
        if (snapshot === told) return
        told = snapshot
        run(snapshot)
      }
      const leave = live.subscribe(tell)
      tell()
      return leave
    },
  }
}

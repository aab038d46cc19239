// Front ends with an older `lib` need this to read the types.
/// <reference lib="esnext.disposable" preserve="true" />
import type { ClusterGap } from './frame-fold.ts'
import { Listeners } from './listeners.ts'
import { type LiveQuery, type LiveState, LiveStream } from './live-stream.ts'

/** The result of a subscription's root field. */
export type ValueOf<Result> = Result extends object ? NonNullable<Result[keyof Result]> : never

/** Options of {@link liveValue}. */
export interface LiveValueOptions<Result, Variables> extends LiveQuery<Result, Variables> {
  /**
   * A subscription with one root field whose frames each take the place of the one before: `podFacets`,
   * `objectListFacets`, `gatewayClusters`. With `staleSince` and `incomplete` selected, snapshots have them.
   */
  readonly query: LiveQuery<Result, Variables>['query']
  /** Receives errors of listeners; by default they are reported as uncaught errors. */
  readonly listenerFailed?: (error: unknown) => void
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
export function liveValue<Result, Variables, Value = ValueOf<Result>>(
  options: LiveValueOptions<Result, Variables>,
): LiveValue<Value> {
  return new LiveValue<Value>(options)
}

interface ValueFrame {
  readonly staleSince?: string | null
  readonly incomplete?: readonly ClusterGap[]
}

/** The present value of a subscription. `subscribe` and `getSnapshot` fit React's `useSyncExternalStore`. */
export class LiveValue<Value> implements Disposable {
  readonly #stream: LiveStream<ValueFrame>
  readonly #listeners: Listeners
  #value: Value | undefined
  #snapshot: LiveValueSnapshot<Value> | undefined

  constructor({ listenerFailed, ...query }: LiveValueOptions<unknown, unknown>) {
    const changed = (): void => {
      this.#snapshot = undefined
      this.#listeners.tell()
    }
    this.#stream = new LiveStream({
      ...query,
      received: (frame: ValueFrame) => {
        this.#value = frame as Value
        // A change of the status notifies the listeners itself.
        if (this.#stream.status === 'live') changed()
        return 'synced'
      },
      stateChanged: changed,
    })
    this.#listeners = new Listeners({ failed: listenerFailed, hold: this.#stream.hold })
  }

  /**
   * Resolves with the first frame; rejects if none can come any more. Reading it counts as a subscriber until
   * {@link close}.
   */
  get synced(): Promise<void> {
    return this.#stream.synced
  }

  /** The same object until something changes. Works without `this`. */
  readonly getSnapshot = (): LiveValueSnapshot<Value> =>
    (this.#snapshot ??= { value: this.#value, ...this.#stream.state })

  /**
   * Calls `listener`, a subscriber, when the snapshot has changed. Returns a function that removes it. Works without
   * `this`.
   */
  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener)

  /** Ends the subscription for good. The value stays. */
  close(): void {
    this.#stream.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

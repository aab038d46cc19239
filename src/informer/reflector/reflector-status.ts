import type { InformerFailure } from '../informer-observer.ts'
import type { ReflectorObserver } from './reflector-target.ts'

/**
 * The state of a reflector:
 * - `idle`: not started;
 * - `listing`: a list is in progress;
 * - `watching`: the list is complete, and nothing has failed since, whether or not a watch is open at this moment;
 * - `reconnecting`: a watch has failed and is being reopened;
 * - `waiting`: a request has failed and is repeated after a pause;
 * - `stopped`.
 */
export type ReflectorState =
  | 'idle'
  | 'listing'
  | 'watching'
  | 'reconnecting'
  | 'waiting'
  | 'stopped'

/** The status of a reflector, which is its only writer. */
export class ReflectorStatus {
  readonly #observer: ReflectorObserver
  #doing: Exclude<ReflectorState, 'reconnecting'> = 'idle'
  #lastError: Error | undefined
  #lastContactMs: number | undefined

  constructor(observer: ReflectorObserver) {
    this.#observer = observer
  }

  get state(): ReflectorState {
    const hasFailed = this.#doing === 'watching' && this.#lastError !== undefined
    return hasFailed ? 'reconnecting' : this.#doing
  }

  /** The last failure; `undefined` since the last success. */
  get lastError(): Error | undefined {
    return this.#lastError
  }

  /** `performance.now()` at the last list, event or bookmark; `undefined` before the first. */
  get lastContactMs(): number | undefined {
    return this.#lastContactMs
  }

  begins(doing: Exclude<ReflectorState, 'reconnecting'>): void {
    this.#doing = doing
  }

  /** A request was answered. */
  succeeded(): void {
    this.#lastError = undefined
  }

  /** A list, events or a bookmark arrived. */
  observed(): void {
    this.#lastError = undefined
    this.#lastContactMs = performance.now()
  }

  /** Records a failure and reports it to the observer. */
  failed(failure: InformerFailure, error: unknown): void {
    this.#lastError = error instanceof Error ? error : new Error(String(error))
    this.#observer.failed(failure, this.#lastError)
  }
}

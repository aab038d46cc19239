import type { InformerFailure } from '../informer-observer.ts'
import type { ReflectorObserver } from './reflector-target.ts'

/**
 * What a reflector is doing:
 * - `idle`: it has not begun;
 * - `listing`: a list is under way;
 * - `watching`: the list is there and nothing has failed since, whether or not a watch is open at this very moment;
 * - `reconnecting`: a watch has failed and is being opened again;
 * - `waiting`: something has failed and is tried again after a pause;
 * - `stopped`.
 */
export type ReflectorState =
  | 'idle'
  | 'listing'
  | 'watching'
  | 'reconnecting'
  | 'waiting'
  | 'stopped'

/** How a reflector is doing; it writes this, everyone else reads it. */
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

  /** A request is answered. */
  succeeded(): void {
    this.#lastError = undefined
  }

  /** A list, events or a bookmark have come. */
  heard(): void {
    this.#lastError = undefined
    this.#lastContactMs = performance.now()
  }

  /** Something has failed, of which the observer is told. */
  failed(failure: InformerFailure, error: unknown): void {
    this.#lastError = error instanceof Error ? error : new Error(String(error))
    this.#observer.failed(failure, this.#lastError)
  }
}

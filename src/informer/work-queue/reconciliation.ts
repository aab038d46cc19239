import { ApiStatusError } from '../../kubernetes/status.ts'
import { DeadlineError, maxTimerMs } from '../../lib/deadline.ts'
import { shownKey } from './pending-keys.ts'
import {
  ReconcileError,
  TerminalError,
  workQueueDefaults,
  type WorkersOptions,
} from './work-queue-options.ts'
import type { WorkQueue } from './work-queue.ts'

/** The result of a reconcile. */
export interface ReconcileResult {
  /** Process the key again after this time, although it has succeeded. */
  readonly requeueAfterMs?: number
}

/**
 * Makes the state of the world match the wanted state for one key. It receives no event: it reads the newest state, and
 * may be called without need. `signal` aborts when the reconcile takes too long or the workers stop. What it throws is
 * retried, unless it is a `TerminalError`; after the server's `retryAfterMs`, if it is an `ApiStatusError` with one.
 */
export type Reconcile<K = string> = (
  key: K,
  signal: AbortSignal,
) => void | ReconcileResult | Promise<void | ReconcileResult>

export interface ReconciliationOptions<K> {
  readonly queue: Pick<WorkQueue<K>, 'addAfter' | 'addRateLimited' | 'forget'>
  readonly reconcile: Reconcile<K>
  readonly options: WorkersOptions<K>
  /** How long a reconcile may take until its signal aborts. */
  readonly reconcileDeadlineMs: number
}

/** The reconciles of one run of workers: running, failed and abandoned ones. */
export class Reconciliation<K> {
  readonly #queue: ReconciliationOptions<K>['queue']
  readonly #reconcile: Reconcile<K>
  readonly #options: WorkersOptions<K>
  readonly #reconcileDeadlineMs: number
  readonly #identify: (key: K) => string
  readonly #running = new Map<string, { readonly key: K; readonly controller: AbortController }>()
  readonly #failures = new Map<string, number>()
  readonly #abandoned = new Map<string, K>()
  #stopped = false

  constructor(options: ReconciliationOptions<K>, identify: (key: K) => string) {
    this.#queue = options.queue
    this.#reconcile = options.reconcile
    this.#options = options.options
    this.#reconcileDeadlineMs = options.reconcileDeadlineMs
    this.#identify = identify
  }

  get running(): readonly K[] {
    return Array.from(this.#running.values(), ({ key }) => key)
  }

  get abandoned(): readonly K[] {
    return [...this.#abandoned.values()]
  }

  /** Records keys that will not be processed again. */
  abandon(keys: Iterable<K>): void {
    for (const key of keys) this.#abandoned.set(this.#identify(key), key)
  }

  /** Aborts running reconciles and abandons further keys. Idempotent. */
  stop(): void {
    this.#stopped = true
    for (const { controller } of this.#running.values()) {
      controller.abort(new DOMException('the workers stop', 'AbortError'))
    }
  }

  /** Processes a key and schedules its next attempt. Rejects only if an observer throws. */
  async process(key: K): Promise<void> {
    if (this.#stopped) {
      this.abandon([key])
      return
    }
    // This attempt makes up for an earlier abandonment, but not for one during its run.
    this.#abandoned.delete(this.#identify(key))
    try {
      this.#succeeded(key, await this.#call(key))
    } catch (cause) {
      this.#failed(key, cause)
    }
  }

  async #call(key: K): Promise<void | ReconcileResult> {
    const controller = new AbortController()
    const deadlineMs = this.#reconcileDeadlineMs
    const late = () => {
      controller.abort(new DeadlineError(`reconcile of ${shownKey(key)}`, deadlineMs))
    }
    const timer = deadlineMs > maxTimerMs ? undefined : setTimeout(late, deadlineMs)
    const id = this.#identify(key)
    this.#running.set(id, { key, controller })
    try {
      return await this.#reconcile(key, controller.signal)
    } finally {
      clearTimeout(timer)
      this.#running.delete(id)
    }
  }

  /** Throws if the result's time is not a number, which counts as a failure. */
  #succeeded(key: K, result: void | ReconcileResult): void {
    const requeueAfterMs = result?.requeueAfterMs
    if (requeueAfterMs !== undefined && !this.#queue.addAfter(key, requeueAfterMs)) {
      this.abandon([key])
    }
    this.#failures.delete(this.#identify(key))
    this.#queue.forget(key)
  }

  #failed(key: K, cause: unknown): void {
    const id = this.#identify(key)
    const failures = (this.#failures.get(id) ?? 0) + 1
    const { maxRetries = Number.POSITIVE_INFINITY, onFailure } = this.#options
    const isTerminal = cause instanceof TerminalError
    const givenUp = isTerminal || failures > maxRetries
    let retried = false
    if (givenUp) {
      this.#failures.delete(id)
      this.#queue.forget(key)
    } else {
      this.#failures.set(id, failures)
      retried = this.#retry(key, cause)
      if (!retried) this.abandon([key])
    }
    const error = new ReconcileError(key, cause, { failures, retried })
    onFailure?.(error)
    if (onFailure === undefined || (givenUp && !isTerminal)) process.emitWarning(error)
  }

  /** Adds the key again: after the time that the server asks for, else by the rate limiter. */
  #retry(key: K, cause: unknown): boolean {
    const retryAfterMs = cause instanceof ApiStatusError ? (cause.retryAfterMs ?? 0) : 0
    return retryAfterMs > 0
      ? this.#queue.addAfter(key, Math.min(retryAfterMs, workQueueDefaults.maxDelayMs))
      : this.#queue.addRateLimited(key)
  }
}

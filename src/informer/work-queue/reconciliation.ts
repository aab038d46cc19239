import { ApiStatusError } from '../../kubernetes/status.ts'
import { DeadlineError, maxTimerMs } from '../../lib/deadline.ts'
import { shownKey } from './key-identity.ts'
import {
  ReconcileError,
  TerminalError,
  workQueueDefaults,
  type WorkersOptions,
} from './work-queue-options.ts'
import type { WorkQueue } from './work-queue.ts'

/** What a reconcile may ask for. */
export interface ReconcileResult {
  /** Process the key once more after that time, although it has succeeded. */
  readonly requeueAfterMs?: number
}

/**
 * Brings the world in line with what is wanted for one key. It is given no event: it reads the newest state itself, and
 * may be called when there is nothing to do. `signal` is aborted when it has taken too long, or has to end now. What it throws
 * is tried again, but for `TerminalError`; after the time that the server asks for, where it throws an `ApiStatusError` with `retryAfterMs`.
 */
export type Reconcile<K = string> = (
  key: K,
  signal: AbortSignal,
) => void | ReconcileResult | Promise<void | ReconcileResult>

export interface ReconciliationOptions<K> {
  readonly queue: Pick<WorkQueue<K>, 'addAfter' | 'addRateLimited' | 'forget'>
  readonly reconcile: Reconcile<K>
  readonly options: WorkersOptions<K>
  /** How long one may take until its signal is aborted. */
  readonly reconcileDeadlineMs: number
}

/** The reconciles of one run of workers: which are running, which have failed, which are left. */
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

  /** These keys will not be processed once more. */
  abandon(keys: Iterable<K>): void {
    for (const key of keys) this.#abandoned.set(this.#identify(key), key)
  }

  /** Aborts what is running and leaves what comes. Idempotent. */
  stop(): void {
    this.#stopped = true
    for (const { controller } of this.#running.values()) {
      controller.abort(new DOMException('the workers stop', 'AbortError'))
    }
  }

  /** Processes one key and decides when it comes again. Rejects only where an observer throws. */
  async process(key: K): Promise<void> {
    if (this.#stopped) {
      this.abandon([key])
      return
    }
    // What is left while this one runs, it may not have seen.
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

  /** Throws where the time of the result is no number: that is a failure, too. */
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

  /** Adds the key again: when the server that refused asks for it, else as the rate limiter says. */
  #retry(key: K, cause: unknown): boolean {
    const retryAfterMs = cause instanceof ApiStatusError ? (cause.retryAfterMs ?? 0) : 0
    return retryAfterMs > 0
      ? this.#queue.addAfter(key, Math.min(retryAfterMs, workQueueDefaults.maxDelayMs))
      : this.#queue.addRateLimited(key)
  }
}

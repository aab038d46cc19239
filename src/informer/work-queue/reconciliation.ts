import { DeadlineError } from '../../lib/deadline.ts'
import { workQueueDefaults } from './work-queue-defaults.ts'
import { ReconcileError } from './work-queue-errors.ts'
import type { WorkersOptions } from './work-queue-options.ts'
import type { WorkQueue } from './work-queue.ts'

/** What a reconcile may ask for. */
export interface ReconcileResult {
  /** Process the key once more after that time, although it has succeeded. */
  readonly requeueAfterMs?: number
}

/**
 * Brings the world in line with what is wanted for one key. It is given no event: it reads the newest state itself, and
 * may be called when there is nothing to do. `signal` is aborted when it has taken too long, or has to end now.
 */
export type Reconcile = (
  key: string,
  signal: AbortSignal,
) => void | ReconcileResult | Promise<void | ReconcileResult>

export interface ReconciliationOptions {
  readonly queue: Pick<WorkQueue, 'addAfter' | 'addRateLimited' | 'forget'>
  readonly reconcile: Reconcile
  readonly options: WorkersOptions
}

/** The reconciles of one run of workers: which are running, which have failed, which are left. */
export class Reconciliation {
  readonly #queue: ReconciliationOptions['queue']
  readonly #reconcile: Reconcile
  readonly #options: WorkersOptions
  readonly #running = new Map<string, AbortController>()
  readonly #failuresByKey = new Map<string, number>()
  readonly #abandoned = new Set<string>()
  #stopped = false

  constructor({ queue, reconcile, options }: ReconciliationOptions) {
    this.#queue = queue
    this.#reconcile = reconcile
    this.#options = options
  }

  get running(): readonly string[] {
    return [...this.#running.keys()]
  }

  get abandoned(): readonly string[] {
    return [...this.#abandoned]
  }

  /** These keys will not be processed once more. */
  abandon(keys: Iterable<string>): void {
    for (const key of keys) this.#abandoned.add(key)
  }

  /** Aborts what is running and leaves what comes. Idempotent. */
  stop(): void {
    this.#stopped = true
    for (const controller of this.#running.values()) {
      controller.abort(new DOMException('the workers stop', 'AbortError'))
    }
  }

  /** Processes one key and decides when it comes again. Rejects only where an observer throws. */
  async process(key: string): Promise<void> {
    if (this.#stopped) {
      this.#abandoned.add(key)
      return
    }
    // What is left while this one runs, it may not have seen.
    this.#abandoned.delete(key)
    try {
      this.#succeeded(key, await this.#call(key))
    } catch (cause) {
      this.#failed(key, cause)
    }
  }

  async #call(key: string): Promise<void | ReconcileResult> {
    const { reconcileDeadlineMs } = { ...workQueueDefaults, ...this.#options }
    const controller = new AbortController()
    const timer = setTimeout(() => {
      controller.abort(
        new DeadlineError(`reconcile of ${JSON.stringify(key)}`, reconcileDeadlineMs),
      )
    }, reconcileDeadlineMs)
    this.#running.set(key, controller)
    try {
      return await this.#reconcile(key, controller.signal)
    } finally {
      clearTimeout(timer)
      this.#running.delete(key)
    }
  }

  /** Throws where the time of the result is no number: that is a failure, too. */
  #succeeded(key: string, result: void | ReconcileResult): void {
    const requeueAfterMs = result?.requeueAfterMs
    if (requeueAfterMs !== undefined && !this.#queue.addAfter(key, requeueAfterMs)) {
      this.#abandoned.add(key)
    }
    this.#failuresByKey.delete(key)
    this.#queue.forget(key)
  }

  #failed(key: string, cause: unknown): void {
    const failures = (this.#failuresByKey.get(key) ?? 0) + 1
    const { maxRetries = Number.POSITIVE_INFINITY, onFailure = warn } = this.#options
    let retried = false
    if (failures > maxRetries) {
      this.#failuresByKey.delete(key)
      this.#queue.forget(key)
    } else {
      this.#failuresByKey.set(key, failures)
      retried = this.#queue.addRateLimited(key)
      if (!retried) this.#abandoned.add(key)
    }
    onFailure(new ReconcileError(key, cause, { failures, retried }))
  }
}

function warn(error: ReconcileError): void {
  process.emitWarning(error)
}

import { ApiStatusError } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { DeadlineError, maxTimerMs, withDeadline } from '../../lib/deadline.ts'
import {
  aCount,
  aDuration,
  aFunction,
  aLimit,
  checkedOptions,
  InvalidOptionError,
  type OptionChecks,
} from '../../lib/options.ts'
import { workQueueDefaults } from './rate-limiter.ts'
import { keyIdentity, shownKey, type WorkQueue } from './work-queue.ts'

/** How workers retry and stop. Times are milliseconds; `Infinity` means no deadline. */
export interface WorkersOptions<K = string> {
  /**
   * After one failure and so many retries a key is given up. That is a warning of the process, whatever `onFailure`
   * does. Default: never.
   */
  readonly maxRetries?: number
  /** After this time the signal of a reconcile aborts. */
  readonly reconcileDeadlineMs?: number
  /**
   * How long the keys in the queue may take after the workers' signal has aborted. Then every reconcile is aborted.
   */
  readonly drainDeadlineMs?: number
  /** How long an aborted reconcile may take to end while the workers stop. */
  readonly stopDeadlineMs?: number
  /** Called for every reconcile that throws; must not throw. Without it, failures are warnings of the process. */
  readonly onFailure?: (error: ReconcileError<K>) => void
  /**
   * Called for a reconcile that still runs `stopDeadlineMs` after its signal has aborted at `reconcileDeadlineMs`; must
   * not throw. It keeps its worker. Without it, that is a warning of the process.
   */
  readonly onStuck?: (error: ReconcileStuckError<K>) => void
}

const workersChecks: OptionChecks<WorkersOptions> = {
  maxRetries: aLimit(),
  reconcileDeadlineMs: aDuration,
  drainDeadlineMs: aDuration,
  stopDeadlineMs: aDuration,
  onFailure: aFunction,
  onStuck: aFunction,
}

/** A reconcile threw or rejected; `cause` is its error. */
export class ReconcileError<K = unknown> extends CodedError {
  readonly key: K
  /** How many times in a row the key has failed, including this one. */
  readonly failures: number
  /** Whether the key is retried. False after `maxRetries`, and while the queue shuts down. */
  readonly retried: boolean

  constructor(
    key: K,
    cause: unknown,
    outcome: { readonly failures: number; readonly retried: boolean },
  ) {
    const { failures, retried } = outcome
    const next = retried ? 'will be tried again' : 'given up'
    super(
      'RECONCILE',
      `reconcile of ${shownKey(key)} failed (${failures} in a row, ${next}): ${String(cause)}`,
      { value: key, cause },
    )
    this.key = key
    this.failures = failures
    this.retried = retried
  }
}

/** Reconciles kept running although their signal had aborted. `value` has their keys. */
export class ReconcileStuckError<K = unknown> extends CodedError {
  readonly keys: readonly K[]

  constructor(keys: readonly K[], deadlineMs: number) {
    const names = keys.map(shownKey).join(', ')
    super('RECONCILE_STUCK', `still running ${deadlineMs} ms after the abort: ${names}`, {
      value: keys,
      hint: 'let reconcile end when its signal is aborted, or allow it a longer stopDeadlineMs',
    })
    this.keys = keys
  }
}

/** A reconcile throws this if retrying is useless: the key is given up. `cause` says why. */
export class TerminalError extends CodedError {
  constructor(message: string, cause?: unknown) {
    super('TERMINAL', message, { cause })
  }
}

/** The result of a reconcile. */
export interface ReconcileResult {
  /**
   * Process the key again after this time, although it has succeeded. At 0 or less as soon as the queue's rate limiter
   * allows: a key that always asks for it does not take all the time of the process.
   */
  readonly requeueAfterMs?: number
}

/**
 * Makes the state of the world match the wanted state for one key. It receives no event: it reads the newest state, and
 * may be called without need. `signal` aborts when the reconcile takes too long or the workers stop. What it throws is
 * retried, unless it is a `TerminalError`; after the server's `retryAfterMs`, if it is an `ApiStatusError` with one.
 * `attempt` is 1, and one more after each failure in a row.
 */
export type Reconcile<K = string> = (
  key: K,
  signal: AbortSignal,
  attempt: number,
) => void | ReconcileResult | Promise<void | ReconcileResult>

/** The methods of a queue that workers call. */
export type WorkersQueue<K = string> = Pick<
  WorkQueue<K>,
  'addAfter' | 'addRateLimited' | 'done' | 'forget' | 'get' | 'shutDown'
> &
  Partial<Pick<WorkQueue<K>, 'identify'>>

/** How a run of workers ended. */
export interface WorkersReport<K = string> {
  /**
   * Keys that should have been processed again and were not: their delay or retry was not due, they failed during the
   * drain, or the drain took too long. A controller finds them again in its next initial list.
   */
  readonly abandoned: readonly K[]
}

/**
 * Processes the keys of a queue with `workers` concurrent calls of `reconcile`, never two for one key. A failed key is
 * retried as the queue's rate limiter says, or after the `retryAfterMs` of an `ApiStatusError`, at most `maxRetries`
 * times in a row, and not at all after a `TerminalError`. Success resets the failures; `{ requeueAfterMs }` processes
 * the key again after that time.
 *
 * When `signal` aborts, the queue shuts down: its keys are processed first, then the promise resolves. If that takes
 * longer than `drainDeadlineMs`, the signals of all reconciles abort and the remaining keys are abandoned. If a
 * reconcile still does not end within `stopDeadlineMs`, the promise rejects with `ReconcileStuckError`. It also
 * resolves if other code shuts the queue down. Throws `InvalidOptionError`.
 */
export async function runWorkers<K = string>(
  queue: WorkersQueue<K>,
  workers: number,
  reconcile: Reconcile<K>,
  signal: AbortSignal,
  given: WorkersOptions<K> = {},
): Promise<WorkersReport<K>> {
  const options = checkedOptions('workers', given, workersChecks as OptionChecks<WorkersOptions<K>>)
  const { drainDeadlineMs, stopDeadlineMs } = { ...workQueueDefaults, ...options }
  aCount('workers', workers)
  const work = new Reconciliation(queue, reconcile, options)
  const ended = Promise.all(Array.from({ length: workers }, () => work.run()))
  const aborted = Promise.withResolvers<void>()
  const abort = () => {
    work.abandon(queue.shutDown())
    aborted.resolve()
  }
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([ended, aborted.promise])
    await stopWithin('the drain of the workers', ended, drainDeadlineMs, () => work.stop())
    await stopWithin('the stop of the workers', ended, stopDeadlineMs, () => {
      throw new ReconcileStuckError(work.running, stopDeadlineMs)
    })
  } finally {
    signal.removeEventListener('abort', abort)
    // Nothing may continue after an observer has thrown.
    queue.shutDown()
    work.stop()
  }
  return { abandoned: work.abandoned }
}

async function stopWithin(
  what: string,
  ended: Promise<unknown>,
  deadlineMs: number,
  passed: () => void,
): Promise<void> {
  try {
    await withDeadline(what, ended, deadlineMs)
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error
    passed()
  }
}

/** A timer, unless the delay is as good as forever. */
function after(delayMs: number, act: () => void): NodeJS.Timeout | undefined {
  return delayMs > maxTimerMs ? undefined : setTimeout(act, delayMs)
}

/** How long reconciles that never wait may follow each other before the event loop has its turn. */
const maxTurnMs = 10

/** The reconciles of one run of workers: running, failed and abandoned ones. */
class Reconciliation<K> {
  readonly #queue: WorkersQueue<K>
  readonly #reconcile: Reconcile<K>
  readonly #options: WorkersOptions<K>
  readonly #identify: (key: K) => string
  readonly #running = new Map<string, { readonly key: K; readonly controller: AbortController }>()
  readonly #failures = new Map<string, number>()
  readonly #abandoned = new Map<string, K>()
  #stopped = false
  /** The present row of reconciles without a turn of the event loop: when it began, and the turn that ends it. */
  #turn: { readonly beganAtMs: number; readonly ended: Promise<void> } | undefined

  constructor(queue: WorkersQueue<K>, reconcile: Reconcile<K>, options: WorkersOptions<K>) {
    this.#queue = queue
    this.#reconcile = reconcile
    this.#options = options
    this.#identify = queue.identify?.bind(queue) ?? keyIdentity
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

  /** One worker: processes keys until the queue ends. Rejects only if an observer throws. */
  async run(): Promise<void> {
    const queue = this.#queue
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      try {
        await this.#process(key)
      } finally {
        queue.done(key)
      }
      await this.#letOthersRun()
    }
  }

  /**
   * Reconciles that never wait would keep events, signals and the renewal of a lease out until the queue is empty. After
   * `maxTurnMs` they are let in.
   */
  async #letOthersRun(): Promise<void> {
    if (this.#turn === undefined) {
      const ended = new Promise<void>((resolve) => {
        setImmediate(() => {
          this.#turn = undefined
          resolve()
        })
      })
      this.#turn = { beganAtMs: performance.now(), ended }
    } else if (performance.now() - this.#turn.beganAtMs >= maxTurnMs) await this.#turn.ended
  }

  /** Processes a key and schedules its next attempt. */
  async #process(key: K): Promise<void> {
    if (this.#stopped) return this.abandon([key])
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
    const { reconcileDeadlineMs, stopDeadlineMs } = { ...workQueueDefaults, ...this.#options }
    let timer = after(reconcileDeadlineMs, () => {
      controller.abort(new DeadlineError(`reconcile of ${shownKey(key)}`, reconcileDeadlineMs))
      timer = after(stopDeadlineMs, () => {
        const { onStuck = (stuck) => process.emitWarning(stuck) } = this.#options
        onStuck(new ReconcileStuckError([key], stopDeadlineMs))
      })
    })
    const id = this.#identify(key)
    this.#running.set(id, { key, controller })
    try {
      return await this.#reconcile(key, controller.signal, (this.#failures.get(id) ?? 0) + 1)
    } finally {
      clearTimeout(timer)
      this.#running.delete(id)
    }
  }

  /** Throws if the result's time is not a number, which counts as a failure. */
  #succeeded(key: K, result: void | ReconcileResult): void {
    const requeueAfterMs = result?.requeueAfterMs
    if (requeueAfterMs !== undefined && !Number.isFinite(requeueAfterMs)) {
      throw new InvalidOptionError(
        'requeueAfterMs',
        requeueAfterMs,
        'a finite number of milliseconds, or none',
      )
    }
    this.#failures.delete(this.#identify(key))
    if (requeueAfterMs !== undefined && requeueAfterMs <= 0) {
      if (!this.#queue.addRateLimited(key)) this.abandon([key])
      return
    }
    this.#queue.forget(key)
    if (requeueAfterMs !== undefined && !this.#queue.addAfter(key, requeueAfterMs)) {
      this.abandon([key])
    }
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
      // After the time that the server asks for, else by the rate limiter.
      const retryAfterMs = cause instanceof ApiStatusError ? (cause.retryAfterMs ?? 0) : 0
      const delayMs = Math.min(retryAfterMs, workQueueDefaults.maxDelayMs)
      retried = delayMs > 0 ? this.#queue.addAfter(key, delayMs) : this.#queue.addRateLimited(key)
      if (!retried) this.abandon([key])
    }
    const error = new ReconcileError(key, cause, { failures, retried })
    onFailure?.(error)
    if (onFailure === undefined || (givenUp && !isTerminal)) process.emitWarning(error)
  }
}

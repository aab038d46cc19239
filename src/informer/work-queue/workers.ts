import { DeadlineError, withDeadline } from '../../lib/deadline.ts'
import {
  checkedOptions,
  InvalidOptionError,
  type OptionChecks,
  withDefaults,
} from '../../lib/options.ts'
import { keyIdentity } from './pending-keys.ts'
import { Reconciliation, type Reconcile } from './reconciliation.ts'
import {
  ReconcileStuckError,
  workersChecks,
  workQueueDefaults,
  type WorkersOptions,
} from './work-queue-options.ts'
import type { WorkQueue } from './work-queue.ts'

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

type WorkersDeadlines = Record<'reconcileDeadlineMs' | 'drainDeadlineMs' | 'stopDeadlineMs', number>

const workersDeadlines: WorkersDeadlines = {
  reconcileDeadlineMs: workQueueDefaults.reconcileDeadlineMs,
  drainDeadlineMs: workQueueDefaults.drainDeadlineMs,
  stopDeadlineMs: workQueueDefaults.stopDeadlineMs,
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
  const deadlines = withDefaults<WorkersDeadlines>(workersDeadlines, options)
  const { drainDeadlineMs, reconcileDeadlineMs, stopDeadlineMs } = deadlines
  if (!Number.isInteger(workers) || workers < 1) {
    throw new InvalidOptionError('workers', workers, 'a whole number of at least 1')
  }
  const identify = queue.identify?.bind(queue) ?? keyIdentity
  const work = new Reconciliation({ queue, reconcile, options, reconcileDeadlineMs }, identify)
  const ended = Promise.all(Array.from({ length: workers }, () => runWorker(queue, work)))
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

async function runWorker<K>(queue: WorkersQueue<K>, work: Reconciliation<K>): Promise<void> {
  for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
    try {
      await work.process(key)
    } finally {
      queue.done(key)
    }
  }
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

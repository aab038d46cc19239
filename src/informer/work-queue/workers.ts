import { DeadlineError, withDeadline } from '../../lib/deadline.ts'
import { Reconciliation, type Reconcile } from './reconciliation.ts'
import { ReconcileStuckError, WorkQueueOptionError } from './work-queue-errors.ts'
import { workQueueDefaults } from './work-queue-defaults.ts'
import type { WorkersOptions } from './work-queue-options.ts'
import type { WorkQueue } from './work-queue.ts'

/** What workers ask of a queue. */
export type WorkersQueue = Pick<
  WorkQueue,
  'addAfter' | 'addRateLimited' | 'done' | 'forget' | 'get' | 'shutDown'
>

/** How a run of workers ended. */
export interface WorkersReport {
  /**
   * The keys that should have been processed once more and were not: their delay or retry had not come, they failed
   * during the drain, or the drain took too long. A controller finds them again in its next initial list.
   */
  readonly abandoned: readonly string[]
}

/**
 * Processes the keys of a queue with `workers` concurrent calls of `reconcile`, never two for one key. One that throws
 * is tried again as the queue's rate limiter says, at most `maxRetries` times in a row; success forgets the failures,
 * and `{ requeueAfterMs }` asks for the key once more after that time.
 *
 * The abort of `signal` shuts the queue down: what is in it is processed first, then the promise resolves. When that
 * takes longer than `drainDeadlineMs`, the signal that every reconcile was given is aborted and the rest is left; one
 * that still does not end within `stopDeadlineMs` rejects the promise with `ReconcileStuckError`. It resolves also
 * when somebody else shuts the queue down. Throws `WorkQueueOptionError`.
 */
export async function runWorkers(
  queue: WorkersQueue,
  workers: number,
  reconcile: Reconcile,
  signal: AbortSignal,
  options: WorkersOptions = {},
): Promise<WorkersReport> {
  const { drainDeadlineMs, stopDeadlineMs } = { ...workQueueDefaults, ...options }
  if (!Number.isInteger(workers) || workers < 1) {
    throw new WorkQueueOptionError('workers', workers, 'a whole number of at least 1')
  }
  const work = new Reconciliation({ queue, reconcile, options })
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
    // Nothing goes on where an observer has thrown.
    queue.shutDown()
    work.stop()
  }
  return { abandoned: work.abandoned }
}

async function runWorker(queue: WorkersQueue, work: Reconciliation): Promise<void> {
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

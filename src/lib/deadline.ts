/*
 * Deadlines. `withDeadline` bounds a wait that has no bound of its own, and `startDeadline` calls back when the time is over.
 * A late wait ends with `DeadlineError`, whose cause is the last known failure, so that the reader learns why it took so
 * long.
 */

import { CodedError } from './coded-error.ts'
import { aDuration, anObject, checkedOptions, type OptionChecks } from './options.ts'

/** An operation took longer than its deadline. */
export class DeadlineError extends CodedError {
  readonly deadlineMs: number

  /** `cause` is the last known failure of the awaited operation. */
  constructor(
    what: string,
    deadlineMs: number,
    details: { readonly cause?: Error | undefined; readonly hint?: string | undefined } = {},
  ) {
    const { cause, hint } = details
    const last = cause === undefined ? '' : `; the last failure: ${cause.message}`
    super('DEADLINE', `${what} took longer than ${deadlineMs} ms${last}`, {
      value: deadlineMs,
      cause,
      hint,
    })
    this.deadlineMs = deadlineMs
  }
}

/** How long to wait. Without a deadline, or with `Infinity`, the wait ends with the signal. */
export interface WaitOptions {
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
}

export const waitChecks: OptionChecks<WaitOptions> = { deadlineMs: aDuration, signal: anObject }

/** Throws `InvalidOptionError`. */
export function checkedWait(options: WaitOptions): WaitOptions {
  return checkedOptions('a wait', options, waitChecks)
}

/** Node fires longer timers at once. This is 24 days; longer waits have no timer at all. */
export const maxTimerMs = 2_147_483_647

/**
 * Calls `late` after a delay; never if that is longer than {@link maxTimerMs}. What has arrived by then is read first:
 * after the event loop was blocked, Node runs timers before it reads sockets. Returns what cancels the call.
 */
export function startDeadline(deadlineMs: number, late: () => void): () => void {
  if (deadlineMs > maxTimerMs) return () => {}
  let last: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    last = setImmediate(late)
  }, deadlineMs)
  return () => {
    clearTimeout(timer)
    clearImmediate(last)
  }
}

/**
 * Waits for `promise`, at most `deadlineMs` milliseconds, and until `signal` aborts. There is no deadline if
 * `deadlineMs` is absent or `Infinity`. Rejects with {@link DeadlineError} (or the error that `late` makes), with the
 * signal's reason, or with `InvalidOptionError` if the deadline is not a number from 0. Does not cancel the promise.
 */
export async function withDeadline<T>(
  what: string,
  promise: Promise<T>,
  deadlineMs: number | undefined,
  signal?: AbortSignal,
  late: (deadlineMs: number) => Error = () => new DeadlineError(what, deadlineMs ?? 0),
): Promise<T> {
  if (deadlineMs !== undefined) aDuration('deadlineMs', deadlineMs)
  let cancel: (() => void) | undefined
  let abort: (() => void) | undefined
  const limit = new Promise<never>((_, reject) => {
    if (deadlineMs !== undefined) cancel = startDeadline(deadlineMs, () => reject(late(deadlineMs)))
    abort = () => reject(signal?.reason as Error)
    if (signal?.aborted === true) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    cancel?.()
    if (abort !== undefined) signal?.removeEventListener('abort', abort)
  }
}

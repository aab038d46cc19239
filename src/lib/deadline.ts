import { CodedError } from './coded-error.ts'
import { aDuration, anObject, checkedOptions, type OptionChecks } from './options.ts'

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

const waitChecks: OptionChecks<WaitOptions> = { deadlineMs: aDuration, signal: anObject }

/** Throws `InvalidOptionError`. */
export function checkedWait(options: WaitOptions): WaitOptions {
  return checkedOptions('a wait', options, waitChecks)
}

/** Node fires longer timers at once. This is 24 days; longer waits have no timer at all. */
export const maxTimerMs = 2_147_483_647

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
  let timer: NodeJS.Timeout | undefined
  let abort: (() => void) | undefined
  const limit = new Promise<never>((_, reject) => {
    if (deadlineMs !== undefined && deadlineMs <= maxTimerMs) {
      timer = setTimeout(() => reject(late(deadlineMs)), deadlineMs)
    }
    abort = () => reject(signal?.reason as Error)
    if (signal?.aborted === true) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
    if (abort !== undefined) signal?.removeEventListener('abort', abort)
  }
}

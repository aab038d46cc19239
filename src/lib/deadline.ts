import { CodedError } from './coded-error.ts'
import { aDuration, anObject, checkedOptions, type OptionChecks } from './options.ts'

/** A wait that took longer than it was allowed to. */
export class DeadlineError extends CodedError {
  readonly deadlineMs: number

  /** `cause` is the last failure of what was waited for, where one is known. */
  constructor(
    what: string,
    deadlineMs: number,
    details: { readonly cause?: Error | undefined; readonly hint?: string | undefined } = {},
  ) {
    const { cause, hint } = details
    const last = cause === undefined ? '' : `; the last failure: ${cause.message}`
    super('DEADLINE', `${what} took longer than ${deadlineMs} ms${last}`, {
      value: deadlineMs,
      ...(cause === undefined ? {} : { cause }),
      ...(hint === undefined ? {} : { hint }),
    })
    this.deadlineMs = deadlineMs
  }
}

/** How long to wait. Without a deadline, or with `Infinity`: until the signal is aborted. */
export interface WaitOptions {
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
}

const waitChecks: OptionChecks<WaitOptions> = { deadlineMs: aDuration, signal: anObject }

/** Throws `InvalidOptionError`. */
export function checkedWait(options: WaitOptions): WaitOptions {
  return checkedOptions('a wait', options, waitChecks)
}

/** Longer timers fire at once in Node. So many milliseconds are 24 days: what may take longer may take for ever. */
export const maxTimerMs = 2_147_483_647

/**
 * Waits for `promise`, but no longer than `deadlineMs` milliseconds and not past the abort of `signal`. Absent or
 * `Infinity`: there is no deadline. Rejects with {@link DeadlineError} (or what `late` makes), with the signal's reason, or
 * with `InvalidOptionError` where the deadline is negative or no number. The promise itself is not cancelled.
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

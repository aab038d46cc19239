import { CodedError } from './coded-error.ts'

/** A wait that took longer than it was allowed to. */
export class DeadlineError extends CodedError {
  readonly deadlineMs: number

  constructor(what: string, deadlineMs: number) {
    super('DEADLINE', `${what} took longer than ${deadlineMs} ms`, { value: deadlineMs })
    this.deadlineMs = deadlineMs
  }
}

/**
 * Waits for `promise`, but no longer than `deadlineMs` milliseconds and not past the abort of `signal`.
 * Rejects with {@link DeadlineError}, or with the signal's reason. The promise itself is not cancelled.
 */
export async function withDeadline<T>(
  what: string,
  promise: Promise<T>,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  let abort: (() => void) | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(what, deadlineMs)), deadlineMs)
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

import { ApiStatusError, isTooManyRequests } from '../../kubernetes/status.ts'
import { MalformedFrameError } from '../../kubernetes/watch-event.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { DeadlineError } from '../../lib/deadline.ts'

/** A watch that the server ended within a second without an event: something is wrong, so the next try backs off. */
export class VeryShortWatchError extends CodedError {
  constructor(resource: string, durationMs: number) {
    super(
      'VERY_SHORT_WATCH',
      `the watch of ${resource} ended after ${Math.round(durationMs)} ms without an event`,
    )
  }
}

/** A streaming list on which nothing arrived for too long, or that ended before its initial events did. */
export class WatchListRefusedError extends CodedError {
  constructor(resource: string, problem: string) {
    super('WATCH_LIST_REFUSED', `the streaming list of ${resource} ${problem}`, {
      hint: 'a LIST is used instead; streaming lists need Kubernetes 1.32 or later',
    })
  }
}

/** The process slept, or was suspended: connections that look alive may not be. */
export class SuspendedError extends CodedError {
  constructor(gapMs: number) {
    super(
      'SUSPENDED',
      `the process stood still for ${Math.round(gapMs)} ms; the watch is opened anew`,
    )
  }
}

/** Failures of the server as a whole: wait, then go on from the same position; a list would only add to its load. */
export function isRetriedInPlace(error: unknown): boolean {
  if (isTooManyRequests(error)) return true
  if (error instanceof ApiStatusError) {
    return error.httpStatus === 503 && error.retryAfterMs !== undefined
  }
  return error instanceof Error && 'refused' in error && error.refused === true
}

/** Failures of a watch after which only a list can help. A connection that merely broke is not among them. */
export function isFatalForWatch(error: unknown): boolean {
  return (
    error instanceof ApiStatusError ||
    error instanceof MalformedFrameError ||
    error instanceof VeryShortWatchError
  )
}

/** Failures that say that the server does not know streaming lists, so that it need not be asked again. */
export function isStreamingListRefusal(error: unknown): boolean {
  if (error instanceof DeadlineError) return true
  return error instanceof ApiStatusError && (error.httpStatus === 422 || error.httpStatus === 400)
}

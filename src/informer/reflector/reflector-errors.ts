import { ApiStatusError, isTooManyRequests } from '../../kubernetes/status.ts'
import { MalformedFrameError } from '../../kubernetes/watch-event.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { MalformedObjectError, WrongKindError } from '../codec/object-codec-error.ts'

/** A watch that the server ended within a second without an event: something is wrong, so the next try backs off. */
export class VeryShortWatchError extends CodedError {
  constructor(resource: string, durationMs: number) {
    super(
      'VERY_SHORT_WATCH',
      `the watch of ${resource} ended after ${Math.round(durationMs)} ms without an event`,
    )
  }
}

/** A streaming list whose initial events did not end: the stream ended first, or it took too long. */
export class WatchListRefusedError extends CodedError {
  /** Whether the server is not to be asked for streaming lists again. */
  readonly isLasting: boolean

  constructor(resource: string, problem: string, isLasting: boolean) {
    super('WATCH_LIST_REFUSED', `the streaming list of ${resource} ${problem}`, {
      hint: 'a LIST is used instead; streaming lists need Kubernetes 1.32 or later',
    })
    this.isLasting = isLasting
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

/** Ends a watch, as what it was begun from is to be read anew. */
export class RereadError extends CodedError {
  constructor() {
    super('REREAD', 'what has been read is to be read anew')
  }
}

/** Failures of the server as a whole: wait, then go on from the same position; a list would only add to its load. */
export function isRetriedInPlace(error: unknown): boolean {
  if (isTooManyRequests(error)) return true
  if (error instanceof ApiStatusError) {
    return error.httpStatus === 503 && error.retryAfterMs !== undefined
  }
  return isRefusedConnection(error)
}

/** Nobody listens at the address: the server is down, and may come up as another one. */
export function isRefusedConnection(error: unknown): boolean {
  return error instanceof Error && 'refused' in error && error.refused === true
}

/** Failures of an open stream that merely broke: what it said so far holds, and it can be opened again. */
export function isBrokenConnection(error: unknown): boolean {
  return !(
    error instanceof ApiStatusError ||
    error instanceof MalformedFrameError ||
    error instanceof MalformedObjectError ||
    error instanceof WrongKindError ||
    error instanceof VeryShortWatchError ||
    error instanceof WatchListRefusedError
  )
}

/** Failures behind which there may be no server: no answer, or one that a proxy gives in its place. */
export function isUnreached(error: unknown): boolean {
  return error instanceof ApiStatusError ? error.httpStatus >= 500 : isBrokenConnection(error)
}

/** Failures that say that the server does not know streaming lists, so that it need not be asked again. */
export function isStreamingListRefusal(error: unknown): boolean {
  if (error instanceof WatchListRefusedError) return error.isLasting
  return error instanceof ApiStatusError && (error.httpStatus === 422 || error.httpStatus === 400)
}

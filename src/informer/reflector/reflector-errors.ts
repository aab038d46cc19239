import { ApiStatusError, isTooManyRequests } from '../../kubernetes/status.ts'
import { MalformedFrameError } from '../../kubernetes/watch-event.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { MalformedObjectError, WrongKindError } from '../codec/object-codec.ts'

/** The server ended a watch within a second without an event. Something is wrong, so the next attempt backs off. */
export class VeryShortWatchError extends CodedError {
  constructor(resource: string, durationMs: number) {
    super(
      'VERY_SHORT_WATCH',
      `the watch of ${resource} ended after ${Math.round(durationMs)} ms without an event`,
    )
  }
}

/** The initial events of a streaming list did not end: the stream ended first, or took too long. */
export class WatchListRefusedError extends CodedError {
  /** Whether the server should not be asked for streaming lists again. */
  readonly isLasting: boolean

  constructor(resource: string, problem: string, isLasting: boolean) {
    super('WATCH_LIST_REFUSED', `the streaming list of ${resource} ${problem}`, {
      hint: 'a LIST is used instead; streaming lists need Kubernetes 1.32 or later',
    })
    this.isLasting = isLasting
  }
}

/**
 * Failures of the server as a whole: wait, then continue from the same position. A list would only add to its load.
 */
export function isRetriedInPlace(error: unknown): boolean {
  if (isTooManyRequests(error)) return true
  if (error instanceof ApiStatusError) {
    return error.httpStatus === 503 && error.retryAfterMs !== undefined
  }
  return isRefusedConnection(error)
}

/** Nothing listens at the address: the server is down, and may return as another one. */
export function isRefusedConnection(error: unknown): boolean {
  return error instanceof Error && 'refused' in error && error.refused === true
}

/** An open stream broke. What it sent before stays valid, and it can be reopened. */
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

/** Failures without an answer of the server: none at all, or that of a proxy. */
export function isUnreached(error: unknown): boolean {
  return error instanceof ApiStatusError ? error.httpStatus >= 500 : isBrokenConnection(error)
}

/** The server does not know streaming lists, so it need not be asked again. */
export function isStreamingListRefusal(error: unknown): boolean {
  if (error instanceof WatchListRefusedError) return error.isLasting
  return error instanceof ApiStatusError && (error.httpStatus === 422 || error.httpStatus === 400)
}

import { CodedError } from '../lib/coded-error.ts'

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

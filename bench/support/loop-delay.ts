import { monitorEventLoopDelay } from 'node:perf_hooks'

const resolutionMs = 5

/** Observes the event loop from now on; the function returns the longest block so far, milliseconds. */
export function watchEventLoop(): () => number {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  // What it records is the time between two turns of its timer, and so includes the timer's own interval.
  return () => Math.max(0, delay.max / 1e6 - resolutionMs)
}

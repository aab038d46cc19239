import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Observes the event loop from now on; the function returns the longest block so far, milliseconds. */
export function watchEventLoop(): () => number {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  return () => delay.max / 1e6
}

/** Live heap and memory outside of it after two full collections, bytes. */
export function liveMemory(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The process's largest resident set so far, bytes. */
export function peakRss(): number {
  return process.resourceUsage().maxRSS * 1024
}

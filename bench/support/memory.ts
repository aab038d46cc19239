/** Live heap and memory outside of it after two full collections, bytes. Needs `--expose-gc`. */
export function liveMemory(): number {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc')
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The process's largest resident set so far, bytes. */
export function peakRss(): number {
  return process.resourceUsage().maxRSS * 1024
}

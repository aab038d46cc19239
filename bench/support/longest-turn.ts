/**
 * Watches the turns of the event loop. The returned function ends this and returns the CPU time of the longest turn, in
 * milliseconds: a request that arrives meanwhile waits at least as long. Unlike wall-clock time, it does not depend on other
 * processes.
 *
 * A turn reaches from timers to timers, so that callbacks of `setImmediate` count with the sockets that were read before them.
 */
export function watchTurns(): () => number {
  let longestMs = 0
  let before = cpuMs()
  let spinning: NodeJS.Immediate
  let due: NodeJS.Timeout
  const turn = (): void => {
    const now = cpuMs()
    longestMs = Math.max(longestMs, now - before)
    before = now
    due = setTimeout(turn, 1)
  }
  // Keeps the loop from waiting for sockets.
  const spin = (): void => {
    spinning = setImmediate(spin)
  }
  turn()
  spin()
  return () => {
    clearImmediate(spinning)
    clearTimeout(due)
    return Math.max(longestMs, cpuMs() - before)
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * Watches the turns of the event loop from now on; the function ends that and returns the CPU time of the longest one,
 * milliseconds: so long whoever asks something then has to wait at least. Unlike the time by the clock it does not depend on what
 * else the machine does.
 *
 * A turn is from timers to timers, so that what `setImmediate` calls after sockets have been read counts with that.
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

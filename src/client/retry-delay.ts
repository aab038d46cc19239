const leastMs = 250
const mostMs = 20_000

/**
 * How long to wait before the attempt after `failures` in a row, milliseconds: twice as long each time, up to 20 s, and
 * anything between half of it and all of it, so that the clients of a gateway that restarts do not come back at once.
 */
export function retryDelayMs(failures: number): number {
  const longest = Math.min(mostMs, leastMs * 2 ** Math.min(failures, 16))
  return longest * (0.5 + Math.random() / 2)
}

import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

/** How long steps may keep the event loop from others at a stretch. */
const longestTurnMs = 15

/**
 * Calls `step`, which returns how many writes it made, so that there are `writesPerSecond`, until the signal is
 * aborted. What could not be done within one second (the process was busy, or asleep) is not made up for.
 */
export async function runAtPace(
  step: () => number,
  writesPerSecond: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  if (writesPerSecond <= 0) {
    await once(signal, 'abort')
    return
  }
  const intervalMs = Math.min(250, Math.max(20, 1000 / writesPerSecond))
  let owed = 0
  let lastMs = performance.now()
  while (await elapsed(intervalMs, signal)) {
    const nowMs = performance.now()
    owed = Math.min(writesPerSecond, owed + ((nowMs - lastMs) * writesPerSecond) / 1000)
    lastMs = nowMs
    while (owed >= 1 && performance.now() - nowMs < longestTurnMs) {
      const writes = step()
      owed = writes === 0 ? 0 : owed - writes
    }
  }
}

/** Resolves with false when the signal is aborted first. */
async function elapsed(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}

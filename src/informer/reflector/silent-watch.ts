import { sleep } from '../../lib/backoff.ts'
import { isTooLargeResourceVersion } from '../../kubernetes/status.ts'
import type { WatchStream } from './watch-stream.ts'

/** After so much silence a watch is asked about for the first time; after twice as much each further time. */
const firstSilenceMs = 4000
const longestSilenceMs = 60_000

export interface SilentWatchOptions {
  /** Asks whether the server knows the position that the watch began at; rejects where it does not, or cannot be asked. */
  readonly probe: () => Promise<void>
  /** Aborted when the watch is over. */
  readonly signal: AbortSignal
}

/**
 * Asks for as long as a watch is silent, until the answer is known, whether its server has come as far as the watch's
 * beginning; {@link Position} says why. Where it has not, the watch is broken off with what the server says. A probe that
 * fails otherwise says nothing, and is no reason to give up a watch. Never rejects.
 */
export async function probeWhileSilent(
  stream: WatchStream,
  { probe, signal }: SilentWatchOptions,
): Promise<void> {
  for (let waitMs = firstSilenceMs; ; waitMs = Math.min(longestSilenceMs, 2 * waitMs)) {
    await sleep(waitMs, signal)
    if (signal.aborted || stream.frames > 0) return
    try {
      await probe()
      return
    } catch (error) {
      if (signal.aborted) return
      if (isTooLargeResourceVersion(error)) {
        stream.abort(error as Error)
        return
      }
    }
  }
}

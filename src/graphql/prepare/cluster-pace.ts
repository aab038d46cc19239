/*
 * How long an answer over several clusters waits for each. A cluster counts as silent if its API server answers no access
 * review, or sends nothing of the first list of a kind. A silent cluster is left out once another cluster has given all
 * that was asked of it, but not before it has been silent for `silenceMs`, and for some times as long as the others took:
 * on a busy machine, all of them take longer. While no other cluster has answered, nothing is gained by leaving one out.
 * A slow list that keeps coming is waited for.
 */

import { sleep } from '../../lib/backoff.ts'
import { nextTurn } from '../../lib/event-loop.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'

/** A cluster may take this many times as long as the slowest of those that have answered. */
const timesOthers = 3

/** How often a wait checks whether the cluster is silent. */
const silenceCheckMs = 100

/** What a wait knows of its cluster: how long it has been silent, or that it cannot be reached. */
export type Silence = () => number | 'unreachable'

interface Waiting {
  readonly silence: Silence
  readonly leave: (isHeard: false) => void
}

export class ClusterPace {
  readonly #silenceMs: number
  readonly #beganMs = performance.now()
  /** The number of open waits of each cluster, and how long its last one took. */
  readonly #clusters = new Map<string, { open: number; tookMs: number }>()

  readonly #waits = new Set<Waiting>()
  #end = new AbortController()

  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs
  }

  /** Counts a cluster, even if there is nothing to wait for. */
  add(cluster: string, wait?: Promise<unknown>): void {
    const state = getOrInsert(this.#clusters, cluster, () => ({ open: 0, tookMs: 0 }))
    if (wait === undefined) return
    state.open += 1
    const end = (): void => {
      state.open -= 1
      state.tookMs = performance.now() - this.#beganMs
    }
    wait.then(end, end)
  }

  /** Waits, but not for a cluster that is silent for too long: then the answer is false. Rejects if the wait does so before. */
  async whileHeard(wait: Promise<unknown>, silence: Silence): Promise<boolean> {
    const { promise: left, resolve: leave } = Promise.withResolvers<false>()
    const waiting = { silence, leave }
    this.#waits.add(waiting)
    if (this.#waits.size === 1) void this.#watch((this.#end = new AbortController()).signal)
    try {
      return await Promise.race([wait.then(() => true), left])
    } finally {
      this.#waits.delete(waiting)
      if (this.#waits.size === 0) this.#end.abort()
    }
  }

  /** Looks at all waits together: an answer over a thousand clusters may have thirty in each. */
  async #watch(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      // Lets the process read answers that came while the event loop was blocked.
      await nextTurn()
      const patienceMs = this.#patienceMs
      for (const { silence, leave } of this.#waits) {
        const silentMs = silence()
        if (silentMs === 'unreachable' || silentMs > patienceMs) leave(false)
      }
      await sleep(silenceCheckMs, end)
    }
  }

  get #patienceMs(): number {
    const answered = [...this.#clusters.values()].filter(({ open }) => open === 0)
    if (answered.length === 0) return Infinity
    return Math.max(this.#silenceMs, timesOthers * Math.max(...answered.map((one) => one.tookMs)))
  }
}

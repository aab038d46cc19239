import { sleep } from '../../lib/backoff.ts'

/** Writing all rows anew, as one of the many objects that they are written from has changed, may take this part of the time. */
const share = 1 / 20

/** When all rows of a group may be written anew. */
export class WideTurns {
  #dueMs = 0
  #isPlanned = false

  get isDue(): boolean {
    return performance.now() >= this.#dueMs
  }

  /** They have been, since then. */
  done(startMs: number): void {
    const endMs = performance.now()
    this.#dueMs = endMs + (endMs - startMs) / share
  }

  /** Calls this once, when it is due. */
  plan(due: () => void, leaving: AbortSignal): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    void sleep(Math.max(1, this.#dueMs - performance.now()), leaving).then(() => {
      this.#isPlanned = false
      due()
    })
  }
}

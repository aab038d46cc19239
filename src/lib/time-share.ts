import { sleep } from './backoff.ts'

/** When costly work may be done again, so that it takes no more than a part of the time. */
export class TimeShare {
  readonly #share: number
  #dueMs = 0
  #isPlanned = false

  /** `share`: that part, such as 1 / 20. */
  constructor(share: number) {
    this.#share = share
  }

  get isDue(): boolean {
    return performance.now() >= this.#dueMs
  }

  /** The work has been done, since `startMs`, as `performance.now()` told then. */
  done(startMs: number): void {
    const endMs = performance.now()
    this.#dueMs = endMs + (endMs - startMs) / this.#share
  }

  /** Calls this when it is due, or the signal is aborted. One at a time: what is planned while one waits is forgotten. */
  plan(due: () => void, leaving: AbortSignal): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    void sleep(Math.max(1, this.#dueMs - performance.now()), leaving).then(() => {
      this.#isPlanned = false
      due()
    })
  }
}

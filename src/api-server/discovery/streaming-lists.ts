import { withDeadline } from '../../lib/deadline.ts'
import { atLeast, type ServerVersion } from './server-version.ts'

export interface StreamingListsOptions {
  readonly version: () => Promise<ServerVersion>
  /** For the answer, milliseconds. */
  readonly deadlineMs: number
}

/**
 * Whether a server streams lists (KEP-3157) as it should: from 1.32 on. Servers up to 1.26 ignore the parameter and never
 * end such a list, and the early ones after them miss its end now and then. The version is asked for once; only an
 * answer is remembered, and so is a refusal, which counts for more.
 */
export class StreamingLists {
  readonly #options: StreamingListsOptions
  #supported: Promise<boolean> | undefined
  #isRefused = false

  constructor(options: StreamingListsOptions) {
    this.#options = options
  }

  /** Rejects where the server does not tell its version, and with the signal's reason. */
  async supported(signal: AbortSignal): Promise<boolean> {
    if (this.#isRefused) return false
    this.#supported ??= this.#ask()
    // One question for all who wait, so none of their signals ends it.
    const { deadlineMs } = this.#options
    return await withDeadline("the server's version", this.#supported, deadlineMs, signal)
  }

  /** The server has refused one after all. */
  refused(): void {
    this.#isRefused = true
  }

  async #ask(): Promise<boolean> {
    try {
      return atLeast(await this.#options.version(), 1, 32)
    } catch (error) {
      this.#supported = undefined
      throw error
    }
  }
}

import { withDeadline } from '../../lib/deadline.ts'
import { atLeast, type ServerVersion } from './server-version.ts'

export interface ServerFeaturesOptions {
  readonly version: () => Promise<ServerVersion>
  /** For the answer, milliseconds. */
  readonly deadlineMs: number
}

/** What a server can do, by its version. That is asked for once; only an answer is remembered. */
export class ServerFeatures {
  readonly #options: ServerFeaturesOptions
  #version: Promise<ServerVersion> | undefined
  #isRefused = false

  constructor(options: ServerFeaturesOptions) {
    this.#options = options
  }

  /**
   * Whether it streams lists (KEP-3157) as it should: from 1.32 on. Servers up to 1.26 ignore the parameter and never end such
   * a list, and the early ones after them miss its end now and then. A refusal counts for more. Rejects where the server does
   * not tell its version, and with the signal's reason.
   */
  async streamsLists(signal: AbortSignal): Promise<boolean> {
    return !this.#isRefused && atLeast(await this.#ask(signal), 1, 32)
  }

  /** Whether it promises an order of resource versions (KEP-5504): from 1.35 on. Rejects as {@link streamsLists} does. */
  async ordersResourceVersions(signal: AbortSignal): Promise<boolean> {
    return atLeast(await this.#ask(signal), 1, 35)
  }

  /** The server has refused a streaming list after all. */
  streamingListRefused(): void {
    this.#isRefused = true
  }

  async #ask(signal: AbortSignal): Promise<ServerVersion> {
    this.#version ??= this.#answer()
    // One question for all who wait, so none of their signals ends it.
    return await withDeadline(
      "the server's version",
      this.#version,
      this.#options.deadlineMs,
      signal,
    )
  }

  async #answer(): Promise<ServerVersion> {
    try {
      return await this.#options.version()
    } catch (error) {
      this.#version = undefined
      throw error
    }
  }
}

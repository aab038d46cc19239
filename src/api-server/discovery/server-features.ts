/*
 * The features of a server that clients must know before a request: streaming lists, and resource versions with an order.
 * Both follow from the server's version, which is requested once. If the server refuses a streaming list in spite of its
 * version, that is remembered.
 */

import { withDeadline } from '../../lib/deadline.ts'

/** The features of a server, by its version. The version is requested once; failures are not remembered. */
export class ServerFeatures {
  readonly #request: () => Promise<ServerVersion>
  readonly #deadlineMs: number
  #version: Promise<ServerVersion> | undefined
  #isRefused = false

  /** `request` requests the version; its deadline is in milliseconds. */
  constructor(request: () => Promise<ServerVersion>, deadlineMs: number) {
    this.#request = request
    this.#deadlineMs = deadlineMs
  }

  /**
   * Whether the server streams lists correctly (KEP-3157): since 1.32. Servers up to 1.26 ignore the parameter and
   * never end such a list; the next versions sometimes omit its end. A refusal overrides the version. Rejects if the
   * server's version is unknown, and with the signal's reason.
   */
  async streamsLists(signal: AbortSignal): Promise<boolean> {
    return !this.#isRefused && atLeast(await this.#ask(signal), 1, 32)
  }

  /**
   * Whether the server promises an order of resource versions (KEP-5504): since 1.35. Rejects as {@link streamsLists}
   * does.
   */
  async ordersResourceVersions(signal: AbortSignal): Promise<boolean> {
    return atLeast(await this.#ask(signal), 1, 35)
  }

  /** Records that the server refused a streaming list in spite of its version. */
  streamingListRefused(): void {
    this.#isRefused = true
  }

  async #ask(signal: AbortSignal): Promise<ServerVersion> {
    this.#version ??= this.#request().catch((error: unknown) => {
      this.#version = undefined
      throw error
    })
    // All callers share one request, so the signal of one does not end it.
    return await withDeadline("the server's version", this.#version, this.#deadlineMs, signal)
  }
}

/** The contents of `/version`. */
export interface ServerVersion {
  readonly major: number
  readonly minor: number
  /** `v1.36.3`, possibly with a suffix of the distribution. */
  readonly gitVersion: string
}

/**
 * Reads `/version`; `undefined` if it has another form. Some clouds write `28+` as the minor version, some leave it
 * empty.
 */
export function readServerVersion(answer: unknown): ServerVersion | undefined {
  const { major, minor, gitVersion } = (answer ?? {}) as Readonly<Record<string, unknown>>
  if (typeof gitVersion !== 'string') return undefined
  const [, gitMajor, gitMinor] = /^v?(\d+)\.(\d+)/.exec(gitVersion) ?? []
  const majorNumber = leadingNumber(major) ?? leadingNumber(gitMajor)
  const minorNumber = leadingNumber(minor) ?? leadingNumber(gitMinor)
  if (majorNumber === undefined || minorNumber === undefined) return undefined
  return { major: majorNumber, minor: minorNumber, gitVersion }
}

/** Whether the server has this version or a later one. */
export function atLeast(version: ServerVersion, major: number, minor: number): boolean {
  return version.major > major || (version.major === major && version.minor >= minor)
}

function leadingNumber(text: unknown): number | undefined {
  const digits = typeof text === 'string' ? /^\d+/.exec(text)?.[0] : undefined
  return digits === undefined ? undefined : Number(digits)
}

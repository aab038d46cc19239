/*
 * Tells since when a cache may be out of date. A cache is stale in two cases:
 *
 * - Its watch has failed, and neither a watch nor a list has succeeded for a second.
 * - Its watch has sent a bookmark, and then nothing for `staleAfterMs`. An API server sends bookmarks about once a
 *   minute, but none for a resource that has not changed since the server started. So only a watch that has sent one
 *   is expected to send more.
 *
 * It is in step again once a later list, or the events that had already arrived, are applied.
 */

/** A watch may be down for this time before its cache is stale. */
const graceMs = 1_000

interface StalenessOptions {
  /** The number of deltas that wait to be applied to the store. */
  readonly queueLength: () => number
  /** `performance.now()` when the server last sent something; `undefined` before the first time. */
  readonly lastContactMs: () => number | undefined
  /** How long a watch that sends bookmarks may be silent. */
  readonly staleAfterMs: number
  /** Called when the cache becomes stale, and when it is in step again. */
  readonly changed: () => void
}

export class Staleness {
  readonly #options: StalenessOptions
  /** `Date.now()` when the cache was last known to be in step; `undefined` while it is. */
  #lostMs: number | undefined
  #isStale = false
  /** Whether a watch or list has succeeded, with deltas still to be applied. */
  #isCatchingUp = false
  #isSilent = false
  #sendsBookmarks = false
  #grace: NodeJS.Timeout | undefined

  constructor(options: StalenessOptions) {
    this.#options = options
  }

  /** Milliseconds since the epoch; `undefined` while the cache is in step. */
  get sinceMs(): number | undefined {
    return this.#isStale ? this.#lostMs : undefined
  }

  failed(): void {
    this.#isCatchingUp = false
    this.#isSilent = false
    if (this.#lostMs !== undefined) return
    this.#lostMs = Date.now()
    this.#grace = setTimeout(() => this.#begin(), graceMs).unref()
  }

  watching(): void {
    this.#sendsBookmarks = false
    this.succeeded()
  }

  /** Reports that a list was received, or that a watch continues. */
  succeeded(): void {
    if (this.#lostMs === undefined) return
    if (this.#options.queueLength() === 0) this.#end()
    else this.#isCatchingUp = true
  }

  advanced(isBookmark: boolean): void {
    if (isBookmark) this.#sendsBookmarks = true
    if (this.#isCatchingUp || this.#isSilent) this.#end()
  }

  /** Checks whether a watch that sends bookmarks has been silent for too long. */
  checkSilence(): void {
    const contactMs = this.#options.lastContactMs()
    if (!this.#sendsBookmarks || contactMs === undefined || this.#lostMs !== undefined) return
    const silentMs = performance.now() - contactMs
    if (silentMs < this.#options.staleAfterMs) return
    this.#isSilent = true
    this.#lostMs = Date.now() - silentMs
    this.#begin()
  }

  stop(): void {
    this.#end()
  }

  #begin(): void {
    this.#isStale = true
    this.#options.changed()
  }

  #end(): void {
    clearTimeout(this.#grace)
    this.#lostMs = undefined
    this.#isCatchingUp = false
    this.#isSilent = false
    if (!this.#isStale) return
    this.#isStale = false
    this.#options.changed()
  }
}

export interface ResourceStalenessOptions extends Omit<StalenessOptions, 'lastContactMs'> {
  /** When the watch of a namespace was last heard of; without one, the watch of all namespaces. See {@link Staleness}. */
  readonly lastContactMs: (namespace: string | undefined) => number | undefined
}

/** The staleness of one resource, which has one watch of all namespaces, or one for each namespace. */
export class ResourceStaleness {
  readonly #options: ResourceStalenessOptions
  readonly #parts = new Map<string | undefined, Staleness>()

  constructor(options: ResourceStalenessOptions) {
    this.#options = options
  }

  /** When the first stale watch became stale; `undefined` while all are in step. */
  get sinceMs(): number | undefined {
    let earliest: number | undefined
    for (const { sinceMs } of this.#parts.values()) {
      if (sinceMs !== undefined && (earliest === undefined || sinceMs < earliest))
        earliest = sinceMs
    }
    return earliest
  }

  /** The staleness of one namespace; without a name, of the watch of all namespaces. */
  of(namespace?: string): Staleness {
    let part = this.#parts.get(namespace)
    if (part === undefined) {
      const { lastContactMs, ...options } = this.#options
      part = new Staleness({ ...options, lastContactMs: () => lastContactMs(namespace) })
      this.#parts.set(namespace, part)
    }
    return part
  }

  /** Keeps only the watches of these namespaces; `undefined`: only the watch of all namespaces. */
  keep(namespaces: ReadonlySet<string> | undefined): void {
    for (const [name, part] of this.#parts) {
      const isKept = name === undefined ? namespaces === undefined : namespaces?.has(name) === true
      if (isKept) continue
      this.#parts.delete(name)
      part.stop()
    }
  }

  checkSilence(): void {
    for (const part of this.#parts.values()) part.checkSilence()
  }

  stop(): void {
    for (const part of this.#parts.values()) part.stop()
  }
}

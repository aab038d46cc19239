/*
 * Whether a cache shows the cluster as it is. A cache is stale, so that its answers say since when, in two cases:
 *
 * - Its watch has failed, and neither a watch nor a list has succeeded for a second.
 * - Its watch has sent a bookmark, and then nothing for `staleAfterMs`. An API server sends bookmarks about once a
 *   minute, but none for a resource that has not changed since the server started. So only a watch that has sent one
 *   is expected to send more.
 *
 * It is in step again once a later list, or the events that had already arrived, are applied.
 *
 * A cache is worth nothing if another cluster answers at the same address, or if the cluster was restored from a backup:
 * resource versions start again, and earlier versions mean nothing. `Incarnation` detects both. A replaced cluster shows
 * another UID of its `kube-system` namespace; a restored one, resource versions that go back.
 */

import { createHash, randomUUID } from 'node:crypto'
import type { NamespaceStep } from '../informer/informer-observer.ts'
import { type ApiResource, isBuiltInGroup } from '../kubernetes/api-resource.ts'
import { isBefore, type ResourceVersion } from '../kubernetes/resource-version.ts'
import { Backoff, sleep } from '../lib/backoff.ts'
import { withDeadline } from '../lib/deadline.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'

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
    return getOrInsert(this.#parts, namespace, () => {
      const { lastContactMs, ...options } = this.#options
      return new Staleness({ ...options, lastContactMs: () => lastContactMs(namespace) })
    })
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

/** Observes one informer. */
export interface IncarnationObserver {
  /** `continues`: see `InformerObserver`. */
  watching(continues?: boolean): void
  advanced(
    position: ResourceVersion,
    changes: readonly unknown[],
    isList: boolean,
    at?: NamespaceStep,
  ): void
}

export interface IncarnationOptions {
  /** Reads the cluster's identity; `undefined` if the cluster has none. Retried when it rejects. */
  readonly ask: (signal: AbortSignal) => Promise<string | undefined>
  /** Called when the cluster was replaced or restored, so that all earlier resource versions are meaningless. */
  readonly renewed: () => void
}

const pauses = { initialMs: 250, maxMs: 30_000 }
/**
 * For how long an identity holds while watches follow each other in order: each of the thousands of a gateway begins anew every few
 * minutes.
 */
const knownMs = 60_000

/** Which history the resource versions of a cluster belong to. */
export class Incarnation {
  readonly #options: IncarnationOptions
  readonly #stop = new AbortController()
  #uid: string | undefined
  /** A random id of the history since a restore; `''` for the first known history. */
  #turn = ''
  #text = ''
  #isDue = false
  /** When the identity was asked for last that is known (`performance.now()`). */
  #askedMs = Number.NEGATIVE_INFINITY
  #checking: Promise<void> | undefined

  constructor(options: IncarnationOptions) {
    this.#options = options
  }

  get uid(): string | undefined {
    return this.#uid
  }

  /**
   * A short text that differs between incarnations; `''` if nothing is known. The same in every process, unless this
   * process has seen a restore.
   */
  get text(): string {
    return this.#text
  }

  /**
   * Whether the identity was read after the last list or watch began. Until it was, the caches may hold another cluster
   * than the text says.
   */
  get isVerified(): boolean {
    return !this.#isDue && this.#checking === undefined
  }

  #write(): void {
    const all = JSON.stringify([this.#uid ?? '', this.#turn])
    this.#text = createHash('sha256').update(all).digest('base64url').slice(0, 11)
  }

  /** Records the cluster's identity. The first known identity is not a change. */
  learn(uid: string | undefined): void {
    if (uid === undefined || uid === this.#uid) return
    const isOther = this.#uid !== undefined
    this.#uid = uid
    if (isOther) this.#turn = ''
    this.#write()
    if (isOther) this.#options.renewed()
  }

  /**
   * Reads the identity again, since another cluster may answer on a new connection. Calls during a check share the next
   * check.
   */
  verify(): void {
    this.#isDue = true
    if (this.#stop.signal.aborted) return
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
  }

  /** Begins another history, since versions have gone back: a backup was restored. */
  wentBack(): void {
    this.#turn = randomUUID()
    this.#write()
  }

  /**
   * An observer for one informer. It checks the identity after a list and when a watch begins, and detects versions that
   * go back.
   */
  observer({ group }: ApiResource): IncarnationObserver {
    /** The last version by namespace; `''`: of the watch of all namespaces. */
    const last = new Map<string, ResourceVersion>()
    return {
      watching: (continues = false) => {
        if (!continues || performance.now() - this.#askedMs > knownMs) this.verify()
      },
      advanced: (position, _, isList, at) => {
        if (isList) this.verify()
        const { namespace = '', resourceVersion: reached = position } = at ?? {}
        const before = last.get(namespace)
        last.set(namespace, reached)
        // Aggregated API servers may number their versions in other ways.
        if (before === undefined || !isBuiltInGroup(group) || !isBefore(reached, before)) return
        this.wentBack()
        this.#options.renewed()
      },
    }
  }

  /** Waits for the check that runs, for some time. Never rejects. */
  async settled(deadlineMs: number): Promise<void> {
    const checking = this.#checking ?? Promise.resolve()
    await withDeadline('the identity', checking, deadlineMs).catch(() => {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#checking
  }

  async #check(): Promise<void> {
    const { signal } = this.#stop
    const backoff = new Backoff(pauses)
    while (this.#isDue && !signal.aborted) {
      this.#isDue = false
      const askedMs = performance.now()
      try {
        const uid = await this.#options.ask(signal)
        if (signal.aborted) return
        this.#askedMs = askedMs
        this.learn(uid)
      } catch {
        this.#isDue = true
        await sleep(backoff.nextMs(), signal)
      }
    }
  }
}

import { groupResourceOf } from '../kubernetes/api-resource.ts'
import { UnreadableResourceError, type UnreadablePlace } from './cache-errors.ts'
import type { CachedResource } from './cached-resource.ts'

/** Bounds on the caches of one process. */
export interface CacheLimits {
  /** Informers that run at the same time, over all clusters. */
  readonly maxInformers: number
  /** Bytes of all stores, by their own estimate. `Infinity`: no bound. */
  readonly maxHeldBytes: number
  /** How long an informer keeps running without a lease. */
  readonly idleStopMs: number
  /** Changes kept of each resource, for subscribers who resume. */
  readonly maxRecentChanges: number
  /** Bytes of the previous states of objects in these changes, for each resource. */
  readonly maxRecentBytes: number
  /** How long a watch that sends bookmarks may be silent before its cache is stale. */
  readonly staleAfterMs: number
  /** How often the measurements of metrics.k8s.io are read while operations ask for usage. */
  readonly usageIntervalMs: number
}

export const defaultCacheLimits: CacheLimits = {
  maxInformers: 500,
  maxHeldBytes: Infinity,
  idleStopMs: 30 * 60_000,
  maxRecentChanges: 10_000,
  maxRecentBytes: 16 << 20,
  staleAfterMs: 150_000,
  usageIntervalMs: 15_000,
}

/** The process is at a bound, and every cached resource is in use. */
export class CacheFullError extends UnreadableResourceError {
  constructor(place: UnreadablePlace, problem: string, hint: string) {
    super(
      'CACHE_FULL',
      place,
      `the cache has no room for ${groupResourceOf(place.resource)}: ${problem}`,
      {
        hint,
      },
    )
  }
}

/**
 * Admits informers to one process. At a bound it stops idle informers first, starting with the one that has been idle
 * longest.
 */
export class CacheBounds {
  readonly limits: CacheLimits
  readonly #running = new Set<CachedResource>()
  /** The bytes of resources that were refused after their first list, by name. */
  readonly #refused = new Map<string, number>()

  constructor(limits: Partial<CacheLimits> = {}) {
    this.limits = { ...defaultCacheLimits, ...limits }
  }

  /** Makes room for one more informer. Throws {@link CacheFullError}. */
  admit(place: UnreadablePlace): void {
    const { maxInformers, maxHeldBytes } = this.limits
    this.#stopIdle(() => this.#running.size >= maxInformers)
    if (this.#running.size >= maxInformers) {
      throw new CacheFullError(
        place,
        `${this.#running.size} of ${maxInformers} informers run, and all are in use`,
        'close subscriptions that are not needed, or raise maxInformers',
      )
    }
    const name = nameOf(place)
    const expected = this.#refused.get(name) ?? 0
    this.#stopIdle(() => this.#heldBytes() + expected > maxHeldBytes)
    if (this.#heldBytes() + expected > maxHeldBytes) throw this.#tooManyBytes(place, expected)
    this.#refused.delete(name)
  }

  started(cached: CachedResource): void {
    this.#running.add(cached)
  }

  ended(cached: CachedResource): void {
    this.#running.delete(cached)
  }

  /** Checks the bound after a resource's first list. Stops other idle informers first, then refuses this resource. */
  synced(cached: CachedResource): void {
    const { maxHeldBytes } = this.limits
    this.#stopIdle(() => this.#heldBytes() > maxHeldBytes, cached)
    if (this.#heldBytes() <= maxHeldBytes) return
    const bytes = cached.heldBytes
    const refusal = this.#tooManyBytes(cached, 0)
    this.#refused.set(nameOf(cached), bytes)
    cached.refuse(refusal)
  }

  #stopIdle(isTooMuch: () => boolean, spared?: CachedResource): void {
    if (!isTooMuch()) return
    const idle = [...this.#running]
      .filter((cached) => cached.leases === 0 && cached !== spared)
      .toSorted((a, b) => a.idleSinceMs - b.idleSinceMs)
    for (const cached of idle) {
      if (!isTooMuch()) return
      void cached.stop()
    }
  }

  #heldBytes(): number {
    let bytes = 0
    for (const { heldBytes } of this.#running) bytes += heldBytes
    return bytes
  }

  #tooManyBytes(place: UnreadablePlace, expected: number): CacheFullError {
    const largest = [...this.#running]
      .toSorted((a, b) => b.heldBytes - a.heldBytes)
      .slice(0, shownInErrors)
      .map((cached) => `${groupResourceOf(cached.resource)} ${cached.heldBytes}`)
    const shown = largest.length === 0 ? '' : ` (${largest.join(', ')})`
    const wanted = expected === 0 ? '' : `, and it would take ${expected} more`
    return new CacheFullError(
      place,
      `${this.#heldBytes()} of ${this.limits.maxHeldBytes} bytes are held${shown}${wanted}`,
      'close subscriptions that are not needed, or raise maxHeldBytes',
    )
  }
}

const shownInErrors = 5

function nameOf({ cluster, resource }: UnreadablePlace): string {
  return `${cluster}/${resource.version}/${groupResourceOf(resource)}`
}

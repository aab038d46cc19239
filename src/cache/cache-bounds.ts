import { groupResourceOf } from '../kubernetes/api-resource.ts'
import { UnreadableResourceError, type UnreadablePlace } from './cache-errors.ts'
import type { CachedResource } from './cached-resource.ts'

/** How much the caches of one process may hold. */
export interface CacheLimits {
  /** Informers that run at the same time, over all clusters. */
  readonly maxInformers: number
  /** Bytes of all stores, as they measure themselves: see `StoreView.heldBytes`. `Infinity`: no bound. */
  readonly maxHeldBytes: number
  /** How long an informer runs that nobody holds a lease of. */
  readonly idleStopMs: number
  /** Changes of each resource that are kept for subscribers who come back from where they stood. */
  readonly maxRecentChanges: number
  /** The same in bytes of the objects as they were before. */
  readonly maxRecentBytes: number
}

/** Every default of {@link CacheLimits}. */
export const defaultCacheLimits: CacheLimits = {
  maxInformers: 500,
  maxHeldBytes: Infinity,
  idleStopMs: 30 * 60_000,
  maxRecentChanges: 10_000,
  maxRecentBytes: 16 << 20,
}

/** Something cannot be cached, as everything that is cached is in use. */
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

/** What runs in one process, and whether more may. What exceeds the bounds stops idle informers first, the longest idle one before all others. */
export class CacheBounds {
  readonly limits: CacheLimits
  readonly #running = new Set<CachedResource>()
  /** What refused resources would have held, by name. */
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
        `${this.#running.size} of ${maxInformers} informers run, all in use`,
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

  /** A first list is there. Where it is too much, idle informers stop, and if that is not enough, the new one does. */
  synced(cached: CachedResource): void {
    const { maxHeldBytes } = this.limits
    this.#stopIdle(() => this.#heldBytes() > maxHeldBytes)
    if (this.#heldBytes() <= maxHeldBytes) return
    const bytes = cached.heldBytes
    const refusal = this.#tooManyBytes(cached, 0)
    this.#refused.set(nameOf(cached), bytes)
    cached.refuse(refusal)
  }

  #stopIdle(isTooMuch: () => boolean): void {
    if (!isTooMuch()) return
    const idle = [...this.#running]
      .filter(({ leases }) => leases === 0)
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

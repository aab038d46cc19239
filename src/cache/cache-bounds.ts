/*
 * Bounds the informers of one process: their number, which the open files of the process bound too, and the bytes that
 * they hold. `admit` makes room for a new informer, and `grown` checks the bytes while an informer lists. At a bound, idle
 * informers stop first, the longest idle one before the others. If that is not enough, the new or growing resource is
 * refused with CACHE_FULL.
 */

import { groupResourceOf } from '../kubernetes/api-resource.ts'
import { defaultsOf, type NumberOptions } from '../lib/options.ts'
import { heapBytes, heapShare, isHeapFull } from '../lib/process-memory.ts'
import { UsageRings } from './usage-rings.ts'
import { UnreadableResourceError, type UnreadablePlace } from './cache-errors.ts'

/** Bounds on the caches of one process. */
export interface CacheLimits {
  /** Informers that run at the same time, over all clusters: at most one for two files that the process may have open. */
  readonly maxInformers: number
  /**
   * Bytes of all stores, by their own estimate, with their indexes, recent changes, and lists that are being received.
   * `Infinity`: no bound. Default: 45 % of the heap.
   */
  readonly maxHeldBytes: number
  /** How long an informer keeps running without a lease. */
  readonly idleStopMs: number
  /** Changes kept of each resource, for subscribers who resume. */
  readonly maxRecentChanges: number
  /** Bytes of the previous states of objects in these changes, for each resource. Default: 16 MiB, at most 1.5 % of the heap. */
  readonly maxRecentBytes: number
  /** How long a watch that sends bookmarks may be silent before its cache is stale. */
  readonly staleAfterMs: number
  /** How often the measurements of metrics.k8s.io are read while operations ask for usage. */
  readonly usageIntervalMs: number
  /** Bytes of what pods and nodes used during the last hour, for `usageHistory`: what is measured beyond them has none. */
  readonly maxUsageHistoryBytes: number
}

/** Every default and bound of {@link CacheLimits}. */
export const cacheOptions: NumberOptions<CacheLimits> = {
  maxInformers: { byDefault: 500, least: 1, most: 100_000 },
  maxHeldBytes: { byDefault: heapShare('caches'), least: 1_048_576 },
  maxRecentChanges: { byDefault: 10_000, least: 0, most: 10_000_000 },
  maxRecentBytes: { byDefault: heapShare('recentChanges', 16 << 20), least: 0 },
  idleStopMs: { byDefault: 30 * 60_000, least: 1_000, most: 2_147_483_647 },
  staleAfterMs: { byDefault: 150_000, least: 1_000, most: 2_147_483_647 },
  usageIntervalMs: { byDefault: 15_000, least: 1_000, most: 3_600_000 },
  maxUsageHistoryBytes: { byDefault: 64 << 20, least: 0 },
}

export const defaultCacheLimits: CacheLimits = defaultsOf(cacheOptions)

/** The process is at a bound, and every cached resource is in use. */
function cacheFull(place: UnreadablePlace, problem: string, hint: string): UnreadableResourceError {
  const text = `the cache has no room for ${groupResourceOf(place.resource)}: ${problem}`
  return new UnreadableResourceError('CACHE_FULL', place, text, { hint })
}

/** An informer that is counted: a `CachedResource`. */
export interface BoundedResource extends UnreadablePlace {
  readonly leases: number
  readonly idleSinceMs: number
  readonly heldBytes: number
  readonly isStopped: boolean
  stop(): Promise<void>
  refuse(refusal: UnreadableResourceError): void
}

export class CacheBounds {
  readonly limits: CacheLimits
  readonly usage: UsageRings
  /**
   * Each informer has a connection for its watch. Without free descriptors, the process could neither reconnect nor accept
   * a caller: half of them are for that, and for two more connections of each cluster.
   */
  readonly #mostByOpenFiles = Math.floor(openFiles() / 2)
  /** The bytes that each of them held when they were looked at last, and their sum. */
  readonly #running = new Map<BoundedResource, number>()
  #sum = 0
  #summedMs = 0
  #summingMs = 0
  /** The bytes that each resource held when it was refused, by name. */
  readonly #refused = new Map<string, number>()

  constructor(limits: Partial<CacheLimits> = {}) {
    this.limits = { ...defaultCacheLimits, ...limits }
    const { maxUsageHistoryBytes: maxBytes, usageIntervalMs } = this.limits
    this.usage = new UsageRings({ maxBytes, slotMs: Math.max(60_000, usageIntervalMs) })
  }

  /** Makes room for one more informer. Throws CACHE_FULL. */
  admit(place: UnreadablePlace): void {
    const { maxInformers } = this.limits
    const most = Math.min(maxInformers, this.#mostByOpenFiles)
    this.#stopIdle(() => this.#running.size >= most)
    if (this.#running.size >= most) {
      const bound =
        most < maxInformers ? 'the open files of the process (ulimit -n)' : 'maxInformers'
      throw cacheFull(
        place,
        `${this.#running.size} of ${most} informers run, and all are in use`,
        `close subscriptions that are not needed, or raise ${bound}`,
      )
    }
    const name = nameOf(place)
    const refusal = this.refusal(place, this.#refused.get(name))
    if (refusal !== undefined) throw refusal
    this.#refused.delete(name)
  }

  started(cached: BoundedResource): void {
    this.#running.set(cached, 0)
  }

  ended(cached: BoundedResource): void {
    this.#sum -= this.#running.get(cached) ?? 0
    this.#running.delete(cached)
  }

  /**
   * Checks the bytes while a resource grows, and after its first list. Stops other idle informers first, then refuses this
   * resource. A resource in use may pass the bound, by events or by a list that replaces its objects, until the heap is full.
   */
  grown(cached: BoundedResource, isInUse: boolean): void {
    if (cached.isStopped) return
    this.#look(cached)
    const refusal = this.refusal(cached, 0, cached)
    if (refusal === undefined || (isInUse && !isHeapFull())) return
    this.#refused.set(nameOf(cached), cached.heldBytes)
    cached.refuse(refusal)
  }

  /** Stops idle informers until there is room for `more` bytes. Returns the error if that is not enough. */
  refusal(
    place: UnreadablePlace,
    more: number = 0,
    spared?: BoundedResource,
  ): UnreadableResourceError | undefined {
    const isTooMuch = (): boolean => this.#heldBytes() + more > this.limits.maxHeldBytes
    this.#stopIdle(isTooMuch, spared)
    if (!isTooMuch() && !isHeapFull()) return undefined
    const largest = [...this.#running.keys()]
      .toSorted((a, b) => b.heldBytes - a.heldBytes)
      .slice(0, shownInErrors)
      .map((cached) => `${groupResourceOf(cached.resource)} ${cached.heldBytes}`)
    const shown = largest.length === 0 ? '' : ` (${largest.join(', ')})`
    const wanted = more === 0 ? '' : `, and it would take ${more} more`
    const full = isHeapFull() ? `, and the heap of ${heapBytes} bytes is full` : ''
    return cacheFull(
      place,
      `${this.#heldBytes()} of ${this.limits.maxHeldBytes} bytes are held${shown}${wanted}${full}`,
      'close subscriptions that are not needed, or give the process more memory (maxHeldBytes follows from its heap)',
    )
  }

  #stopIdle(isTooMuch: () => boolean, spared?: BoundedResource): void {
    if (!isTooMuch()) return
    const idle = [...this.#running.keys()]
      .filter((cached) => cached.leases === 0 && cached !== spared)
      .toSorted((a, b) => a.idleSinceMs - b.idleSinceMs)
    for (const cached of idle) {
      if (!isTooMuch()) return
      void cached.stop()
    }
  }

  /**
   * Looks at all of them, as long as that takes a small part of the time: thousands may be loading at once, each of which asks
   * again and again. Between two looks, a resource counts as it was, but for those that have told that they grew.
   */
  #heldBytes(): number {
    const nowMs = performance.now()
    if (nowMs - this.#summedMs >= this.#summingMs * looksApart) {
      for (const cached of this.#running.keys()) this.#look(cached)
      this.#summedMs = performance.now()
      this.#summingMs = this.#summedMs - nowMs
    }
    return this.#sum
  }

  #look(cached: BoundedResource): void {
    const { heldBytes } = cached
    this.#sum += heldBytes - (this.#running.get(cached) ?? 0)
    this.#running.set(cached, heldBytes)
  }
}

/**
 * The most files and connections that the process may have open; Node has raised the limit as far as it may. `Infinity`: the
 * system does not say. The report takes two milliseconds, if it does not look up the names of all peers.
 */
function openFiles(): number {
  const report = process.report as typeof process.report & { excludeNetwork: boolean }
  const { excludeNetwork } = report
  report.excludeNetwork = true
  const { userLimits } = report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } }
  }
  report.excludeNetwork = excludeNetwork
  const most = userLimits?.open_files?.soft
  return typeof most === 'number' ? most : Infinity
}

/** The time between two looks at all resources, by the time that one takes. */
const looksApart = 100
const shownInErrors = 5

function nameOf({ cluster, resource }: UnreadablePlace): string {
  return `${cluster}/${resource.version}/${groupResourceOf(resource)}`
}

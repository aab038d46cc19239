/*
 * Keeps the informers of `preload` and of archived kinds running, and holds `/readyz` back until those of `preload` are loaded.
 *
 * `hold` says which kinds of which clusters are kept, with each new schema: what was leased stays so, and what is no longer
 * served is released. The others are leased some at a time (`#leaseSome`), the first kind in all clusters before the second
 * one: a gateway that takes a hundred clusters over has thousands of informers to start, and is asked about pods first. Its
 * clusters connect one after another; for a while, what `preload` does not name waits until all have. What an operation
 * needs meanwhile, it leases itself, without a wait for its turn.
 *
 * `loading` names the kinds that are not loaded yet. The wait has a deadline and ends once: a gateway that was ready stays
 * ready. It excludes kinds that cannot be read and clusters that are unreachable.
 */

import { performance } from 'node:perf_hooks'
import type { Lease } from '../cache/cached-resource.ts'
import type { ClusterCache } from '../cache/cluster-cache.ts'
import type { Kind } from '../graphql/model/kind.ts'
import { isReachable } from '../graphql/prepare/kind-view.ts'
import type { ServedSchema } from '../graphql/served/served-schema.ts'
import { type ApiResource, versionedResourceOf } from '../kubernetes/api-resource.ts'
import { sleep } from '../lib/backoff.ts'
import { inSlices } from '../lib/event-loop.ts'
import { nearestName } from '../lib/options.ts'
import { codeOf, type GatewayLog } from './observers.ts'

/** How long the gateway waits for its preloaded kinds before it counts as ready without them. */
export const defaultPreloadDeadlineMs = 300_000

/**
 * How many kinds are loaded at once: a few while the event loop is busy, so that the first ones are there soon and not all of them late.
 * One that takes longer than `turnMs` holds no others up.
 */
const mostAtOnce = 64
const fewAtOnce = 8
const busyShare = 0.8
const turnMs = 2_000
const pauseMs = 10
/** How long what `preload` does not name waits for clusters that are connecting. */
const connectingMs = 30_000

/** Whether a kind is kept although `preload` does not name it. */
type IsKept = (kind: Kind, served: ServedSchema) => boolean

/** A kind in a cluster. */
interface PreloadedKind {
  readonly key: string
  readonly cache: ClusterCache
  readonly resource: ApiResource
  readonly listField: string
  readonly isNamed: boolean
  /** `undefined`: it is not its turn yet. `null`: it cannot be leased. */
  lease: Lease | undefined | null
}

export class Preload implements Disposable {
  readonly #listFields: readonly string[]
  readonly #deadlineMs: number
  readonly #isKept: IsKept
  readonly #isConnecting: () => boolean
  readonly #log: GatewayLog
  readonly #unknown = new Set<string>()
  readonly #stop = new AbortController()
  #served: ServedSchema | undefined
  /** By cluster and resource, of the clusters that are connected. */
  #kinds: ReadonlyMap<string, ReadonlyMap<string, PreloadedKind>> = new Map()
  /** What is to be leased, in this order. */
  #coming: PreloadedKind[] = []
  #isLeasing = false
  #sinceMs = 0
  #isOver = false

  /**
   * `isKept`: further kinds to keep, for which readiness does not wait. `isConnecting`: whether clusters are being connected for the
   * first time.
   */
  constructor(
    listFields: readonly string[],
    deadlineMs: number,
    isKept: IsKept,
    isConnecting: () => boolean,
    log: GatewayLog,
  ) {
    this.#isKept = isKept
    this.#isConnecting = isConnecting
    this.#listFields = [...new Set(listFields)]
    this.#deadlineMs = deadlineMs
    this.#log = log
  }

  /** Keeps each preloaded kind that the schema serves now, and releases the others. Does not wait for them. */
  hold(served: ServedSchema): void {
    const { kinds, clusters } = served
    const before = this.#kinds
    if (this.#served === undefined) this.#sinceMs = performance.now()
    this.#served = served
    const byField = new Map(Array.from(kinds.values(), (kind) => [kind.listField, kind]))
    for (const name of this.#listFields) {
      if (this.#unknown.has(name) || byField.has(name)) continue
      this.#unknown.add(name)
      const nearest = nearestName(name, [...byField.keys()])
      const way =
        nearest === undefined ? 'it is loaded once a cluster serves it' : `give ${nearest}`
      this.#log.warn(`preload: no served kind has the list field ${name}; ${way}`)
    }
    const named = this.#listFields.flatMap((name) => byField.get(name) ?? [])
    const kept = [...kinds.values()].filter((kind) => this.#isKept(kind, served))
    const wanted = new Set([...named, ...kept])
    // Another gateway loads those that it holds.
    const connected = [...clusters.values()].filter(
      ({ connection }) => connection.state === 'connected',
    )
    const now = new Map(connected.map(({ name }) => [name, new Map<string, PreloadedKind>()]))
    this.#coming = []
    for (const { resource, listField } of wanted) {
      const key = versionedResourceOf(resource)
      for (const cache of connected) {
        if (!cache.serves(resource)) continue
        const known = before.get(cache.name)?.get(key)
        const stays = known?.cache === cache && known.lease?.isStopped === false
        const isNamed = this.#listFields.includes(listField)
        const kind = stays ? known : { key, cache, resource, listField, isNamed, lease: undefined }
        now.get(cache.name)?.set(key, kind)
        if (!stays) this.#coming.push(kind)
      }
    }
    this.#kinds = now
    void this.#leaseSome()
    for (const [cluster, ofCluster] of before) {
      for (const [key, kind] of ofCluster) {
        if (now.get(cluster)?.get(key) !== kind) kind.lease?.[Symbol.dispose]()
      }
    }
  }

  /** Leases what is coming, at once as far as there is room. */
  async #leaseSome(): Promise<void> {
    if (this.#isLeasing) return
    this.#isLeasing = true
    const { signal } = this.#stop
    let begun: { readonly lease: Lease; readonly sinceMs: number }[] = []
    let connectingSinceMs: number | undefined
    let before = performance.eventLoopUtilization()
    while (this.#coming.length > 0 && !signal.aborted) {
      const nowMs = performance.now()
      begun = begun.filter(({ lease, sinceMs }) => sinceMs > nowMs - turnMs && lease.isLoading)
      connectingSinceMs = this.#isConnecting() ? (connectingSinceMs ?? nowMs) : undefined
      const isEarly = connectingSinceMs !== undefined && nowMs - connectingSinceMs <= connectingMs
      const firstUnnamed = isEarly ? this.#coming.findIndex(({ isNamed }) => !isNamed) : -1
      const now = performance.eventLoopUtilization()
      const isBusy = performance.eventLoopUtilization(now, before).utilization > busyShare
      before = now
      const room = Math.max(0, (isBusy ? fewAtOnce : mostAtOnce) - begun.length)
      const some = this.#coming.splice(0, firstUnnamed < 0 ? room : Math.min(room, firstUnnamed))
      const acquire = function* (this: Preload): Generator<void, void> {
        for (const kind of some) {
          this.#lease(kind)
          if (kind.lease) begun.push({ lease: kind.lease, sinceMs: performance.now() })
          yield
        }
      }
      await inSlices(acquire.call(this), () => signal.aborted)
      if (this.#coming.length > 0) await sleep(pauseMs, signal)
    }
    this.#isLeasing = false
  }

  #lease(kind: PreloadedKind): void {
    const { key, cache, resource } = kind
    // There may be a newer schema.
    if (this.#kinds.get(cache.name)?.get(key) !== kind) return
    try {
      kind.lease = cache.acquire(resource)
    } catch (error) {
      kind.lease = null
      this.#log.warn((error as Error).message, { cluster: cache.name, ...codeOf(error) })
    }
  }

  /**
   * Messages about the preloaded kinds that are still loading. None from the moment when all are loaded or the deadline has
   * passed. Leaves out kinds that the gateway may not read, and unreachable clusters.
   */
  loading(): readonly string[] {
    const served = this.#served
    if (this.#isOver || served === undefined) return []
    const loading = [...this.#kinds].flatMap(([cluster, kinds]) =>
      isReachable(served, cluster)
        ? [...kinds.values()]
            .filter((kind) => kind.isNamed && isLoading(kind))
            .map(({ listField }) => `cluster ${cluster}: ${listField} is still loading`)
        : [],
    )
    const isLate = performance.now() - this.#sinceMs > this.#deadlineMs
    this.#isOver = isLate || loading.length === 0
    if (!isLate) return loading
    for (const one of loading) {
      this.#log.warn(`${one} after ${this.#deadlineMs} ms; the gateway is ready without it`, {
        hint: 'raise preloadDeadlineMs, or see why it takes so long: gatewayClusters { resources }',
      })
    }
    return []
  }

  /** Whether the kinds that are kept of a cluster are loaded, or cannot be. */
  isLoaded({ name, cache }: { readonly name: string; readonly cache: ClusterCache }): boolean {
    const kinds = this.#kinds.get(name)
    if (this.#served?.clusters.get(name) !== cache || kinds === undefined) return false
    return ![...kinds.values()].some(isLoading)
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
    for (const kinds of this.#kinds.values()) {
      for (const { lease } of kinds.values()) lease?.[Symbol.dispose]()
    }
    this.#kinds = new Map()
  }
}

function isLoading({ lease }: PreloadedKind): boolean {
  return lease === undefined || lease?.isLoading === true
}

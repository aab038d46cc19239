/*
 * Keeps the informers of `preload` and of archived kinds running, and holds `/readyz` back until those of `preload` are loaded. `hold` leases the kinds
 * of each new schema; `loading` names the kinds that are not loaded yet. The wait has a deadline and ends once: a gateway
 * that was ready stays ready. It excludes kinds that cannot be read and clusters that are unreachable.
 */

import { UnreadableResourceError } from '../cache/cache-errors.ts'
import type { Lease } from '../cache/cached-resource.ts'
import type { ClusterCache } from '../cache/cluster-cache.ts'
import type { Kind } from '../graphql/model/kind.ts'
import { isReachable } from '../graphql/prepare/kind-view.ts'
import type { ServedSchema } from '../graphql/served/served-schema.ts'
import { nearestName } from '../lib/options.ts'
import { codeOf, type GatewayLog } from './observers.ts'

/** How long the gateway waits for its preloaded kinds before it counts as ready without them. */
export const defaultPreloadDeadlineMs = 300_000

/** Whether a kind is kept although `preload` does not name it. */
type IsKept = (kind: Kind, served: ServedSchema) => boolean

interface PreloadedKind {
  readonly cluster: string
  readonly listField: string
  readonly lease: Lease
}

export class Preload implements Disposable {
  readonly #listFields: ReadonlySet<string>
  readonly #deadlineMs: number
  readonly #isKept: IsKept
  readonly #log: GatewayLog
  readonly #unknown = new Set<string>()
  #served: ServedSchema | undefined
  #kinds: readonly PreloadedKind[] = []
  /** The clusters whose kinds are leased. */
  #connected: ReadonlySet<string> = new Set()
  #sinceMs = 0
  #isOver = false

  /** `isKept`: further kinds to keep, for which readiness does not wait. */
  constructor(listFields: readonly string[], deadlineMs: number, isKept: IsKept, log: GatewayLog) {
    this.#isKept = isKept
    this.#listFields = new Set(listFields)
    this.#deadlineMs = deadlineMs
    this.#log = log
  }

  /** Leases each preloaded kind that the schema serves now, and releases the others. Does not wait for them. */
  hold(served: ServedSchema): void {
    const { kinds, clusters } = served
    const before = this.#kinds
    if (this.#served === undefined) this.#sinceMs = performance.now()
    this.#served = served
    const known = [...kinds.values()].map(({ listField }) => listField)
    for (const name of this.#listFields) {
      if (this.#unknown.has(name) || known.includes(name)) continue
      this.#unknown.add(name)
      const nearest = nearestName(name, known)
      const way =
        nearest === undefined ? 'it is loaded once a cluster serves it' : `give ${nearest}`
      this.#log.warn(`preload: no served kind has the list field ${name}; ${way}`)
    }
    const wanted = [...kinds.values()].filter(
      (kind) => this.#listFields.has(kind.listField) || this.#isKept(kind, served),
    )
    // Another gateway loads those that it holds.
    const connected = [...clusters.values()].filter(
      ({ connection }) => connection.state === 'connected',
    )
    this.#connected = new Set(connected.map(({ name }) => name))
    this.#kinds = connected.flatMap((cluster) =>
      wanted
        .filter(({ resource }) => cluster.serves(resource))
        .flatMap(({ resource, listField }) => {
          try {
            return [{ cluster: cluster.name, listField, lease: cluster.acquire(resource) }]
          } catch (error) {
            if (!(error instanceof UnreadableResourceError)) throw error
            this.#log.warn(error.message, { cluster: cluster.name, ...codeOf(error) })
            return []
          }
        }),
    )
    for (const { lease } of before) lease[Symbol.dispose]()
  }

  /**
   * Messages about the preloaded kinds that are still loading. None from the moment when all are loaded or the deadline has
   * passed. Leaves out kinds that the gateway may not read, and unreachable clusters.
   */
  loading(): readonly string[] {
    const served = this.#served
    if (this.#isOver || served === undefined) return []
    const loading = this.#kinds
      .filter(({ cluster, listField, lease }) => {
        if (!this.#listFields.has(listField)) return false
        return isReachable(served, cluster) && lease.unreadable()?.code === 'NOT_SYNCED'
      })
      .map(({ cluster, listField }) => `cluster ${cluster}: ${listField} is still loading`)
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
    if (this.#served?.clusters.get(name) !== cache || !this.#connected.has(name)) return false
    return this.#kinds.every(
      ({ cluster, lease }) => cluster !== name || lease.unreadable()?.code !== 'NOT_SYNCED',
    )
  }

  [Symbol.dispose](): void {
    for (const { lease } of this.#kinds) lease[Symbol.dispose]()
    this.#kinds = []
  }
}

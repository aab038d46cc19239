import { type AccessLimits, defaultAccessLimits } from '../access/access-reviews.ts'
import type { ApiServerLimits } from '../api-server/api-server.ts'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import { CacheBounds, type CacheLimits } from '../cache/cache-bounds.ts'
import { ClusterCache } from '../cache/cluster-cache.ts'
import type { InformerObserver } from '../informer/informer-observer.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { ApiWatchTimes } from './api-watch.ts'
import { ClusterMember } from './cluster-member.ts'
import { type Cluster, connectionOf } from './connected-cluster.ts'
import type { GatewayLog } from './observers.ts'

/** No cluster can be used. */
export class NoClusterError extends CodedError {
  constructor(clusters: readonly Cluster[]) {
    const errors = clusters.flatMap((one) => (one.state === 'connected' ? [] : [one.error]))
    const reasons = clusters.map(({ name }, at) => `${name}: ${errors[at]?.message ?? ''}`)
    const [cause] = errors
    const hint = cause instanceof CodedError ? cause.hint : undefined
    super('NO_CLUSTER', `no cluster can be reached\n  ${reasons.join('\n  ')}`, {
      ...(hint === undefined ? {} : { hint }),
      ...(cause === undefined ? {} : { cause }),
    })
  }
}

export interface FleetOptions {
  /** The first cluster is the default. */
  readonly clusters: readonly NamedClusterSelection[]
  readonly connection: Partial<ApiServerLimits>
  readonly cache: Partial<CacheLimits>
  readonly access: Partial<AccessLimits>
  readonly reflector: ReflectorOptions
  /** How often to retry a cluster that cannot be reached. */
  readonly retryMs: number
  readonly watch: Partial<ApiWatchTimes>
  readonly log: GatewayLog
  /** A further observer of informers. */
  readonly observer?: ((cluster: string, resource: ApiResource) => InformerObserver) | undefined
}

/**
 * The clusters of the gateway, in the order of their configuration. The configuration may change while the gateway
 * runs.
 */
export class Fleet implements AsyncDisposable {
  readonly #options: FleetOptions
  readonly #bounds: CacheBounds
  readonly #stop = new AbortController()
  #members: readonly ClusterMember[] = []
  #configuring: Promise<void> = Promise.resolve()
  #changed: () => Promise<void> = () => Promise.resolve()

  constructor(options: FleetOptions) {
    this.#options = options
    this.#bounds = new CacheBounds(options.cache)
  }

  get members(): readonly ClusterMember[] {
    return this.#members
  }

  /**
   * Connects to all clusters. Rejects with {@link NoClusterError} if no cluster can be used, and with the reason of the
   * signal, which aborts the connecting.
   */
  async connect(signal: AbortSignal): Promise<void> {
    const ending = AbortSignal.any([signal, this.#stop.signal])
    this.#members = await Promise.all(
      this.#options.clusters.map((selection) => this.#member(selection, ending)),
    )
    signal.throwIfAborted()
    const clusters = this.#members.map(({ cluster }) => cluster)
    if (clusters.every(({ state }) => state !== 'connected')) throw new NoClusterError(clusters)
  }

  /** Logs the state of the clusters and follows them. Calls `changed` when a cluster or its API changes. */
  follow(changed: () => Promise<void>): void {
    this.#changed = changed
    for (const member of this.#members) member.follow(changed)
  }

  /**
   * Serves these clusters from now on. Clusters with the same configuration continue. Connects to the others, and
   * disconnects from removed ones after `changed`. Retries clusters that cannot be reached. Never rejects.
   */
  configure(selections: readonly NamedClusterSelection[]): Promise<void> {
    this.#configuring = this.#configuring.then(() => this.#configure(selections))
    return this.#configuring
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the gateway is stopping'))
    await this.#configuring
    await Promise.all(this.#members.map((member) => member[Symbol.asyncDispose]()))
  }

  async #configure(selections: readonly NamedClusterSelection[]): Promise<void> {
    const { signal } = this.#stop
    if (signal.aborted) return
    const before = this.#members
    this.#members = await Promise.all(
      selections.map(async (selection) => {
        const known = before.find((member) => member.isOf(selection))
        return known ?? (await this.#member(selection, signal))
      }),
    )
    const added = this.#members.filter((member) => !before.includes(member))
    const removed = before.filter((member) => !this.#members.includes(member))
    const isSame = this.#members.every((member, at) => member === before[at])
    if (!signal.aborted && !(isSame && removed.length === 0)) {
      await this.#changed()
      for (const member of added) member.follow(this.#changed)
    }
    for (const { name } of removed) this.#options.log.info(`${name}: is no longer served`)
    await Promise.all(removed.map((member) => member[Symbol.asyncDispose]()))
  }

  #member(selection: NamedClusterSelection, signal: AbortSignal): Promise<ClusterMember> {
    const { connection, reflector, retryMs, watch, log } = this.#options
    const access = { ...defaultAccessLimits, ...this.#options.access }
    const cache = (cluster: Cluster): ClusterCache => this.#cacheOf(cluster)
    const isDefault = (name: string): boolean => this.#members[0]?.name === name
    const options = { connection, reflector, access, retryMs, watch, log, cache, isDefault }
    return ClusterMember.connect(selection, options, signal)
  }

  #cacheOf(cluster: Cluster): ClusterCache {
    const { reflector } = this.#options
    return new ClusterCache(connectionOf(cluster), {
      name: cluster.name,
      bounds: this.#bounds,
      reflector,
      observer: (resource) => this.#observerOf(cluster.name, resource),
    })
  }

  #observerOf(cluster: string, resource: ApiResource): InformerObserver {
    const { log } = this.#options
    const { kind, group } = resource
    const place = `${cluster}: ${group === '' ? kind : `${kind}.${group}`}`
    const other = this.#options.observer?.(cluster, resource)
    return {
      ...other,
      failed: (failure, error) => {
        other?.failed?.(failure, error, resource)
        log.warn(`${place}: ${failure} failed: ${error.message}`)
      },
      slowList: ({ items, durationMs, stages }) => {
        log.warn(`${place}: ${items} objects took ${Math.round(durationMs / 1000)} s`, stages)
      },
      listed: (list) => {
        const { items, durationMs } = list
        other?.listed?.(list)
        log.info(`${place}: ${items} objects in ${Math.round(durationMs)} ms`)
      },
    }
  }
}

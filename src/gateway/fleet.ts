import type { ApiServerLimits } from '../api-server/api-server.ts'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import { CacheBounds, type CacheLimits } from '../cache/cache-bounds.ts'
import { ClusterCache } from '../cache/cluster-cache.ts'
import type { InformerObserver } from '../informer/informer-observer.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import { sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import { type Cluster, connectCluster, connectionOf } from './connected-cluster.ts'
import type { GatewayLog } from './gateway-log.ts'

/** None of the clusters can be used. */
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
  /** The first one is the default. */
  readonly clusters: readonly NamedClusterSelection[]
  readonly connection: Partial<ApiServerLimits>
  readonly cache: Partial<CacheLimits>
  readonly reflector: ReflectorOptions
  /** How often a cluster that could not be reached is asked again. */
  readonly retryMs: number
  readonly log: GatewayLog
}

/** A cluster and its caches, which outlast the loss of a connection. */
export interface FleetMember {
  readonly cluster: Cluster
  readonly cache: ClusterCache
}

/** The clusters of the gateway: connects to them, and asks those that could not be reached again. */
export class Fleet implements AsyncDisposable {
  readonly #options: FleetOptions
  readonly #bounds: CacheBounds
  readonly #stop = new AbortController()
  #members: readonly FleetMember[] = []
  #retrying: Promise<void> = Promise.resolve()

  constructor(options: FleetOptions) {
    this.#options = options
    this.#bounds = new CacheBounds(options.cache)
  }

  /** In the order of their configuration. */
  get members(): readonly FleetMember[] {
    return this.#members
  }

  /**
   * Connects to all clusters. Rejects with {@link NoClusterError} where not one of them can be used, and with the reason of
   * the signal, which ends the connecting at once.
   */
  async connect(signal: AbortSignal): Promise<void> {
    const { clusters, connection } = this.#options
    const ending = AbortSignal.any([signal, this.#stop.signal])
    const connected = await Promise.all(
      clusters.map((selection) => connectCluster(selection, connection, ending)),
    )
    this.#members = connected.map((cluster) => ({ cluster, cache: this.#cacheOf(cluster) }))
    signal.throwIfAborted()
    if (connected.every(({ state }) => state !== 'connected')) throw new NoClusterError(connected)
  }

  /** Says how the clusters are; those that could not be reached are asked again, and `recovered` is told of them. */
  follow(recovered: () => void): void {
    for (const { cluster } of this.#members) this.#announce(cluster)
    this.#retrying = this.#retry(recovered)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the gateway is stopping'))
    await this.#retrying
    await Promise.all(this.#members.map(({ cache }) => cache[Symbol.asyncDispose]()))
    await Promise.all(
      this.#members.map(({ cluster }) =>
        cluster.state === 'connected'
          ? cluster.api.apiServer[Symbol.asyncDispose]()
          : Promise.resolve(),
      ),
    )
  }

  async #retry(recovered: () => void): Promise<void> {
    const { signal } = this.#stop
    const { retryMs } = this.#options
    while (this.#members.some(({ cluster }) => cluster.state === 'unreachable')) {
      await sleep(retryMs, signal)
      if (signal.aborted) return
      const before = this.#members
      this.#members = await Promise.all(before.map((member, at) => this.#again(member, at)))
      // What has just been connected is disconnected with the others.
      if (signal.aborted) return
      const found = this.#members.filter((member, at) => member !== before[at])
      if (found.length === 0) continue
      recovered()
      for (const { cluster } of found) this.#announce(cluster)
    }
  }

  /** A member that could not be reached, asked again; the same one where nothing has come of it. */
  async #again(member: FleetMember, position: number): Promise<FleetMember> {
    const { clusters, connection } = this.#options
    const selection = clusters[position]
    if (member.cluster.state !== 'unreachable' || selection === undefined) return member
    const cluster = await connectCluster(selection, connection, this.#stop.signal)
    member.cache.connect(connectionOf(cluster))
    if (cluster.state === 'connected') return { ...member, cluster }
    return member
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
    return {
      failed: (failure, error) => log.warn(`${place}: ${failure} failed: ${error.message}`),
      slowList: ({ items, durationMs, stages }) => {
        log.warn(`${place}: ${items} objects took ${Math.round(durationMs / 1000)} s`, stages)
      },
      listed: ({ items, durationMs }) => {
        log.info(`${place}: ${items} objects in ${Math.round(durationMs)} ms`)
      },
    }
  }

  #announce(cluster: Cluster): void {
    const { log } = this.#options
    if (cluster.state !== 'connected') {
      const hint = cluster.error instanceof CodedError ? cluster.error.hint : undefined
      log.error(`${cluster.name}: ${cluster.error.message}`, { hint })
      return
    }
    const { version, resources, apiServer, failures } = cluster.api
    log.info(
      `${cluster.name}: ${version.gitVersion} at ${apiServer.host}, ${resources.length} resources`,
    )
    for (const failure of failures) log.warn(`${cluster.name}: ${failure.message}`)
  }
}

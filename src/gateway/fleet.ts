import { type AccessLimits, defaultAccessLimits } from '../access/access-reviews.ts'
import type { ReviewToken } from '../access/authentication/token-review.ts'
import type { ApiServerLimits } from '../api-server/api-server.ts'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import { CacheBounds, type CacheLimits } from '../cache/cache-bounds.ts'
import { ClusterCache } from '../cache/cluster-cache.ts'
import type { InformerObserver } from '../informer/informer-observer.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { ApiWatchTimes } from './api-watch.ts'
import { type Cluster, ClusterMember, connectionOf } from './cluster-member.ts'
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

/** The cluster that should review tokens does not exist. */
class NoReviewerError extends CodedError {
  constructor(cluster: string, known: readonly string[]) {
    super(
      'NO_REVIEWER',
      `auth.cluster is ${JSON.stringify(cluster)}, and there is no such cluster`,
      {
        value: cluster,
        hint: `name one of these: ${known.join(', ')}`,
      },
    )
  }
}

/** Options of the clusters of a gateway. Times are milliseconds. */
export interface FleetOptions {
  /** The clusters to serve; the first one is the default. */
  readonly clusters: readonly NamedClusterSelection[]
  /** Bounds of the caches, and the time after which unused caches stop. */
  readonly cache?: Partial<CacheLimits>
  /** Bounds of access reviews, and the time for which answers are kept. */
  readonly access?: Partial<AccessLimits>
  readonly reflector?: ReflectorOptions
  readonly connection?: Partial<ApiServerLimits>
  /** How often to retry a cluster that cannot be reached. */
  readonly retryMs?: number
  /** Times for noticing changes of a cluster's API. */
  readonly watch?: Partial<ApiWatchTimes>
}

const defaultRetryMs = 15_000

/** A further observer of the informers of a cluster. */
type InformerObserverOf = (cluster: string, resource: ApiResource) => InformerObserver

/**
 * The clusters of the gateway, in the order of their configuration. The configuration may change while the gateway
 * runs.
 */
export class Fleet implements AsyncDisposable {
  readonly #options: FleetOptions
  readonly #log: GatewayLog
  readonly #observer: InformerObserverOf | undefined
  readonly #bounds: CacheBounds
  readonly #stop = new AbortController()
  #members: readonly ClusterMember[] = []
  #configuring: Promise<void> = Promise.resolve()
  #changed: () => Promise<void> = () => Promise.resolve()

  constructor(options: FleetOptions, log: GatewayLog, observer: InformerObserverOf | undefined) {
    this.#options = options
    this.#log = log
    this.#observer = observer
    this.#bounds = new CacheBounds(options.cache ?? {})
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

  /**
   * Makes a reviewer that sends tokens to the API server of a cluster, by default the first. Throws {@link
   * NoReviewerError}. The reviewer rejects while the cluster cannot be reached, and after the deadline.
   */
  tokenReviewer(named: string | undefined, deadlineMs: number): ReviewToken {
    const find = (): Cluster | undefined =>
      (named === undefined ? this.#members[0] : this.#members.find(({ name }) => name === named))
        ?.cluster
    if (named !== undefined && find() === undefined) {
      const known = this.#members.map(({ name }) => name)
      throw new NoReviewerError(named, known)
    }
    const apiVersion = 'authentication.k8s.io/v1'
    return async (spec) => {
      const cluster = find()
      if (cluster?.state !== 'connected') {
        throw cluster?.error ?? new CodedError('NO_REVIEWER', 'the cluster is no longer served')
      }
      return await cluster.api.apiServer.request('POST', `/apis/${apiVersion}/tokenreviews`, {
        body: { apiVersion, kind: 'TokenReview', spec },
        deadlineMs,
      })
    }
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
    const relabelled = this.#members.filter((member, at) => {
      const selection = selections[at]
      return selection !== undefined && member.relabel(selection)
    })
    const isSame =
      relabelled.length === 0 && this.#members.every((member, at) => member === before[at])
    if (!signal.aborted && !(isSame && removed.length === 0)) {
      await this.#changed()
      for (const member of added) member.follow(this.#changed)
    }
    for (const { name } of removed) this.#log.info(`${name}: is no longer served`)
    await Promise.all(removed.map((member) => member[Symbol.asyncDispose]()))
  }

  #member(selection: NamedClusterSelection, signal: AbortSignal): Promise<ClusterMember> {
    const { connection = {}, reflector = {}, retryMs = defaultRetryMs, watch = {} } = this.#options
    const options = {
      connection,
      reflector,
      access: { ...defaultAccessLimits, ...this.#options.access },
      retryMs,
      watch,
      log: this.#log,
      isDefault: (name: string) => this.#members[0]?.name === name,
      cache: (cluster: Cluster) =>
        new ClusterCache(connectionOf(cluster), {
          name: cluster.name,
          bounds: this.#bounds,
          reflector,
          observer: (resource) => this.#observerOf(cluster.name, resource),
        }),
    }
    return ClusterMember.connect(selection, options, signal)
  }

  #observerOf(cluster: string, resource: ApiResource): InformerObserver {
    const log = this.#log
    const { kind, group } = resource
    const place = `${cluster}: ${group === '' ? kind : `${kind}.${group}`}`
    const other = this.#observer?.(cluster, resource)
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

/*
 * The clusters of the gateway: the configured clusters in their order, then the clusters of sources. Both may change while
 * the gateway runs. `connect` begins with all of them, and `follow` keeps them up to date. After each change, `#reconcile`
 * aligns the members with the wanted clusters: an unchanged cluster continues, and a replaced one answers until its own
 * successor is connected, whatever becomes of the others. Where gateways share the clusters (`sharing.ts`), those that
 * another one holds are remote members.
 */

import { isDeepStrictEqual } from 'node:util'
import { type AccessLimits, defaultAccessLimits } from '../access/access-reviews.ts'
import type { ReviewToken } from '../access/authentication/bearer-token.ts'
import type { ApiServerLimits } from '../api-server/api-server.ts'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import type { CachedNamespaces } from '../cache/account-namespaces.ts'
import { CacheBounds, type CacheLimits } from '../cache/cache-bounds.ts'
import { Prometheus, type PrometheusOptions } from '../cache/prometheus.ts'
import { ClusterCache } from '../cache/cluster-cache.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import type { SharedInformer } from '../informer/shared-informer.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import { sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import { FairSlots } from '../lib/concurrency.ts'
import { present } from '../lib/options.ts'
import type { ApiWatchTimes } from './api-watch.ts'
import { type Cluster, ClusterMember, connectionOf } from './cluster-member.ts'
import type { FleetChanges } from '../graphql/served/served-schema.ts'
import { withDeadline } from '../lib/deadline.ts'
import { codeOf, type FailureLog, type GatewayLog } from './observers.ts'
import { InformerLog, type InformerObserverOf } from './informer-log.ts'
import type { GatewayTraces } from './traces.ts'
import {
  type ClusterSource,
  configuration,
  nameProblem,
  type SourcedCluster,
  type SourceState,
} from './sources/cluster-source.ts'
import type { Archiving, FormOf } from './archiving.ts'
import { PublishedApis } from './published-apis.ts'
import { RemoteMember } from './remote-member.ts'
import { type Loading, type ShareOptions, Sharing } from './sharing.ts'
import { DirectorySource, type DirectorySourceOptions } from './sources/directory-source.ts'
import {
  type HubConnection,
  type Hubs,
  HubSource,
  type HubSourceOptions,
} from './sources/hub-source.ts'

export type ClusterSourceOptions = DirectorySourceOptions | HubSourceOptions

/** The start has found no usable cluster. `code`: `NO_CLUSTER`. */
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

/** Options of the clusters of a gateway. Times are milliseconds. */
export interface FleetOptions {
  /** The clusters to serve; the first one is the default. May be empty if there are sources. */
  readonly clusters: readonly NamedClusterSelection[]
  /**
   * Directories of kubeconfigs, and Secrets of hub clusters, that name further clusters, which may change while the gateway runs: see
   * docs/fleet.md.
   */
  readonly clusterSources?: readonly ClusterSourceOptions[]
  /** Shares the clusters with the gateways that have the same configuration and archive. Absent: this one holds all. */
  readonly share?: ShareOptions
  /** Bounds of the caches, and the time after which unused caches stop. */
  readonly cache?: Partial<CacheLimits> & CachedNamespaces
  /** Bounds of access reviews, and the time for which answers are kept. */
  readonly access?: Partial<AccessLimits>
  /** Where `usageHistory` is read; absent: only the gateway's own measurements (docs/usage.md). */
  readonly prometheus?: PrometheusOptions
  readonly reflector?: ReflectorOptions
  /**
   * The informer factories of controllers in this process, by cluster, or that of the first cluster at the start. A kind that such a
   * factory follows as a whole is not listed and watched a second time: the gateway reads the factory's informer
   * (docs/extending.md). The program starts and stops its factories.
   */
  readonly informers?: LentInformers | Readonly<Record<string, LentInformers>>
  readonly connection?: Partial<ApiServerLimits>
  /** The longest pause before an unreachable cluster is connected again; the first one takes a second or two. Default: 15 s. */
  readonly retryMs?: number
  readonly watch?: Partial<ApiWatchTimes>
  /** Follows operations and requests to API servers by spans of OpenTelemetry. */
  readonly traces?: GatewayTraces
}

/** The part of an informer factory that a gateway reads. */
export interface LentInformers {
  informerOfAll(resource: ApiResource, metadataOnly?: boolean): SharedInformer | undefined
}

function isFactory(informers: NonNullable<FleetOptions['informers']>): informers is LentInformers {
  return typeof informers.informerOfAll === 'function'
}

const defaultRetryMs = 15_000
/** How long the start waits for sources, and for further clusters once one has answered. */
const startDeadlineMs = 10_000
/**
 * How many clusters are connected at once, of which one that takes longer than `turnMs` counts no more: those that follow find the OpenAPI
 * documents that the first ones have fetched.
 */
const mostConnecting = 64
const turnMs = 1_000
/** How long the watches of a cluster's API wait for clusters that are connecting, and how often they look. */
const connectedDeadlineMs = 10_000
const pauseMs = 500
/** How long the previous connection of a cluster is kept at most while the new one connects. */
const replacementDeadlineMs = 5_000

export type FleetMember = ClusterMember | RemoteMember

/** A member that takes the place of another one once it is connected, or after a while. */
interface Successor {
  readonly member: ClusterMember
  isDue: boolean
  /** Resolves after the first attempt to connect, once it has its place or is wanted no more. */
  readonly settled: Promise<void>
}

interface FleetParts {
  readonly log: GatewayLog
  readonly failures: FailureLog
  readonly observer: InformerObserverOf | undefined
  readonly archiving: Archiving | undefined
  /** Whether the caches of a cluster have what they keep. */
  readonly isLoaded: (member: ClusterMember) => boolean
}

export class Fleet implements AsyncDisposable, FleetChanges, Hubs {
  /** Who holds what, where gateways share the clusters. */
  readonly sharing: Sharing | undefined
  /** What the holders of clusters publish, where gateways share them. */
  readonly #published: PublishedApis | undefined
  #publishing: Promise<void> | undefined
  /** Whether something was published that the first schema may lack. */
  #isBehind = false
  readonly #options: FleetOptions
  readonly #log: GatewayLog
  readonly #failures: FailureLog
  readonly #informers: InformerLog
  readonly #archiving: Archiving | undefined
  readonly #bounds: CacheBounds
  readonly #prometheus: Prometheus | undefined
  readonly #stop = new AbortController()
  readonly #listeners = new Set<() => void>()
  readonly #connecting = new FairSlots({
    most: mostConnecting,
    mostWaiting: Infinity,
    maxWaitMs: Infinity,
  })
  readonly #sources: readonly ClusterSource[]
  readonly #states = new Map<ClusterSource, SourceState>()
  /** The clusters that were left out, as logged. */
  #leftOut: ReadonlySet<string> = new Set()
  #configured: readonly SourcedCluster[]
  /** The clusters that gateways share. */
  #shared: ReadonlySet<string> = new Set()
  #members: readonly FleetMember[] = []
  #byName: ReadonlyMap<string, FleetMember> = new Map()
  /** By cluster. */
  #successors: ReadonlyMap<string, Successor> = new Map()
  /** The reconciliation that takes those that are due. */
  #succession: Promise<void> | undefined
  #configuring: Promise<unknown> = Promise.resolve()
  /** Members that are being replaced, with the promise that they have ended. */
  readonly #replacing = new Map<Promise<void>, readonly FleetMember[]>()
  #following: readonly Promise<void>[] = []
  #isTelling = false
  /** Remakes the schema; `undefined` until the gateway has its first one. */
  #changed: (() => Promise<void>) | undefined

  constructor(options: FleetOptions, { log, failures, observer, archiving, isLoaded }: FleetParts) {
    this.#options = options
    this.#log = log
    this.#failures = failures
    this.#informers = new InformerLog(log, failures, observer)
    this.#archiving = archiving
    this.#bounds = new CacheBounds(options.cache ?? {})
    this.#prometheus =
      options.prometheus &&
      new Prometheus(options.prometheus, (cluster, reason) =>
        failures.warn(`Prometheus does not answer: ${reason}`, { cluster }),
      )
    this.#configured = options.clusters.map(configuredCluster)
    const { clusterSources = [], reflector = {}, share } = options
    if (share?.address !== undefined && archiving !== undefined) {
      this.sharing = new Sharing(share.address, {
        archive: archiving.archive,
        log,
        failures,
        clusters: () => [...this.#shared],
        claim: (cluster) => archiving.claim(cluster),
        loading: (cluster) => this.#loading(cluster, isLoaded),
        changed: () => {
          void this.#reconcile(this.#stop.signal)
          this.#tell()
        },
      })
      this.#published = new PublishedApis({
        archive: archiving.archive,
        held: () =>
          this.here.filter(({ name, holder }) => holder === undefined && this.#shared.has(name)),
        changed: (clusters, apis) => this.#othersPublished(clusters, apis),
        log,
      })
    }
    this.#sources = clusterSources.map((source) =>
      source.type === 'directory'
        ? new DirectorySource(source)
        : new HubSource(source, this, reflector),
    )
  }

  get members(): readonly FleetMember[] {
    return this.#members
  }

  /** The members whose caches are in this gateway. */
  get here(): readonly ClusterMember[] {
    return this.#members.filter(isHere)
  }

  /** Whether clusters are being connected for the first time. */
  get isConnecting(): boolean {
    return this.#successors.size > 0 || this.here.some(({ isTried }) => !isTried)
  }

  get address(): string | undefined {
    return this.sharing?.address
  }

  /** The sources with their states; `undefined` before the first attempt. */
  get sources(): readonly { readonly name: string; readonly state: SourceState | undefined }[] {
    return this.#sources.map((source) => ({ name: source.name, state: this.#states.get(source) }))
  }

  /** The connection of a hub, or the reason why there is none. Only a configured cluster can be a hub. */
  hub(name: string): HubConnection | Error {
    const cluster = this.here.find((one) => one.name === name && one.isConfigured)?.cluster
    if (cluster?.state === 'connected') return cluster.api
    return cluster?.error ?? new CodedError('NO_HUB', `no cluster ${name} is configured`)
  }

  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Connects to all clusters, including the clusters of sources. {@link follow} continues with clusters that take longer
   * than the start waits. Rejects with {@link NoClusterError} if no cluster can be used and nothing may bring one, and
   * with the signal's reason.
   */
  async connect(signal: AbortSignal): Promise<void> {
    this.#publishing = this.#published?.run(this.#stop.signal)
    await this.sharing?.start()
    await this.#untilConnected(this.#reconcile(signal), signal)
    const clusters = this.#members.map(({ cluster }) => cluster)
    const isLost = clusters.every(({ state }) => state !== 'connected')
    const isAll = this.#sources.length === 0 && this.sharing === undefined
    if (isLost && isAll) throw new NoClusterError(clusters)
    const first = this.#sources.map((source) => this.#followSource(source))
    const all = Promise.all(first).then(() => this.#reconcile(signal))
    await withDeadline('reading the cluster sources', all, startDeadlineMs, signal).catch(
      (error: Error) => {
        signal.throwIfAborted()
        this.#log.warn(`${error.message}; their clusters are served when they are known`)
      },
    )
    const connecting = this.here.map((member) => member.connect(signal))
    await this.#untilConnected(Promise.all(connecting), signal)
    const remote = this.#members.filter(({ holder }) => typeof holder === 'string')
    const known = this.#published?.known(remote.map(({ name }) => name))
    await withDeadline(
      'reading what others serve',
      known ?? Promise.resolve(),
      startDeadlineMs,
      signal,
    ).catch((error: Error) => {
      signal.throwIfAborted()
      this.#log.warn(`${error.message}; the kinds of their clusters are served when they are known`)
    })
  }

  /** Waits until all clusters have answered. After the deadline, waits on only if none has. */
  async #untilConnected(connecting: Promise<unknown>, signal: AbortSignal): Promise<void> {
    await withDeadline('connecting to all clusters', connecting, startDeadlineMs, signal).catch(
      async (error: Error) => {
        signal.throwIfAborted()
        if (!this.#members.some(({ cluster }) => cluster.state === 'connected')) await connecting
        else this.#log.warn(`${error.message}; the others are served when they answer`)
      },
    )
    signal.throwIfAborted()
  }

  /** Logs the state of the clusters and follows them. Calls `changed` when a cluster or its API changes. */
  follow(changed: () => Promise<void>): void {
    this.#changed = async () => {
      await changed()
      this.#tell()
    }
    for (const member of this.here) void member.follow(this.#changed)
    if (this.#isBehind) void this.#changed()
    void this.#reconcile(this.#stop.signal)
  }

  /**
   * Replaces the configured clusters; the clusters of sources stay. Resolves after the first attempt to connect to new
   * ones. Never rejects.
   */
  configure(selections: readonly NamedClusterSelection[]): Promise<void> {
    this.#configured = selections.map(configuredCluster)
    return this.#reconcile(this.#stop.signal)
  }

  /**
   * Makes a reviewer that sends tokens to the API server of a configured cluster, by default the first. Throws NO_REVIEWER.
   * The reviewer rejects while the cluster is unreachable, and after the deadline.
   */
  tokenReviewer(named: string | undefined, deadlineMs: number): ReviewToken {
    const isReviewer = ({ name }: { readonly name: string }): boolean =>
      named === undefined || name === named
    const find = (): Cluster | undefined =>
      this.#members.find((one) => one.isConfigured && isReviewer(one))?.cluster
    const known = this.#configured.map(({ name }) => name)
    const reviewer = this.#configured.find(isReviewer)
    if (this.sharing !== undefined && reviewer?.everywhere === false) {
      const problem = `cluster ${reviewer.name} reviews tokens, and one gateway alone would hold it`
      const hint = `set everywhere: true for the cluster ${reviewer.name}`
      throw new CodedError('NO_REVIEWER', problem, { value: reviewer.name, hint })
    }
    if (named === undefined ? known.length === 0 : !known.includes(named)) {
      const problem =
        named === undefined
          ? 'no configured cluster can review tokens'
          : `auth.cluster is ${JSON.stringify(named)}, which is not a configured cluster`
      const hint =
        known.length === 0
          ? 'add the cluster that reviews tokens to clusters'
          : `name one of these: ${known.join(', ')}`
      throw new CodedError('NO_REVIEWER', problem, { value: named, hint })
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
    await this.sharing?.[Symbol.asyncDispose]()
    await this.#configuring
    await Promise.all(this.#replacing.keys())
    await Promise.all(this.#following)
    await this.#publishing
    const successors = Array.from(this.#successors.values(), ({ member }) => member)
    await Promise.all(
      [...this.#members, ...successors].map((member) => member[Symbol.asyncDispose]()),
    )
  }

  /**
   * Follows a source until the gateway stops. Resolves once the first clusters that it names are members and begin to
   * connect.
   */
  #followSource(source: ClusterSource): Promise<void> {
    const first = Promise.withResolvers<void>()
    const follow = async (): Promise<void> => {
      for await (const state of source.follow(this.#stop.signal)) {
        const { problem: before } = this.#states.get(source) ?? {}
        this.#states.set(source, state)
        const { problem, clusters } = state
        if (problem === undefined) {
          if (before !== undefined) this.#log.info(`${source.name}: is followed again`)
        } else if (problem.message !== before?.message) {
          const stay = `its ${clusters.length} clusters stay`
          this.#log.error(`${source.name}: ${problem.message}; ${stay}`, codeOf(problem))
        }
        first.resolve()
        void this.#reconcile(this.#stop.signal)
      }
      first.resolve()
    }
    this.#following = [...this.#following, follow()]
    return first.promise
  }

  /** Aligns the members with the clusters that the configuration and the sources name now. Never rejects. */
  async #reconcile(signal: AbortSignal): Promise<void> {
    const ending = AbortSignal.any([signal, this.#stop.signal])
    const membership = this.#configuring.then(() => this.#takeMembers())
    this.#configuring = membership.catch(this.#notChanged)
    const { added = [], served } = (await membership.catch(() => undefined)) ?? {}
    // An unreachable cluster delays neither its removal nor the others.
    const changed = this.#changed
    await Promise.all([
      served,
      ...added.map((member) =>
        changed === undefined ? member.connect(ending) : member.follow(changed),
      ),
      ...Array.from(this.#successors.values(), ({ isDue, settled }) => (isDue ? [] : settled)),
    ])
  }

  /**
   * Makes the wanted clusters members. Unchanged clusters continue. `served` resolves when the schema has them and the former ones have
   * ended; further members are taken meanwhile.
   */
  async #takeMembers(): Promise<{
    readonly added?: readonly ClusterMember[]
    readonly served?: Promise<void>
  }> {
    this.#succession = undefined
    if (this.#stop.signal.aborted) return {}
    const before = this.#members
    const labels = before.map((member) => member.labels)
    const known = this.#byName
    const all = this.#wanted()
    this.#shared = new Set(
      all.flatMap(({ cluster }) => (cluster.everywhere === true ? [] : [cluster.name])),
    )
    const successors = new Map<string, Successor>()
    const former = this.#successors
    this.#members = all.map(({ cluster, problem }): FleetMember => {
      const { name } = cluster
      const member = known.get(name)
      if (!this.#isHeldHere(cluster)) {
        return member instanceof RemoteMember && member.adopt(cluster)
          ? member
          : this.#remoteMember(cluster)
      }
      if (member instanceof ClusterMember && member.adopt(cluster, problem)) return member
      if (member === undefined) return this.#member(cluster)
      const begun = former.get(name)
      const isAdopting = begun?.member.adopt(cluster, problem) === true
      const successor = isAdopting ? begun : this.#successor(this.#member(cluster))
      if (successor.isDue) return successor.member
      successors.set(name, successor)
      return member
    })
    this.#byName = new Map(this.#members.map((member) => [member.name, member]))
    this.#successors = successors
    const isDropped = ({ member }: Successor): boolean =>
      successors.get(member.name)?.member !== member && !this.#members.includes(member)
    const dropped = [...former.values()].filter(isDropped)
    await Promise.all(dropped.map(({ member }) => member[Symbol.asyncDispose]()))
    const added = this.here.filter((member) => !before.includes(member))
    this.sharing?.wake()
    const removed = before.filter((member) => !this.#members.includes(member))
    // Subscriptions select clusters by their labels, too.
    const isSame = this.#members.every(
      (member, at) => member === before[at] && isDeepStrictEqual(member.labels, labels[at]),
    )
    if (isSame && removed.length === 0) return {}
    const served = this.#replace(removed)
      .catch(this.#notChanged)
      .finally(() => this.#replacing.delete(served))
    this.#replacing.set(served, removed)
    return { added, served }
  }

  readonly #notChanged = (error: unknown): void => {
    this.#log.error('the clusters could not be changed', { error })
  }

  /** Makes the schema, and then ends the members that it had. */
  async #replace(removed: readonly FleetMember[]): Promise<void> {
    await this.#changed?.()
    for (const { name } of removed) {
      if (!this.#byName.has(name)) this.#log.info('is no longer served', { cluster: name })
    }
    await Promise.all(
      removed.map(async (member) => {
        await member[Symbol.asyncDispose]()
        if (isHere(member) && !(this.#byName.get(member.name) instanceof ClusterMember)) {
          await this.#archiving?.release(member.name)
        }
      }),
    )
  }

  readonly #inTurn = async (connect: () => Promise<void>): Promise<void> => {
    let connecting = Promise.resolve()
    await this.#connecting.run('', () => {
      connecting = connect()
      return Promise.race([connecting, sleep(turnMs, this.#stop.signal)])
    })
    await connecting
  }

  readonly #whenConnected = async (signal: AbortSignal): Promise<void> => {
    const untilMs = performance.now() + connectedDeadlineMs
    while (this.isConnecting && performance.now() < untilMs && !signal.aborted) {
      await sleep(pauseMs, signal)
    }
  }

  /** Connects a member that is to take the place of another one. */
  #successor(member: ClusterMember): Successor {
    // One of its name that has left a moment ago lets the archive go first.
    const leaving = [...this.#replacing].find(([, left]) =>
      left.some((one) => isHere(one) && one.name === member.name),
    )
    const connecting = (leaving?.[0] ?? Promise.resolve()).then(() =>
      member.connect(this.#stop.signal),
    )
    const due = withDeadline('connecting', connecting, replacementDeadlineMs).catch(() => {})
    const settled = due.then(() => {
      successor.isDue = true
      return (this.#succession ??= this.#reconcile(this.#stop.signal))
    })
    const successor: Successor = { member, isDue: false, settled }
    return successor
  }

  #isHeldHere({ name, everywhere }: SourcedCluster): boolean {
    return everywhere === true || (this.sharing?.isHere(name) ?? true)
  }

  #loading(cluster: string, isLoaded: (member: ClusterMember) => boolean): Loading {
    const member = this.#byName.get(cluster)
    if (!(member instanceof ClusterMember) || this.#changed === undefined) return 'absent'
    if (member.cluster.state !== 'connected') return 'connecting'
    return isLoaded(member) ? 'loaded' : 'loading'
  }

  /**
   * The configured clusters in their order, then the clusters of sources by name, so that all replicas have the same default
   * cluster. If a name occurs twice, the first one counts.
   */
  #wanted(): readonly WantedCluster[] {
    const byName = new Map<string, WantedCluster>()
    const leftOut: CodedError[] = []
    const take = (cluster: SourcedCluster, problem?: Error): void => {
      const error = nameProblem(cluster, byName)
      if (error === undefined) byName.set(cluster.name, { cluster, problem })
      else leftOut.push(error)
    }
    for (const cluster of this.#configured) take(cluster)
    for (const source of this.#sources) {
      const { clusters = [], problem } = this.#states.get(source) ?? {}
      for (const cluster of clusters) take(cluster, problem)
    }
    for (const error of leftOut) {
      if (!this.#leftOut.has(error.message)) this.#log.error(error.message, codeOf(error))
    }
    this.#leftOut = new Set(leftOut.map(({ message }) => message))
    const isConfigured = ({ cluster }: WantedCluster): boolean => cluster.source === configuration
    const wanted = [...byName.values()]
    const sourced = wanted.filter((one) => !isConfigured(one))
    return [
      ...wanted.filter(isConfigured),
      ...sourced.toSorted((a, b) => (a.cluster.name < b.cluster.name ? -1 : 1)),
    ]
  }

  /**
   * What decides how a cluster writes the objects of a resource, and which of them one list of all has; `undefined` while it
   * is not connected.
   */
  readonly formOf: FormOf = (name, resource) => {
    const member = this.#byName.get(name)
    if (member?.cluster.state !== 'connected') return undefined
    const { definitions, version } = member.cluster.api
    const definition = definitions.byName.get(`${resource.resource}.${resource.group}`)
    const written =
      definition === undefined ? version.gitVersion : `${definition.uid} ${definition.generation}`
    const excluded = resource.namespaced ? member.cache.excludedNamespaces : []
    return excluded.length === 0 ? written : JSON.stringify([written, excluded.toSorted()])
  }

  /** The API of a cluster that this gateway does not read itself is a part of the schema as it was published. */
  #othersPublished(clusters: ReadonlySet<string>, apis: ReadonlySet<string>): void {
    const read = this.#members.filter(({ cluster }) => cluster.state !== 'connected')
    if (read.some(({ name }) => apis.has(name))) {
      this.#isBehind = this.#changed === undefined
      void this.#changed?.()
    } else if (read.some(({ name }) => clusters.has(name))) this.#tell()
  }

  /** Calls the listeners soon, once for all changes of one tick. */
  #tell(): void {
    if (this.#isTelling) return
    this.#isTelling = true
    setImmediate(() => {
      this.#isTelling = false
      this.#published?.tell()
      for (const listener of this.#listeners) listener()
    })
  }

  #member(cluster: SourcedCluster): ClusterMember {
    const { connection = {}, reflector = {}, retryMs = defaultRetryMs, watch = {} } = this.#options
    return new ClusterMember(cluster, {
      ...this.#memberOptions,
      connection,
      reflector,
      retryMs,
      watch,
      log: this.#log,
      failures: this.#failures,
      observer: this.#options.traces?.observer,
      inTurn: this.#inTurn,
      whenConnected: this.#whenConnected,
      isDefault: (name) => {
        const [first] = this.#members
        return first?.name === name && first.isConfigured
      },
      published: (name) => this.#published?.of(name)?.api,
      holder: (name) => {
        if (this.sharing === undefined || !this.#shared.has(name)) return undefined
        // What nobody serves is answered from these caches, as far as they are loaded.
        const holder = this.sharing.holderOf(name) ?? this.address
        return holder === this.address ? undefined : holder
      },
    })
  }

  #remoteMember(cluster: SourcedCluster): RemoteMember {
    return new RemoteMember(cluster, {
      ...this.#memberOptions,
      holder: (name) => this.sharing?.holderOf(name) ?? null,
      published: (name) => this.#published?.of(name),
    })
  }

  get #memberOptions(): Pick<
    ConstructorParameters<typeof ClusterMember>[1],
    'access' | 'stateChanged' | 'cache'
  > {
    const { reflector = {} } = this.#options
    const { namespaces, excludeNamespaces } = this.#options.cache ?? {}
    const archived = this.#archiving?.archiveOf
    return {
      access: { ...defaultAccessLimits, ...this.#options.access },
      stateChanged: () => this.#tell(),
      cache: (of, described) =>
        new ClusterCache(connectionOf(of), {
          name: of.name,
          bounds: this.#bounds,
          prometheus: () => this.#prometheus?.of(of.name, this.#members.length <= 1),
          reflector,
          observer: (resource) => this.#informers.observerOf(of.name, resource),
          namespaces: { namespaces, excludeNamespaces, ...described.cache },
          ...present({ archived }),
          lent: (resource, metadataOnly) =>
            this.#factoryOf(described)?.informerOfAll(resource, metadataOnly),
          covered: (resource, coverage) => this.#informers.covered(of.name, resource, coverage),
        }),
    }
  }

  /** The factory of a cluster, unless its name or the first place belongs to another cluster than at the start. */
  #factoryOf({ name, place }: SourcedCluster): LentInformers | undefined {
    const { informers, clusters } = this.#options
    const first = clusters.find((one) => one.name === name)
    if (first !== undefined && !isDeepStrictEqual(configuredCluster(first).place, place)) {
      return undefined
    }
    if (informers === undefined || !isFactory(informers)) return informers?.[name]
    return clusters[0]?.name === name ? informers : undefined
  }
}

function isHere(member: FleetMember): member is ClusterMember {
  return member instanceof ClusterMember
}

interface WantedCluster {
  readonly cluster: SourcedCluster
  readonly problem: Error | undefined
}

/** A configured cluster, in the form of a source's cluster. */
function configuredCluster(given: NamedClusterSelection): SourcedCluster {
  const { name, labels = {}, cache = {}, everywhere = false, ...selection } = given
  const place = { form: 'selection', selection } as const
  return { name, labels, source: configuration, place, cache, everywhere }
}

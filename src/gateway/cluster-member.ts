/*
 * One cluster of the gateway. `connect` makes the first attempt. `follow` retries while the cluster is unreachable, watches
 * the API while it is connected, and reads everything anew when another cluster answers. `adopt` changes the description
 * of a running member: its labels, its source, and the credentials for the same server.
 */

import { isDeepStrictEqual } from 'node:util'
import { type ApiServer, type ApiServerLimits, createApiServer } from '../api-server/api-server.ts'
import { isUnauthorized } from '../api-server/transport/reachability.ts'
import type { ApiServerObserver } from '../api-server/transport/transport.ts'
import { checkTlsMaterial, credentialEnds } from '../api-server/kubeconfig/client-certificate.ts'
import { type ClusterConfig, ClusterConfigError } from '../api-server/kubeconfig/cluster-config.ts'
import { loadClusterConfig } from '../api-server/kubeconfig/cluster-lookup.ts'
import type { AccessLimits } from '../access/access-reviews.ts'
import { type AccessConnection, ClusterAccess } from '../access/cluster-access.ts'
import type { ClusterCache, ClusterConnection } from '../cache/cluster-cache.ts'
import { DirectApi } from '../cache/direct-api.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import {
  type ApiResource,
  groupResourceOf,
  groupVersionPath,
  isBuiltInGroup,
} from '../kubernetes/api-resource.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import type { ServedCluster } from '../graphql/served/served-schema.ts'
import { Backoff, sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import type { ApiDescription } from './api-description.ts'
import { type ApiFollower, ApiWatch, type ApiWatchTimes } from './api-watch.ts'
import {
  askAgain,
  askApi,
  askClusterUid,
  type ClusterApi,
  type DefinitionMetadata,
  isDiscovered,
} from './cluster-api.ts'
import { codeOf, type FailureLog, type GatewayLog } from './observers.ts'
import { type ClusterLabels, configuration, type SourcedCluster } from './sources/cluster-source.ts'

export type Cluster =
  | { readonly name: string; readonly state: 'connected'; readonly api: ClusterApi }
  /** The gateway retries. */
  | { readonly name: string; readonly state: 'unreachable'; readonly error: Error }
  /** The configuration is invalid. The gateway does not retry. */
  | { readonly name: string; readonly state: 'misconfigured'; readonly error: Error }

const firstRetryMs = 1_000

interface ClusterMemberOptions {
  readonly connection: Partial<ApiServerLimits>
  readonly reflector: ReflectorOptions
  readonly access: AccessLimits
  /** The longest pause before the next attempt to connect. */
  readonly retryMs: number
  readonly watch: Partial<ApiWatchTimes>
  readonly log: GatewayLog
  readonly failures: FailureLog
  /** A further observer of the connection to a cluster. */
  readonly observer?: ((cluster: string) => Pick<ApiServerObserver, 'sending'>) | undefined
  /** Makes the first attempt to connect, of many clusters some at once. */
  readonly inTurn: (connect: () => Promise<void>) => Promise<void>
  /** Resolves once no cluster is being connected for the first time, or after a while. */
  readonly whenConnected: (signal: AbortSignal) => Promise<void>
  readonly isDefault: (cluster: string) => boolean
  /** The API of a cluster that gateways which share clusters have published. */
  readonly published: (cluster: string) => ApiDescription | undefined
  /** The address of the gateway that serves the cluster, if that is not this one. */
  readonly holder: (cluster: string) => string | undefined
  /** Called after the state, the labels or the source has changed. */
  readonly stateChanged: () => void
  /** Makes the cache. It survives a lost connection. */
  readonly cache: (cluster: Cluster, described: SourcedCluster) => ClusterCache
}

export class ClusterMember implements AsyncDisposable, ApiFollower, ServedCluster {
  readonly name: string
  readonly cache: ClusterCache
  readonly access: ClusterAccess
  readonly #options: ClusterMemberOptions
  readonly #stop = new AbortController()
  #described: SourcedCluster
  /** The problem of the source, or of the newest description. */
  #sourceProblem: Error | undefined
  #cluster: Cluster
  #since: Date
  #stateBefore: ServedCluster['state']
  #first: Promise<void> | undefined
  #isFollowed = false
  #following: Promise<void> = Promise.resolve()
  #changed: () => Promise<void> = () => Promise.resolve()
  /** Aborts when another cluster answers: {@link ClusterCache.onRenewed}. */
  #renewal = new AbortController()

  /** Does not connect yet. */
  constructor(described: SourcedCluster, options: ClusterMemberOptions) {
    const { name, place } = described
    this.name = name
    this.#described = described
    this.#options = options
    this.#cluster =
      place.form === 'unusable'
        ? { name, state: 'misconfigured', error: place.error }
        : { name, state: 'unreachable', error: new NotConnectedYetError(name) }
    this.#since = new Date()
    this.#stateBefore = this.state
    this.cache = options.cache(this.#cluster, described)
    this.cache.onRenewed(() => this.#renewal.abort())
    this.access = new ClusterAccess({
      cluster: name,
      isDefault: () => options.isDefault(name),
      connection: () => {
        if (this.#cluster.state !== 'connected') throw this.#cluster.error
        const { apiServer, resources, resourceVersionsComparable } = this.#cluster.api
        const source: AccessConnection['source'] = (resource, how) =>
          apiServer.resource(resource, how)
        return { server: apiServer, resources, source, resourceVersionsComparable }
      },
      limits: options.access,
      namespaces: () => this.cache.accountNamespaces,
      reflector: options.reflector,
      failed: (resource, error) => {
        const what = `following ${resource}, which makes changes of permissions effective at once,`
        this.failed(what, error)
      },
    })
  }

  get cluster(): Cluster {
    return this.#cluster
  }

  /** Until the cluster answers, the API that a gateway has published of it. */
  get api(): ApiDescription | undefined {
    const cluster = this.#cluster
    return cluster.state === 'connected' ? cluster.api : this.#options.published(this.name)
  }

  /** Whether an attempt to connect has ended. */
  get isTried(): boolean {
    return !isNotTried(this.#cluster)
  }

  get labels(): ClusterLabels {
    return this.#described.labels
  }

  get source(): string {
    return this.#described.source
  }

  get isConfigured(): boolean {
    return this.source === configuration
  }

  get holder(): string | undefined {
    return this.#options.holder(this.name)
  }

  get state(): ServedCluster['state'] {
    const cluster = this.#cluster
    if (cluster.state === 'misconfigured') return 'MISCONFIGURED'
    if (cluster.state === 'connected' && !cluster.api.apiServer.isReachable) return 'UNREACHABLE'
    if (this.#refusal !== undefined) return 'UNAUTHORIZED'
    return cluster.state === 'connected' ? 'CONNECTED' : 'UNREACHABLE'
  }

  /** The error if the cluster last refused the credentials of the gateway. */
  get #refusal(): Error | undefined {
    const cluster = this.#cluster
    if (cluster.state === 'connected') return cluster.api.apiServer.refusal
    return isUnauthorized(cluster.error) ? cluster.error : undefined
  }

  /** When the credentials of the connection end. */
  get credentialEnds(): ReadonlyMap<string, number> {
    const cluster = this.#cluster
    return cluster.state === 'connected'
      ? credentialEnds(cluster.api.apiServer.config)
      : new Map<string, number>()
  }

  get since(): Date {
    return this.#since
  }

  get problem(): Error | undefined {
    if (this.#cluster.state !== 'connected') return this.#cluster.error
    return this.#refusal ?? this.#sourceProblem
  }

  /**
   * Adopts a newer description. Returns false, and changes nothing, if the description needs a new connection: it names
   * another server, or there is no connection yet. An unusable description leaves an existing connection as it is.
   */
  adopt(described: SourcedCluster, sourceProblem: Error | undefined): boolean {
    if (!isDeepStrictEqual(this.#described.cache, described.cache)) return false
    const taken = this.#takePlace(described)
    if (taken === false) return false
    const problem = taken === true ? sourceProblem : taken
    const before = this.#described
    const isOther =
      !isDeepStrictEqual([before.labels, before.source], [described.labels, described.source]) ||
      this.#sourceProblem?.message !== problem?.message
    this.#described = taken === true ? described : { ...described, place: before.place }
    this.#sourceProblem = problem
    if (taken !== true) this.failed(`taking over ${described.source}`, taken)
    if (isOther) this.#options.stateChanged()
    return true
  }

  /** Returns true if the member adopts the place, an error if the previous place stays, false if it takes another member. */
  #takePlace({ place: next }: SourcedCluster): boolean | Error {
    const { place } = this.#described
    if (next.form === 'unusable') {
      if (place.form !== 'unusable') return place.form === 'config' ? next.error : false
      this.#set({ name: this.name, state: 'misconfigured', error: next.error })
      return true
    }
    if (next.form === 'selection' || place.form !== 'config') return isDeepStrictEqual(place, next)
    const parts = [place, next].map(({ config: { server, cluster, user, impersonation } }) => [
      server,
      cluster,
      user,
      impersonation,
    ])
    if (isDeepStrictEqual(parts[0], parts[1])) return true
    if (this.#cluster.state !== 'connected') return false
    try {
      if (!this.#cluster.api.apiServer.rotate(next.config)) return false
    } catch (error) {
      return error as Error
    }
    this.#options.log.info('its credentials have changed', { cluster: this.name })
    this.cache.verifyIdentity()
    this.cache.renewAccount()
    return true
  }

  /** Connects to the cluster once. Never rejects: a failure becomes the state of the cluster. */
  connect(signal: AbortSignal): Promise<void> {
    if (this.#cluster.state === 'misconfigured') return Promise.resolve()
    return (this.#first ??= this.#options.inTurn(() =>
      this.#connect(AbortSignal.any([signal, this.#stop.signal])),
    ))
  }

  /**
   * Connects unless that has begun, and follows the cluster: logs its state, retries while it is unreachable, and watches
   * its API while it is connected. Calls `changed` after each change. Resolves after the first attempt to connect, once the
   * schema shows its result.
   */
  async follow(changed: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop
    this.#changed = changed
    const isNew = isNotTried(this.#cluster)
    if (isNew) await this.connect(signal)
    if (signal.aborted || this.#isFollowed) return
    this.#isFollowed = true
    this.#announce()
    this.#following = this.#follow(signal)
    if (isNew) await changed()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the gateway is stopping'))
    await this.#following
    await this.access[Symbol.asyncDispose]()
    await this.cache[Symbol.asyncDispose]()
    if (this.#cluster.state === 'connected')
      await this.#cluster.api.apiServer[Symbol.asyncDispose]()
  }

  async ask(
    present: readonly DefinitionMetadata[] | undefined,
    touched: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { name } = this
    if (this.#cluster.state !== 'connected') return []
    const before = this.#cluster.api
    if (present !== undefined) {
      const redefined = await before.definitions.follow(present, signal)
      this.cache.reread((resource) => redefined.has(groupResourceOf(resource)))
    }
    const api = await askAgain(before, signal)
    if (present === undefined) {
      // A new document of the whole group is the only visible sign.
      this.cache.reread((resource) => isOtherDocument(resource, before, api))
    }
    if (api !== before) {
      this.#set({ name, state: 'connected', api })
      await this.#changed()
      const text = `the API has changed, ${api.resources.length} resources`
      this.#options.log.info(text, { cluster: name })
    }
    return [...touched].filter((one) => present !== undefined && !isSettled(one, before, api))
  }

  failed(what: string, error: Error): void {
    const { failures } = this.#options
    failures.warn(`${what} failed: ${error.message}`, { cluster: this.name, ...codeOf(error) })
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const backoff = this.#backoff()
    while (this.#cluster.state === 'unreachable') {
      await sleep(backoff.nextMs(), signal)
      if (signal.aborted) return
      await this.#connect(signal)
      // An invalid configuration may become valid again.
      if ((this.#cluster as Cluster).state !== 'connected') continue
      if (signal.aborted) return
      await this.#changed()
      this.#announce()
    }
    if (this.#cluster.state !== 'connected') return
    const { api } = this.#cluster
    await Promise.all([this.#watch(api, signal), api.apiServer.followReachability(signal)])
  }

  /** What failed once, as while this process was busy with many clusters, may succeed a moment later. */
  #backoff(): Backoff {
    const maxMs = this.#options.retryMs / 2
    return new Backoff({ initialMs: Math.min(firstRetryMs, maxMs), maxMs })
  }

  async #watch(first: ClusterApi, signal: AbortSignal): Promise<void> {
    const { reflector, watch } = this.#options
    let api: ClusterApi | undefined = first
    await this.#options.whenConnected(signal)
    while (api !== undefined) {
      const watching = new ApiWatch(api, this, reflector, watch)
      await watching.run(AbortSignal.any([signal, this.#renewal.signal]))
      api = signal.aborted ? undefined : await this.#askAnew(api, signal)
    }
  }

  /** Reads everything anew, since another cluster answers or a backup was restored. */
  async #askAnew({ apiServer }: ClusterApi, signal: AbortSignal): Promise<ClusterApi | undefined> {
    const { log } = this.#options
    const backoff = this.#backoff()
    this.#renewal = new AbortController()
    this.access.forget()
    log.warn('another cluster answers, or a backup was restored; everything is read again', {
      cluster: this.name,
    })
    while (!signal.aborted) {
      try {
        const api = await askApi(apiServer, signal)
        this.#set({ name: this.name, state: 'connected', api })
        this.cache.connect(connectionOf(this.#cluster))
        await this.#changed()
        this.#announce()
        return api
      } catch (error) {
        if (signal.aborted) return undefined
        this.failed('reading its API again', error as Error)
        await sleep(backoff.nextMs(), signal)
      }
    }
    return undefined
  }

  /** Makes one attempt. The first decides whether the configuration is usable, later ones whether the cluster answers. */
  async #connect(signal: AbortSignal): Promise<void> {
    const isFirst = isNotTried(this.#cluster)
    const { name } = this
    const { connection, log } = this.#options
    const observer: ApiServerObserver = {
      warned: (text) => log.warn(`the API server warns: ${text}`, { cluster: name }),
      ...this.#options.observer?.(name),
      reachable: () => this.#tellState(),
    }
    let apiServer: ApiServer | undefined
    let cluster: Cluster
    try {
      apiServer = createApiServer({
        ...connection,
        name,
        observer,
        config: configOf(this.#described),
      })
      cluster = { name, state: 'connected', api: await askApi(apiServer, signal) }
    } catch (cause) {
      await apiServer?.[Symbol.asyncDispose]()
      const state = cause instanceof ClusterConfigError ? 'misconfigured' : 'unreachable'
      const error = cause instanceof Error ? cause : new Error(String(cause))
      cluster = { name, state, error }
    }
    if (this.#stop.signal.aborted && cluster.state === 'connected') {
      await cluster.api.apiServer[Symbol.asyncDispose]()
      return
    }
    this.cache.connect(connectionOf(cluster))
    if (isFirst || cluster.state !== 'misconfigured') this.#set(cluster)
  }

  #set(cluster: Cluster): void {
    this.#cluster = cluster
    this.#tellState()
  }

  #tellState(): void {
    const { state } = this
    const { failures, log } = this.#options
    if (state === 'UNAUTHORIZED') {
      const message = `the API server does not accept the gateway's credentials: ${this.#refusal?.message}`
      failures.error(message, { cluster: this.name, ...unauthorizedDetails })
    } else if (state === 'CONNECTED' && this.#stateBefore === 'UNAUTHORIZED') {
      log.info("the API server accepts the gateway's credentials again", { cluster: this.name })
    }
    if (state === this.#stateBefore) return
    this.#stateBefore = state
    this.#since = new Date()
    this.#options.stateChanged()
  }

  #announce(): void {
    const { log } = this.#options
    const cluster = this.#cluster
    if (cluster.state !== 'connected') {
      // This state was already logged, with its own code.
      if (this.state === 'UNAUTHORIZED') return
      log.error(cluster.error.message, { cluster: cluster.name, ...codeOf(cluster.error) })
      return
    }
    const { version, resources, apiServer, failures } = cluster.api
    const of = { cluster: cluster.name }
    log.info(`${version.gitVersion} at ${apiServer.host}, ${resources.length} resources`, of)
    for (const failure of failures) log.warn(failure.message, { ...of, ...codeOf(failure) })
  }
}

const unauthorizedDetails = {
  code: 'CLUSTER_UNAUTHORIZED',
  hint: 'renew the credentials that the gateway uses for the cluster',
}

/** The state of a cluster that was added a moment ago. */
class NotConnectedYetError extends CodedError {
  constructor(name: string) {
    super('NOT_CONNECTED', `the gateway has not connected to cluster ${name} yet`)
  }
}

function isNotTried(cluster: Cluster): boolean {
  return cluster.state === 'unreachable' && cluster.error instanceof NotConnectedYetError
}

function configOf({ place }: SourcedCluster): ClusterConfig {
  if (place.form === 'unusable') throw place.error
  if (place.form === 'selection') return loadClusterConfig(place.selection)
  checkTlsMaterial(place.config)
  return place.config
}

export function connectionOf(cluster: Cluster): ClusterConnection {
  if (cluster.state !== 'connected') return { state: 'unreachable', error: cluster.error }
  const { apiServer, version, resourceVersionsComparable, uid } = cluster.api
  return {
    state: 'connected',
    uid,
    askUid: (signal) => askClusterUid(apiServer, signal),
    reached: (resource, atLeast) => reachedBy(cluster.api, resource, atLeast),
    source: (resource, how) => apiServer.resource(resource, how),
    direct: new DirectApi(apiServer),
    as: (token) =>
      token === undefined
        ? { server: apiServer, [Symbol.asyncDispose]: nothingHeld }
        : apiServer.lend(token),
    version: version.gitVersion,
    resourceVersionsComparable,
    account: {
      namespace: apiServer.config.namespace,
      request: (method, path, options) => apiServer.request(method, path, options),
    },
    isReachable: () => apiServer.isReachable,
  }
}

/** See `ClusterConnection.reached`. Events may be in a store of their own, and aggregated servers number by themselves. */
async function reachedBy(
  { definitions }: ClusterApi,
  { group, resource }: Pick<ApiResource, 'group' | 'resource'>,
  atLeast: ResourceVersion,
): Promise<ResourceVersion | undefined> {
  const isOfServer = isBuiltInGroup(group) || definitions.byName.has(`${resource}.${group}`)
  if (!isOfServer || resource === 'events') return undefined
  return await definitions.reached(atLeast).catch(() => undefined)
}

const nothingHeld = (): Promise<void> => Promise.resolve()

/** Whether the API shows a definition, or no longer serves a deleted one. */
function isSettled(name: string, before: ClusterApi, api: ClusterApi): boolean {
  const definition = api.definitions.byName.get(name)
  if (definition === undefined)
    return !api.resources.some(({ resource, group }) => `${resource}.${group}` === name)
  if (!isDiscovered(definition, api.resources)) return false
  // A changed schema of a known version shows by its text.
  const { group } = definition
  return definition.versions.every((version) => isOtherDocument({ group, version }, before, api))
}

/** Whether the document of a group version exists and has changed. */
function isOtherDocument(
  of: Pick<ApiResource, 'group' | 'version'>,
  before: ClusterApi,
  { openapi }: ClusterApi,
): boolean {
  const path = groupVersionPath(of).slice(1)
  return openapi[path] !== undefined && openapi[path] !== before.openapi[path]
}

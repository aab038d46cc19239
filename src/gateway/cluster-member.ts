import { isDeepStrictEqual } from 'node:util'
import { type ApiServer, type ApiServerLimits, createApiServer } from '../api-server/api-server.ts'
import type { ApiServerObserver } from '../api-server/transport/transport.ts'
import {
  ClusterConfigError,
  type NamedClusterSelection,
} from '../api-server/kubeconfig/cluster-config.ts'
import { loadClusterConfig } from '../api-server/kubeconfig/cluster-lookup.ts'
import type { AccessLimits } from '../access/access-reviews.ts'
import { type AccessConnection, ClusterAccess } from '../access/cluster-access.ts'
import type { ClusterCache, ClusterConnection } from '../cache/cluster-cache.ts'
import { createDirectApi } from '../cache/direct-api.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import { type ApiResource, groupResourceOf, groupVersionPath } from '../kubernetes/api-resource.ts'
import type { ServedCluster } from '../graphql/served/served-schema.ts'
import { sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import { type ApiFollower, ApiWatch, type ApiWatchTimes } from './api-watch.ts'
import { askAgain, askApi, askClusterUid, type ClusterApi } from './cluster-api.ts'
import { type DefinitionMetadata, isDiscovered } from './cluster-definitions.ts'
import type { GatewayLog } from './observers.ts'

export type Cluster =
  | { readonly name: string; readonly state: 'connected'; readonly api: ClusterApi }
  /** Is retried. */
  | { readonly name: string; readonly state: 'unreachable'; readonly error: Error }
  /** Is not retried: the configuration is invalid. */
  | { readonly name: string; readonly state: 'misconfigured'; readonly error: Error }

interface ClusterMemberOptions {
  readonly connection: Partial<ApiServerLimits>
  readonly reflector: ReflectorOptions
  readonly access: AccessLimits
  /** How often to retry a cluster that cannot be reached. */
  readonly retryMs: number
  readonly watch: Partial<ApiWatchTimes>
  readonly log: GatewayLog
  readonly isDefault: (cluster: string) => boolean
  /** Makes the cache, which outlasts a lost connection. */
  readonly cache: (cluster: Cluster) => ClusterCache
}

/** One cluster of the gateway: connects to it, and follows its API. */
export class ClusterMember implements AsyncDisposable, ApiFollower, ServedCluster {
  readonly selection: NamedClusterSelection
  readonly cache: ClusterCache
  readonly access: ClusterAccess
  readonly #options: ClusterMemberOptions
  readonly #stop = new AbortController()
  /** The last logged message of each failure. Repeated messages are not logged. */
  readonly #said = new Map<string, string>()
  #cluster: Cluster
  #labels: Readonly<Record<string, string>>
  #following: Promise<void> = Promise.resolve()
  #changed: () => Promise<void> = () => Promise.resolve()
  /** Aborts when another cluster answers: {@link ClusterCache.onRenewed}. */
  #renewal = new AbortController()

  private constructor(
    selection: NamedClusterSelection,
    cluster: Cluster,
    options: ClusterMemberOptions,
  ) {
    this.selection = selection
    this.#cluster = cluster
    this.#labels = selection.labels ?? {}
    this.#options = options
    this.cache = options.cache(cluster)
    this.cache.onRenewed(() => this.#renewal.abort())
    this.access = new ClusterAccess({
      cluster: selection.name,
      isDefault: () => options.isDefault(selection.name),
      connection: () => accessConnectionOf(this.#cluster),
      limits: options.access,
      reflector: options.reflector,
      failed: (resource, error) => {
        const what = `following ${resource}, which makes changes of permissions effective at once,`
        this.failed(what, error)
      },
    })
  }

  /** Connects to a cluster. Never rejects: a failure becomes the state of the cluster. */
  static async connect(
    selection: NamedClusterSelection,
    options: ClusterMemberOptions,
    signal: AbortSignal,
  ): Promise<ClusterMember> {
    const observer = observerOf(selection.name, options.log)
    const cluster = await connectCluster(selection, options.connection, observer, signal)
    return new ClusterMember(selection, cluster, options)
  }

  get name(): string {
    return this.selection.name
  }

  get cluster(): Cluster {
    return this.#cluster
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#labels
  }

  /** Whether a selection leads to this cluster in the same way. Its labels do not count. */
  isOf(selection: NamedClusterSelection): boolean {
    return isDeepStrictEqual(withoutLabels(this.selection), withoutLabels(selection))
  }

  /** Takes over the labels of a selection of this cluster. Returns whether they are other ones. */
  relabel({ labels = {} }: NamedClusterSelection): boolean {
    if (isDeepStrictEqual(this.#labels, labels)) return false
    this.#labels = labels
    return true
  }

  /**
   * Logs the state of the cluster and follows it: retries a cluster that cannot be reached, and watches the API of a
   * connected one. Calls `changed` after each change.
   */
  follow(changed: () => Promise<void>): void {
    this.#changed = changed
    this.#announce()
    this.#following = this.#follow(this.#stop.signal)
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
      // The only visible sign is a new document of the whole group.
      this.cache.reread((resource) => isOtherDocument(resource, before, api))
    }
    if (api !== before) {
      this.#cluster = { name, state: 'connected', api }
      await this.#changed()
      this.#options.log.info(`${name}: the API has changed, ${api.resources.length} resources`)
    }
    return [...touched].filter((one) => present !== undefined && !isSettled(one, before, api))
  }

  /** Logs a failure, unless it is the same as the last one. */
  failed(what: string, { message }: Error): void {
    if (this.#said.get(what) === message) return
    this.#said.set(what, message)
    this.#options.log.warn(`${this.name}: ${what} failed: ${message}`)
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { connection, log, retryMs } = this.#options
    const observer = observerOf(this.name, log)
    while (this.#cluster.state === 'unreachable') {
      await sleep(retryMs, signal)
      if (signal.aborted) return
      const cluster = await connectCluster(this.selection, connection, observer, signal)
      this.cache.connect(connectionOf(cluster))
      // An invalid configuration may become valid again.
      if (cluster.state !== 'connected') continue
      this.#cluster = cluster
      if (signal.aborted) return
      await this.#changed()
      this.#announce()
    }
    if (this.#cluster.state !== 'connected') return
    const { api } = this.#cluster
    await Promise.all([this.#watch(api, signal), api.apiServer.followReachability(signal)])
  }

  async #watch(first: ClusterApi, signal: AbortSignal): Promise<void> {
    const { reflector, watch } = this.#options
    let api: ClusterApi | undefined = first
    while (api !== undefined) {
      const watching = new ApiWatch(api, this, reflector, watch)
      await watching.run(AbortSignal.any([signal, this.#renewal.signal]))
      api = signal.aborted ? undefined : await this.#askAnew(api, signal)
    }
  }

  /** Reads everything anew: another cluster answers, or a backup was restored. */
  async #askAnew({ apiServer }: ClusterApi, signal: AbortSignal): Promise<ClusterApi | undefined> {
    const { log, retryMs } = this.#options
    this.#renewal = new AbortController()
    this.access.forget()
    log.warn(
      `${this.name}: another cluster answers, or a backup was restored; everything is read again`,
    )
    while (!signal.aborted) {
      try {
        const api = await askApi(apiServer, signal)
        this.#cluster = { name: this.name, state: 'connected', api }
        this.cache.connect(connectionOf(this.#cluster))
        await this.#changed()
        this.#announce()
        return api
      } catch (error) {
        if (signal.aborted) return undefined
        this.failed('reading its API again', error as Error)
        await sleep(retryMs, signal)
      }
    }
    return undefined
  }

  #announce(): void {
    const { log } = this.#options
    const cluster = this.#cluster
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

function withoutLabels(selection: NamedClusterSelection): NamedClusterSelection {
  const { labels: _, ...rest } = selection
  return rest
}

/**
 * Connects to a cluster and asks for its API. Never rejects: a failure or an aborted signal becomes the state of the
 * cluster.
 */
async function connectCluster(
  selection: NamedClusterSelection,
  limits: Partial<ApiServerLimits>,
  observer: ApiServerObserver,
  signal: AbortSignal,
): Promise<Cluster> {
  const { name, labels: _, ...where } = selection
  let apiServer: ApiServer | undefined
  try {
    apiServer = createApiServer({ ...limits, name, observer, config: loadClusterConfig(where) })
    return { name, state: 'connected', api: await askApi(apiServer, signal) }
  } catch (cause) {
    await apiServer?.[Symbol.asyncDispose]()
    const state = cause instanceof ClusterConfigError ? 'misconfigured' : 'unreachable'
    return { name, state, error: cause instanceof Error ? cause : new Error(String(cause)) }
  }
}

/** The connection by which caches read the cluster. */
export function connectionOf(cluster: Cluster): ClusterConnection {
  if (cluster.state !== 'connected') return { state: 'unreachable', error: cluster.error }
  const { apiServer, version, resourceVersionsComparable, uid } = cluster.api
  return {
    state: 'connected',
    uid,
    askUid: (signal) => askClusterUid(apiServer, signal),
    source: (resource, how) => apiServer.resource(resource, how),
    direct: createDirectApi(apiServer),
    directAs: (token) => {
      const caller = apiServer.as(token)
      const live = createDirectApi(caller)
      return { ...live, [Symbol.asyncDispose]: () => caller[Symbol.asyncDispose]() }
    },
    version: version.gitVersion,
    resourceVersionsComparable,
    isReachable: () => apiServer.isReachable,
  }
}

/** The connection by which permissions are reviewed and followed. Throws if the cluster cannot be reached. */
function accessConnectionOf(cluster: Cluster): AccessConnection {
  if (cluster.state !== 'connected') throw cluster.error
  const { apiServer, resources, resourceVersionsComparable } = cluster.api
  return {
    server: apiServer,
    resources,
    source: (resource, how) => apiServer.resource(resource, how),
    resourceVersionsComparable,
  }
}

function observerOf(name: string, log: GatewayLog): ApiServerObserver {
  return { warned: (text) => log.warn(`${name}: the API server warns: ${text}`) }
}

/** Whether the API shows a definition, or no longer serves a deleted one. */
function isSettled(name: string, before: ClusterApi, api: ClusterApi): boolean {
  const definition = api.definitions.byName.get(name)
  if (definition === undefined)
    return !api.resources.some(({ resource, group }) => `${resource}.${group}` === name)
  if (!isDiscovered(definition, api.resources)) return false
  // A schema that existed before counts as new when its text changes.
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

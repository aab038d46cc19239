import { readFile } from 'node:fs/promises'
import type { GraphQLSchema } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { ApiServerLimits } from '../api-server/api-server.ts'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import { type Cluster, type ClusterApi, connectCluster } from './connected-cluster.ts'
import { ClusterCache } from '../graphql/operation/cluster-cache.ts'
import { operationPlugin } from '../graphql/operation/operation-plugin.ts'
import {
  defaultOperationLimits,
  type OperationLimits,
  type ServedSchema,
} from '../graphql/operation/served-schema.ts'
import type { GroupAliases } from '../graphql/naming/api-groups.ts'
import { createSchema } from '../graphql/schema/create-schema.ts'
import type { Kind } from '../graphql/model/kind.ts'
import { buildSchemaModel } from '../graphql/model/schema-model.ts'
import { SdlError } from '../graphql/sdl/sdl-error.ts'
import { readPackageSdl, type SdlSource } from '../graphql/sdl/sdl-source.ts'
import type { InformerObserver } from '../informer/informer-observer.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import { type ApiResource, apiVersionOf } from '../kubernetes/api-resource.ts'
import { sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import { compileRelations } from '../query/relation/relations.ts'
import type { Relation } from '../query/relation/relation.ts'
import { parse } from 'graphql'
import { FragmentCache } from '../graphql/plan/fragment-cache.ts'
import { PlannedQueries } from '../graphql/plan/planned-queries.ts'
import type { KindAt, KindPart } from '../graphql/operation/kind-part.ts'
import { unrestricted } from '../query/condition/scope.ts'
import type { Readiness } from '../server/readiness.ts'

/** Where the gateway says what happens. */
export interface GatewayLog {
  info(message: string, details?: object): void
  warn(message: string, details?: object): void
  error(message: string, details?: object): void
}

/** What a gateway is made from. Times are milliseconds. */
export interface GatewayOptions {
  /** The clusters to serve; the first one is the default. */
  readonly clusters: readonly NamedClusterSelection[]
  /** List fields (`pods`) whose informers start with the gateway instead of with the first operation. */
  readonly preload?: readonly string[]
  /** Files of SDL with further indexes and relations. */
  readonly schemaFiles?: readonly string[]
  /** Prefixes of API groups in names, by group. */
  readonly aliases?: GroupAliases
  readonly limits?: Partial<OperationLimits>
  readonly reflector?: ReflectorOptions
  readonly connection?: Partial<ApiServerLimits>
  /** How often a cluster that could not be reached is asked again. */
  readonly retryMs?: number
  readonly log?: GatewayLog
}

/** A gateway that is running; it has no port of its own. */
export interface Gateway extends AsyncDisposable {
  /** The schema as it is now. */
  readonly schema: GraphQLSchema
  /** Answers operations: for yoga, or anything that speaks envelop. */
  readonly plugin: Plugin
  /** Answers the queries that have a plan: for `startGraphQLServer`. */
  readonly planned: PlannedQueries
  readonly readiness: () => Readiness
}

/** None of the clusters can be used. */
export class NoClusterError extends CodedError {
  constructor(clusters: readonly Cluster[]) {
    const reasons = clusters.map((cluster) =>
      'error' in cluster ? `${cluster.name}: ${cluster.error.message}` : cluster.name,
    )
    const [first] = clusters
    const cause = first !== undefined && 'error' in first ? first.error : undefined
    const hint = cause instanceof CodedError ? cause.hint : undefined
    super('NO_CLUSTER', `no cluster can be reached\n  ${reasons.join('\n  ')}`, {
      ...(hint === undefined ? {} : { hint }),
      ...(cause === undefined ? {} : { cause }),
    })
  }
}

const silent: GatewayLog = { info() {}, warn() {}, error() {} }

/**
 * Connects to the clusters, makes the schema of what they serve, and answers operations. Rejects with
 * {@link NoClusterError} where not one cluster can be used, and with `SdlError` or `GroupAliasError` where the
 * configuration of the schema is wrong. Clusters that could not be reached are asked again while it runs.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const running = new RunningGateway(options, [
    ...(await readPackageSdl()),
    ...(await Promise.all((options.schemaFiles ?? []).map(readSdl))),
  ])
  await running.start()
  return running
}

async function readSdl(file: string): Promise<SdlSource> {
  try {
    return { file, text: await readFile(file, 'utf8') }
  } catch (cause) {
    throw new CodedError('SCHEMA_FILE', `schema file ${file} cannot be read: ${String(cause)}`, {
      value: file,
      cause,
    })
  }
}

class RunningGateway implements Gateway {
  readonly plugin: Plugin
  readonly planned: PlannedQueries
  readonly #options: GatewayOptions
  readonly #sdl: readonly SdlSource[]
  readonly #log: GatewayLog
  readonly #stop = new AbortController()
  #clusters: readonly Cluster[] = []
  readonly #caches = new WeakMap<ClusterApi, ClusterCache>()
  #served: ServedSchema | undefined
  #retrying: Promise<void> = Promise.resolve()

  constructor(options: GatewayOptions, sdl: readonly SdlSource[]) {
    this.#options = options
    this.#sdl = sdl
    this.#log = options.log ?? silent
    this.plugin = operationPlugin({
      served: () => this.#now,
      limits: { ...defaultOperationLimits, ...options.limits },
    })
    const limits = { ...defaultOperationLimits, ...options.limits }
    this.planned = new PlannedQueries({
      served: () => this.#now,
      limits,
      fragments: new FragmentCache(64 << 20),
      parse: (source) => parse(source, { maxTokens: limits.maxTokens }),
      settle: (served, kinds) => {
        const part = (at: KindAt): KindPart => {
          const informer = served.clusters.get(at.cluster)?.informer(at.kind)
          if (informer?.hasSynced() !== true) throw new Error('not synced')
          return { ...at, view: informer.store, scope: unrestricted }
        }
        const parts = { part, release() {} }
        const waits = kinds.filter(
          ({ cluster, kind }) => served.clusters.get(cluster)?.informer(kind)?.hasSynced() !== true,
        )
        if (waits.length === 0) return parts
        return Promise.all(
          waits.map(({ cluster, kind }) =>
            served.clusters.get(cluster)?.ready(kind, limits.syncDeadlineMs),
          ),
        ).then(() => parts)
      },
    })
  }

  get schema(): GraphQLSchema {
    return this.#now.schema
  }

  readonly readiness = (): Readiness => {
    const reasons = this.#clusters.flatMap((cluster) =>
      'error' in cluster ? [`cluster ${cluster.name}: ${cluster.error.message}`] : [],
    )
    return { ready: reasons.length < this.#clusters.length, reasons }
  }

  get #now(): ServedSchema {
    if (this.#served === undefined) throw new Error('the gateway has not been started')
    return this.#served
  }

  async start(): Promise<void> {
    const { clusters, connection = {} } = this.#options
    this.#clusters = await Promise.all(clusters.map((one) => connectCluster(one, connection)))
    if (this.#clusters.every((cluster) => 'error' in cluster)) {
      throw new NoClusterError(this.#clusters)
    }
    try {
      this.#serve()
    } catch (error) {
      await this.#disconnect()
      throw error
    }
    for (const cluster of this.#clusters) this.#announce(cluster)
    this.#retrying = this.#retry()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#retrying
    await Promise.all([...this.#now.clusters.values()].map((cache) => cache[Symbol.asyncDispose]()))
    await this.#disconnect()
  }

  async #disconnect(): Promise<void> {
    await Promise.all(
      this.#clusters.map((cluster) =>
        'api' in cluster ? cluster.api.apiServer[Symbol.asyncDispose]() : Promise.resolve(),
      ),
    )
  }

  /** Makes the schema of what the clusters serve. Caches that are there are kept. */
  #serve(): void {
    const apis = this.#clusters.flatMap((cluster) => ('api' in cluster ? [cluster.api] : []))
    const { aliases = {} } = this.#options
    const model = buildSchemaModel({
      resources: apis.flatMap(({ resources }) => resources),
      openapi: Object.assign({}, ...apis.map(({ openapi }) => openapi).toReversed()),
      sdl: this.#sdl,
      aliases,
    })
    for (const problem of model.problems) {
      const isUsers =
        problem instanceof SdlError && this.#options.schemaFiles?.includes(problem.file)
      if (isUsers === true && this.#served === undefined) throw problem
      this.#log.warn(problem.message, { hint: problem.hint })
    }
    const kinds = new Map(model.kinds.map((kind) => [kind.typeName, kind]))
    const relations = compileRelations(model.relations, {
      isNamespaced: (type) => kinds.get(type)?.resource.namespaced ?? true,
    })
    const clusters = new Map<string, ClusterCache>()
    for (const cluster of this.#clusters) {
      const known = 'api' in cluster ? this.#caches.get(cluster.api) : undefined
      known?.serve(served(model.kinds, cluster), relations)
      clusters.set(cluster.name, known ?? this.#cacheOf(cluster, model.kinds, relations))
    }
    this.#served = {
      schema: createSchema(model),
      kinds,
      kindOf: (group, kind) => model.kindOf(group, kind),
      relations,
      clusters,
    }
    this.#preload()
  }

  #cacheOf(
    cluster: Cluster,
    kinds: readonly Kind[],
    relations: ReadonlyMap<string, Relation>,
  ): ClusterCache {
    const { name } = cluster
    const cache = new ClusterCache({
      name,
      kinds: served(kinds, cluster),
      relations,
      observer: (kind) => this.#observerOf(name, kind),
      reflector: this.#options.reflector ?? {},
      connection:
        'api' in cluster
          ? {
              source: (resource, how) => cluster.api.apiServer.resource(resource, how),
              version: cluster.api.version.gitVersion,
              resourceVersionsComparable: cluster.api.resourceVersionsComparable,
            }
          : { unreachable: cluster.error },
    })
    if ('api' in cluster) this.#caches.set(cluster.api, cache)
    return cache
  }

  #observerOf(cluster: string, { typeName }: Kind): InformerObserver {
    return {
      failed: (failure, error) => {
        this.#log.warn(`${cluster}: ${typeName}: ${failure} failed: ${error.message}`)
      },
      slowList: ({ items, durationMs, stages }) => {
        const seconds = Math.round(durationMs / 1000)
        this.#log.warn(`${cluster}: ${typeName}: ${items} objects took ${seconds} s`, stages)
      },
      listed: ({ items, durationMs }) => {
        this.#log.info(`${cluster}: ${typeName}: ${items} objects in ${Math.round(durationMs)} ms`)
      },
    }
  }

  #preload(): void {
    const { clusters, kinds } = this.#now
    const wanted = this.#options.preload ?? []
    for (const kind of kinds.values()) {
      if (!wanted.includes(kind.listField)) continue
      // What fails is logged by the informer, and told to the operation that wants it.
      for (const cache of clusters.values()) cache.ready(kind, preloadDeadlineMs).catch(() => {})
    }
  }

  #announce(cluster: Cluster): void {
    if ('error' in cluster) {
      const hint = cluster.error instanceof CodedError ? cluster.error.hint : undefined
      this.#log.error(`${cluster.name}: ${cluster.error.message}`, { hint })
      return
    }
    const { version, resources, apiServer, failures } = cluster.api
    this.#log.info(
      `${cluster.name}: ${version.gitVersion} at ${apiServer.host}, ${resources.length} resources`,
    )
    for (const failure of failures) this.#log.warn(`${cluster.name}: ${failure.message}`)
  }

  /** Asks the clusters that could not be reached again, until all of them are there. */
  async #retry(): Promise<void> {
    const { signal } = this.#stop
    const { retryMs = defaultRetryMs, connection = {}, clusters } = this.#options
    while (this.#clusters.some(isMissing)) {
      await sleep(retryMs, signal)
      if (signal.aborted) return
      const round = await Promise.all(
        this.#clusters.map((cluster, position) => {
          const selection = clusters[position]
          return isMissing(cluster) && selection !== undefined
            ? connectCluster(selection, connection)
            : Promise.resolve(cluster)
        }),
      )
      const recovered = round.filter(
        (cluster, position) => cluster !== this.#clusters[position] && 'api' in cluster,
      )
      this.#clusters = round
      if (recovered.length === 0) continue
      this.#serve()
      for (const cluster of recovered) this.#announce(cluster)
    }
  }
}

/** Whether a cluster could not be reached, but may be later. */
function isMissing(cluster: Cluster): boolean {
  return 'error' in cluster && cluster.mayRecover
}

const preloadDeadlineMs = 600_000
const defaultRetryMs = 15_000

/** The kinds of the schema that a cluster serves, by type name. */
function served(kinds: readonly Kind[], cluster: Cluster): ReadonlyMap<string, Kind> {
  const resources = 'api' in cluster ? cluster.api.resources : []
  const names = new Set(resources.map(resourceName))
  return new Map(
    kinds
      .filter(({ resource }) => names.has(resourceName(resource)))
      .map((kind) => [kind.typeName, kind]),
  )
}

function resourceName(resource: ApiResource): string {
  return `${apiVersionOf(resource)}/${resource.resource}`
}

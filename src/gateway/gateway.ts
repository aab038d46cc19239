import type { GraphQLError, GraphQLSchema } from 'graphql'
import { type AccessLimits, defaultAccessLimits } from '../access/access-limits.ts'
import type { AuthenticationOptions } from '../access/authentication/authentication-options.ts'
import type { Authenticator } from '../access/authentication/authenticator.ts'
import { createAuthenticator } from '../access/authentication/create-authenticator.ts'
import { type ApiServerLimits, apiServerLimitsChecks } from '../api-server/api-server.ts'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import { type CacheLimits, defaultCacheLimits } from '../cache/cache-bounds.ts'
import { IndexFunctionError, type IndexFunctions } from '../graphql/model/index-functions.ts'
import { OpenSubscriptions } from '../graphql/operation/open-subscriptions.ts'
import { OperationDocuments } from '../graphql/documents/operation-documents.ts'
import { operationPlugin } from '../graphql/answer/operation-plugin.ts'
import { SchemaHistory } from '../graphql/served/schema-history.ts'
import {
  defaultOperationLimits,
  type OperationLimits,
  type ServedSchema,
} from '../graphql/served/served-schema.ts'
import type { SchemaProfile } from '../graphql/model/schema-profile.ts'
import type { GroupAliases } from '../graphql/naming/api-groups.ts'
import { SdlError } from '../graphql/sdl/sdl-error.ts'
import { readPackageSdl, type SdlSource } from '../graphql/sdl/sdl-source.ts'
import { reflectorChecks, type ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import type { CodedError } from '../lib/coded-error.ts'
import {
  aDuration,
  aFlag,
  aLimit,
  aList,
  anObject,
  aString,
  checkedOptions,
  checksLike,
  InvalidOptionError,
  type OptionChecks,
  optionsOf,
} from '../lib/options.ts'
import { inSlices } from '../lib/slices.ts'
import { FragmentCache } from '../graphql/plan/fragment-cache.ts'
import { defaultLiveLimits, type LiveLimits } from '../graphql/live/live-limits.ts'
import { type PlannedOperations, plannedOperations } from '../graphql/live/planned-operations.ts'
import { PlannedSubscriptions } from '../graphql/live/planned-subscriptions.ts'
import { PlannedQueries } from '../graphql/answer/planned-queries.ts'
import type { OperationObserver } from '../graphql/answer/operation-observer.ts'
import type { GatewayMetrics } from './metrics/gateway-metrics.ts'
import { observersOf } from './observers.ts'
import type { ServerPlugin } from '../server/operation-options.ts'
import type { Readiness } from '../server/http/probes.ts'
import { type ApiWatchTimes, defaultApiWatchTimes } from './api-watch.ts'
import { Fleet } from './fleet.ts'
import { UserSdl } from './user-sdl.ts'
import { type GatewayLog, silentLog } from './gateway-log.ts'
import { Preload } from './preload.ts'
import { SchemaServing } from './schema-serving.ts'
import { buildSchemaInSteps, serveBuilt } from './serve-schema.ts'
import { tokenReviewer } from './token-reviews.ts'

/** What a gateway is made from. Times are milliseconds. */
export interface GatewayOptions {
  /** The clusters to serve; the first one is the default. */
  readonly clusters: readonly NamedClusterSelection[]
  /** List fields (`pods`) whose informers start with the gateway instead of with the first operation, and never stop. */
  readonly preload?: readonly string[]
  /** Files of SDL with further indexes and relations, read again when they change. */
  readonly schemaFiles?: readonly string[]
  /**
   * A directory of them. An edit is served within seconds; one with errors is told by the log and by `readiness`, and what was
   * served before stays.
   */
  readonly schema?: string
  /**
   * Whether fields of custom kinds that are called `…Ref` become relations, and every kind has `referencedBy`, from what they mean;
   * off by default.
   */
  readonly inferReferences?: boolean
  /** Prefixes of API groups in names, by group. */
  readonly aliases?: GroupAliases
  /** Kinds that are never cached but read live from the API server: `apps/Deployment`, and `Secret` of the core group. */
  readonly uncached?: readonly string[]
  /** Which part of what the clusters serve becomes the schema; everything by default. */
  readonly profile?: SchemaProfile
  /** Whether the schema has what relay-compiler needs to fetch objects again; off by default. */
  readonly relay?: boolean
  /**
   * Whether Secrets have `data` and `type`: read from the API server for each answer, with the bearer token of whoever asks, or as the
   * gateway where nobody is asked. Off by default.
   */
  readonly secretData?: boolean
  /**
   * Indexes that functions make, by list field and name: `{ pods: { byTeam: (pod) => [pod.metadata.labels?.['team'] ?? ''] } }`
   * gives `pods` a field of `where`, of `orderBy` and of facets named `byTeam`, of strings. A function must be pure, and is given
   * objects as they are cached (Secrets: metadata only). The start fails with `IndexFunctionError` where there is no such list, or
   * the name is reserved or taken. An object of which a function throws counts as having no value, and the log says so.
   */
  readonly indexers?: IndexFunctions
  /**
   * Whether an operation whose context has no `viewer` is refused with UNAUTHENTICATED; without one, everything may be seen. Off by
   * default. To be set where `plugin` runs in a server of your own that knows who asks; `startGraphQLServer` has an option of this name.
   */
  readonly requireViewer?: boolean
  readonly limits?: Partial<OperationLimits>
  /** How much is held in memory, and for how long without being asked for. */
  readonly cache?: Partial<CacheLimits>
  /** How much is asked about what viewers may see, and for how long an answer holds. */
  readonly access?: Partial<AccessLimits>
  readonly reflector?: ReflectorOptions
  readonly connection?: Partial<ApiServerLimits>
  /** How often a cluster that could not be reached is asked again. */
  readonly retryMs?: number
  /** How changes of what a cluster serves are noticed. */
  readonly watch?: Partial<ApiWatchTimes>
  /** Bounds the texts that are kept of what has been answered; 64 MiB unless given. */
  readonly fragmentBytes?: number
  /** Bounds the documents that are kept, with the plans that were made of them; 64 MiB unless given. */
  readonly documentBytes?: number
  /** Bounds what is kept for subscribers. */
  readonly live?: Partial<LiveLimits>
  readonly log?: GatewayLog
  /** Counts what the gateway does; the same are given to its server. */
  readonly metrics?: GatewayMetrics
  /** Told of every operation that was answered: an audit log. */
  readonly audit?: OperationObserver
  /** Ends the start: `createGateway` rejects with its reason at once. Means nothing once the gateway runs. */
  readonly signal?: AbortSignal
}

/** A gateway that is running; it has no port of its own. */
export interface Gateway extends AsyncDisposable {
  /** The schema as it is now. */
  readonly schema: GraphQLSchema
  /**
   * Answers operations: for yoga, or anything that speaks envelop. The `contextValue` of an operation may have a `viewer`, as an
   * `OperationContext`; without one, everything may be seen, unless `requireViewer` is on.
   */
  readonly plugin: ServerPlugin
  /** Answers the operations that have a plan: for `startGraphQLServer`. */
  readonly planned: PlannedOperations
  readonly readiness: () => Readiness
  /** Makes what finds out who asks: for `startGraphQLServer`. Throws where it is configured for a cluster that there is not. */
  readonly authenticator: (options: AuthenticationOptions) => Authenticator | undefined
  /**
   * Serves these clusters from now on, the first one by default. Those that are configured as before go on as they are, with
   * their caches and subscriptions; subscriptions on others end with SCHEMA_CHANGED. Resolves when the new ones have
   * been connected to, or could not be: they are asked again then. Never rejects.
   */
  readonly configureClusters: (clusters: readonly NamedClusterSelection[]) => Promise<void>
}

const defaultRetryMs = 15_000

const clusterChecks: OptionChecks<NamedClusterSelection> = {
  name: aString,
  kubeconfig: aString,
  context: aString,
  server: aString,
}

function requireClusters(option: string, clusters: unknown): void {
  if (!Array.isArray(clusters) || clusters.length === 0) {
    const problem = clusters === undefined ? 'a gateway needs clusters' : undefined
    throw new InvalidOptionError(
      option,
      clusters,
      "at least one cluster, such as [{ name: 'prod', context: 'prod' }]",
      problem,
    )
  }
  for (const [at, cluster] of clusters.entries()) {
    optionsOf(clusterChecks)(`${option}[${at}]`, cluster)
    aString(`${option}[${at}].name`, cluster.name)
  }
}

const gatewayChecks: OptionChecks<GatewayOptions> = {
  clusters: requireClusters,
  preload: aList,
  schemaFiles: aList,
  schema: aString,
  inferReferences: aFlag,
  aliases: anObject,
  uncached: aList,
  profile: anObject,
  relay: aFlag,
  secretData: aFlag,
  indexers: anObject,
  limits: optionsOf(checksLike(defaultOperationLimits)),
  cache: optionsOf(checksLike(defaultCacheLimits)),
  access: optionsOf(checksLike(defaultAccessLimits)),
  reflector: optionsOf(reflectorChecks),
  connection: optionsOf(apiServerLimitsChecks),
  retryMs: aDuration,
  watch: optionsOf(checksLike(defaultApiWatchTimes)),
  fragmentBytes: aLimit(),
  documentBytes: aLimit(),
  live: optionsOf(checksLike(defaultLiveLimits)),
  log: anObject,
  metrics: anObject,
  audit: anObject,
  requireViewer: aFlag,
  signal: anObject,
}

/**
 * Connects to the clusters, makes the schema of what they serve, and answers operations. Rejects with
 * `NoClusterError` where not one cluster can be used, and with `SdlError`, `IndexFunctionError` or `GroupAliasError` where the configuration of
 * the schema is wrong. Clusters that could not be reached are asked again while it runs.
 */
export async function createGateway(given: GatewayOptions): Promise<Gateway> {
  const options = checkedOptions('a gateway', given, gatewayChecks)
  requireClusters('clusters', options.clusters)
  const user = new UserSdl({ files: options.schemaFiles ?? [], directory: options.schema })
  await user.read()
  const running = new RunningGateway(options, await readPackageSdl(), user)
  try {
    await running.start()
  } catch (error) {
    await running[Symbol.asyncDispose]()
    throw error
  }
  return running
}

const defaultFragmentBytes = 64 << 20

class RunningGateway implements Gateway {
  readonly plugin: ServerPlugin
  readonly planned: PlannedOperations
  readonly #options: GatewayOptions
  readonly #packageSdl: readonly SdlSource[]
  readonly #user: UserSdl
  readonly #stop = new AbortController()
  readonly #log: GatewayLog
  readonly #fleet: Fleet
  readonly #preload: Preload
  readonly #subscriptions = new OpenSubscriptions()
  readonly #history = new SchemaHistory()
  /** The user's SDL that is served. */
  #sdl: readonly SdlSource[]
  /** What was said of the schema when it was made last: what is wrong with it, and what it waits for. */
  #problems: ReadonlySet<string> = new Set()
  #served: ServedSchema | undefined
  readonly #serving: SchemaServing

  constructor(options: GatewayOptions, packageSdl: readonly SdlSource[], user: UserSdl) {
    const { log = silentLog, preload = [], metrics, requireViewer = false } = options
    const observer = observersOf([metrics?.operations, options.audit])
    const fragments = new FragmentCache(options.fragmentBytes ?? defaultFragmentBytes)
    const limits = { ...defaultOperationLimits, ...options.limits }
    const documents = new OperationDocuments(limits, options.documentBytes)
    this.#options = options
    this.#packageSdl = packageSdl
    this.#user = user
    this.#sdl = user.sources
    this.#log = log
    this.#preload = new Preload(preload, log)
    this.#fleet = new Fleet({
      clusters: options.clusters,
      connection: options.connection ?? {},
      cache: options.cache ?? {},
      access: options.access ?? {},
      reflector: options.reflector ?? {},
      retryMs: options.retryMs ?? defaultRetryMs,
      watch: options.watch ?? {},
      log,
      observer: metrics && ((cluster, resource) => metrics.informers.observer(cluster, resource)),
    })
    this.#serving = new SchemaServing({
      serve: (sdl, isEdit) => this.#serveInSteps(sdl, isEdit),
      current: () => this.#sdl,
      areAllConnected: () => this.#areAllConnected,
      log,
      signal: this.#stop.signal,
    })
    metrics?.measure({
      clusters: () => this.#fleet.members,
      fragments: () => fragments.counts,
      documentBytes: () => documents.bytes,
      live: () => this.planned.liveState(),
    })
    const planned = { served: () => this.#now, limits, documents, fragments }
    const unexpected = (error: GraphQLError): void => {
      log.error('an operation failed unexpectedly', { error: error.originalError ?? error })
    }
    const queries = new PlannedQueries({ ...planned, observer, unexpected })
    const subscriptions = new PlannedSubscriptions({
      ...planned,
      observer,
      subscriptions: this.#subscriptions,
      live: { ...defaultLiveLimits, ...options.live },
      counts: { merged: 0, frames: 0, resets: 0, resumed: 0, notResumed: 0 },
    })
    this.plugin = operationPlugin({
      served: () => this.#now,
      plans: queries,
      limits,
      documents,
      subscriptions: this.#subscriptions,
      history: this.#history,
      requireViewer,
      observer,
      unexpected,
    })
    const { plugin } = this
    this.planned = plannedOperations({ queries, subscriptions, plugin, requireViewer })
  }

  get schema(): GraphQLSchema {
    return this.#now.schema
  }

  readonly readiness = (): Readiness => {
    const { members } = this.#fleet
    const reasons = members.flatMap(({ cluster }) =>
      cluster.state === 'connected' ? [] : [`cluster ${cluster.name}: ${cluster.error.message}`],
    )
    const ready = reasons.length < members.length
    return {
      ready,
      reasons: [...reasons, ...this.#serving.refusal, ...this.#problems],
      lagsBehindMs: members.flatMap(({ cache }) => cache.lagsBehind()),
    }
  }

  readonly authenticator = (options: AuthenticationOptions): Authenticator | undefined =>
    createAuthenticator(options, {
      reviewToken: (cluster, deadlineMs) =>
        tokenReviewer(
          () => this.#fleet.members.map((member) => member.cluster),
          cluster,
          deadlineMs,
        ),
      observer: {
        verified: (outcome) => this.#options.metrics?.server.verified(outcome),
        unavailable: (error) => this.#log.error('tokens cannot be verified', { error }),
      },
    })

  readonly configureClusters = async (
    clusters: readonly NamedClusterSelection[],
  ): Promise<void> => {
    await this.#fleet.configure(clusters)
  }

  get #now(): ServedSchema {
    if (this.#served === undefined) throw new Error('the gateway has not been started')
    return this.#served
  }

  async start(): Promise<void> {
    await this.#fleet.connect(this.#options.signal ?? new AbortController().signal)
    await inSlices(this.#serveInSteps(this.#sdl, false), () => false)
    this.#fleet.follow(() => this.#serving.clustersChanged())
    void this.#user.follow(
      (sdl) => this.#serving.edited(sdl),
      (error) => this.#serving.refuse([error]),
      this.#stop.signal,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#preload[Symbol.dispose]()
    await this.#fleet[Symbol.asyncDispose]()
  }

  get #areAllConnected(): boolean {
    return this.#fleet.members.every(({ cluster }) => cluster.state === 'connected')
  }

  *#serveInSteps(sdl: readonly SdlSource[], isEdit: boolean): Generator<void, void> {
    const {
      aliases = {},
      uncached = [],
      profile = {},
      relay = false,
      secretData = false,
      inferReferences = false,
      indexers = {},
    } = this.#options
    const before = this.#served
    const problems = new Set<string>()
    const refused: CodedError[] = []
    const say = (message: string, tell: () => void): void => {
      problems.add(message)
      if (!this.#problems.has(message)) tell()
    }
    const files = new Set(sdl.map(({ file }) => file))
    const areAllConnected = this.#areAllConnected
    const built = yield* buildSchemaInSteps({
      members: this.#fleet.members,
      sdl: [...this.#packageSdl, ...sdl],
      aliases,
      uncached,
      profile,
      relay,
      secretData,
      inferReferences,
      indexers,
      problem: (problem) => {
        const isUsers =
          problem instanceof IndexFunctionError ||
          (problem instanceof SdlError && files.has(problem.file))
        // What a cluster serves that cannot be reached now is not known.
        if (isUsers && (before === undefined || isEdit) && areAllConnected) refused.push(problem)
        else say(problem.message, () => this.#log.warn(problem.message, { hint: problem.hint }))
      },
      checked: (dormant) => {
        const [first] = refused
        if (first !== undefined) throw isEdit ? new AggregateError(refused) : first
        for (const { place, typeName } of dormant) {
          const message = `${place.file}:${place.line}: waits for ${typeName}, which no cluster serves`
          say(message, () => this.#log.info(message))
        }
      },
    })
    if (before !== undefined) yield* this.#history.followInSteps(before.schema, built.schema)
    if (this.#stop.signal.aborted) return
    // From here on without a pause: whoever asks finds the one or the other.
    const now = serveBuilt(built)
    this.#sdl = sdl
    this.#problems = problems
    this.#served = now
    this.#subscriptions.follow(now)
    this.#preload.hold(now)
  }
}

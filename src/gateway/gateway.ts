import { readFile } from 'node:fs/promises'
import type { GraphQLError, GraphQLSchema } from 'graphql'
import type { AccessLimits } from '../access/access-limits.ts'
import type { AuthenticationOptions } from '../access/authentication/authentication-options.ts'
import type { Authenticator } from '../access/authentication/authenticator.ts'
import { createAuthenticator } from '../access/authentication/create-authenticator.ts'
import type { ApiServerLimits } from '../api-server/api-server.ts'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import type { CacheLimits } from '../cache/cache-bounds.ts'
import { IndexFunctionError, type IndexFunctions } from '../graphql/model/index-functions.ts'
import { OpenSubscriptions } from '../graphql/operation/open-subscriptions.ts'
import { OperationDocuments } from '../graphql/operation/operation-documents.ts'
import { operationPlugin } from '../graphql/operation/operation-plugin.ts'
import { SchemaHistory } from '../graphql/operation/schema-history.ts'
import {
  defaultOperationLimits,
  type OperationLimits,
  type ServedSchema,
} from '../graphql/operation/served-schema.ts'
import type { SchemaProfile } from '../graphql/model/schema-profile.ts'
import type { GroupAliases } from '../graphql/naming/api-groups.ts'
import { SdlError } from '../graphql/sdl/sdl-error.ts'
import { readPackageSdl, type SdlSource } from '../graphql/sdl/sdl-source.ts'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import { CodedError } from '../lib/coded-error.ts'
import { FragmentCache } from '../graphql/plan/fragment-cache.ts'
import { PlannedQueries } from '../graphql/plan/planned-queries.ts'
import type { ServerPlugin } from '../server/operation-options.ts'
import type { Readiness } from '../server/http/probes.ts'
import { type ApiWatchTimes } from './api-watch.ts'
import { Fleet } from './fleet.ts'
import { type GatewayLog, silentLog } from './gateway-log.ts'
import { Preload } from './preload.ts'
import { serveSchema } from './serve-schema.ts'
import { tokenReviewer } from './token-reviews.ts'

/** What a gateway is made from. Times are milliseconds. */
export interface GatewayOptions {
  /** The clusters to serve; the first one is the default. */
  readonly clusters: readonly NamedClusterSelection[]
  /** List fields (`pods`) whose informers start with the gateway instead of with the first operation, and never stop. */
  readonly preload?: readonly string[]
  /** Files of SDL with further indexes and relations. */
  readonly schemaFiles?: readonly string[]
  /** Prefixes of API groups in names, by group. */
  readonly aliases?: GroupAliases
  /** Kinds that are never cached but read live from the API server: `apps/Deployment`, and `Secret` of the core group. */
  readonly uncached?: readonly string[]
  /** Which part of what the clusters serve becomes the schema; everything by default. */
  readonly profile?: SchemaProfile
  /** Whether the schema has what relay-compiler needs to fetch objects again; off by default. */
  readonly relay?: boolean
  /**
   * Indexes that functions make, by list field and name: `{ pods: { byTeam: (pod) => [pod.metadata.labels?.['team'] ?? ''] } }`
   * gives `pods` a field of `where`, of `orderBy` and of facets named `byTeam`, of strings. A function must be pure, and is given
   * objects as they are cached (Secrets: metadata only). The start fails with `IndexFunctionError` where there is no such list, or
   * the name is reserved or taken. An object of which a function throws counts as having no value, and the log says so.
   */
  readonly indexers?: IndexFunctions
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
  readonly log?: GatewayLog
  /** Ends the start: `createGateway` rejects with its reason at once. Means nothing once the gateway runs. */
  readonly signal?: AbortSignal
}

/** A gateway that is running; it has no port of its own. */
export interface Gateway extends AsyncDisposable {
  /** The schema as it is now. */
  readonly schema: GraphQLSchema
  /** Answers operations: for yoga, or anything that speaks envelop. */
  readonly plugin: ServerPlugin
  /** Answers the queries that have a plan: for `startGraphQLServer`. */
  readonly planned: PlannedQueries
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

/**
 * Connects to the clusters, makes the schema of what they serve, and answers operations. Rejects with
 * `NoClusterError` where not one cluster can be used, and with `SdlError`, `IndexFunctionError` or `GroupAliasError` where the configuration of
 * the schema is wrong. Clusters that could not be reached are asked again while it runs.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const running = new RunningGateway(options, [
    ...(await readPackageSdl()),
    ...(await Promise.all((options.schemaFiles ?? []).map(readSdl))),
  ])
  try {
    await running.start()
  } catch (error) {
    await running[Symbol.asyncDispose]()
    throw error
  }
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

const defaultFragmentBytes = 64 << 20

class RunningGateway implements Gateway {
  readonly plugin: ServerPlugin
  readonly planned: PlannedQueries
  readonly #options: GatewayOptions
  readonly #sdl: readonly SdlSource[]
  readonly #log: GatewayLog
  readonly #fleet: Fleet
  readonly #preload: Preload
  readonly #subscriptions = new OpenSubscriptions()
  readonly #history = new SchemaHistory()
  /** What was said to be wrong with the schema when it was made last. */
  #problems: ReadonlySet<string> = new Set()
  #served: ServedSchema | undefined

  constructor(options: GatewayOptions, sdl: readonly SdlSource[]) {
    const { log = silentLog, preload = [] } = options
    const limits = { ...defaultOperationLimits, ...options.limits }
    const documents = new OperationDocuments(limits)
    this.#options = options
    this.#sdl = sdl
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
    })
    this.planned = new PlannedQueries({
      served: () => this.#now,
      limits,
      documents,
      fragments: new FragmentCache(options.fragmentBytes ?? defaultFragmentBytes),
    })
    this.plugin = operationPlugin({
      served: () => this.#now,
      plans: this.planned,
      limits,
      documents,
      subscriptions: this.#subscriptions,
      history: this.#history,
      unexpected: (error: GraphQLError) => {
        log.error('an operation failed unexpectedly', { error: error.originalError ?? error })
      },
    })
  }

  get schema(): GraphQLSchema {
    return this.#now.schema
  }

  readonly readiness = (): Readiness => {
    const { members } = this.#fleet
    const reasons = members.flatMap(({ cluster }) =>
      cluster.state === 'connected' ? [] : [`cluster ${cluster.name}: ${cluster.error.message}`],
    )
    return { ready: reasons.length < members.length, reasons }
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
        verified: () => {},
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
    this.#serve()
    this.#fleet.follow(() => this.#serveAgain())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#preload[Symbol.dispose]()
    await this.#fleet[Symbol.asyncDispose]()
  }

  /** Clusters are others, or serve something else. That may be at odds with the configuration: then what is there stays. */
  #serveAgain(): void {
    try {
      this.#serve()
    } catch (error) {
      this.#log.error('the schema could not be made anew', { error })
    }
  }

  #serve(): void {
    const {
      aliases = {},
      uncached = [],
      profile = {},
      relay = false,
      schemaFiles = [],
      indexers = {},
    } = this.#options
    const before = this.#served
    const problems = new Set<string>()
    const areAllConnected = this.#fleet.members.every(
      ({ cluster }) => cluster.state === 'connected',
    )
    const now = serveSchema({
      members: this.#fleet.members,
      sdl: this.#sdl,
      aliases,
      uncached,
      profile,
      relay,
      indexers,
      problem: (problem) => {
        const isUsers =
          problem instanceof IndexFunctionError ||
          (problem instanceof SdlError && schemaFiles.includes(problem.file))
        // What a cluster serves that cannot be reached now is not known.
        if (isUsers && before === undefined && areAllConnected) throw problem
        problems.add(problem.message)
        if (this.#problems.has(problem.message)) return
        this.#log.warn(problem.message, { hint: problem.hint })
      },
    })
    this.#problems = problems
    this.#served = now
    if (before !== undefined) this.#history.follow(before.schema, now.schema)
    this.#subscriptions.follow(now)
    this.#preload.hold(now)
  }
}

/*
 * Assembles the gateway. `openGateway` checks the options and reads the user's SDL. `RunningGateway` makes the parts and
 * passes them to each other. `start` connects the fleet and serves the first schema. From then on, a change of clusters,
 * of their API or of the SDL makes a new schema in steps (`schema-serving.ts`). It replaces the old one within one tick, so
 * that every operation sees one of the two.
 */

import type { FormattedExecutionResult, GraphQLError, GraphQLSchema } from 'graphql'
import { defaultAccessLimits } from '../access/access-reviews.ts'
import type { AuthenticationOptions } from '../access/authentication/authentication-options.ts'
import type {
  AuthenticationObserver,
  Authenticator,
} from '../access/authentication/authenticator.ts'
import {
  archiveDefaults,
  archivePlace,
  type ArchiveOptions,
  maskedField,
} from '../archive/archive-options.ts'
import { createAuthenticator } from '../access/authentication/create-authenticator.ts'
import { apiServerLimitsChecks } from '../api-server/api-server.ts'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import { connectionErrorOf } from '../api-server/transport/connection-error.ts'
import { defaultCacheLimits } from '../cache/cache-bounds.ts'
import { isPrometheusUrl, type PrometheusOptions } from '../cache/prometheus.ts'
import { defaultLiveLimits, type LiveLimits } from '../graphql/live/live-limits.ts'
import { defaultLogLimits, type LogLimits } from '../graphql/logs/log-limits.ts'
import { PodLogs } from '../graphql/logs/pod-logs.ts'
import {
  type PlannedOperations,
  plannedOperations,
  PlannedSubscriptions,
  resultsOf,
} from '../graphql/live/planned-subscriptions.ts'
import { OpenSubscriptions } from '../graphql/live/open-subscriptions.ts'
import type { GatewayExtension } from '../graphql/extensions/extension.ts'
import { OperationDocuments } from '../graphql/documents/operation-documents.ts'
import type { OperationObserver } from '../graphql/answer/operation-observer.ts'
import { operationPlugin, OperationSteps, textOf } from '../graphql/answer/execution.ts'
import { defaultOperationLimits, type OperationLimits } from '../graphql/served/served-schema.ts'
import { FragmentCache } from '../graphql/plan/fragment-cache.ts'
import { PlannedQueries } from '../graphql/answer/planned-queries.ts'
import { Drains } from '../graphql/writes/drain.ts'
import { Mutations } from '../graphql/writes/mutations.ts'
import {
  defaultWriteLimits,
  heldByWrites,
  type WriteLimits,
  WriteQuota,
} from '../graphql/writes/write-limits.ts'
import { mergedAnswer } from '../graphql/over-gateways/merged-answer.ts'
import { mergedFrames } from '../graphql/over-gateways/merged-frames.ts'
import { type Merging, OverGateways } from '../graphql/over-gateways/over-gateways.ts'
import { readPackageSdl, type SdlSource } from '../graphql/sdl/sdl-source.ts'
import { reflectorChecks } from '../informer/reflector/reflector-options.ts'
import { labelsProblem } from '../kubernetes/label-selector.ts'
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
  oneOf,
  type OptionCheck,
  type OptionChecks,
  optionsOf,
  present,
} from '../lib/options.ts'
import { heapShare } from '../lib/process-memory.ts'
import type { FrameStream } from '../lib/frame-stream.ts'
import {
  type ExecuteRequest,
  executeInProcess,
  type SubscriptionResults,
  textBySteps,
} from './in-process.ts'
import type { GatewayMetrics } from './metrics/gateway-metrics.ts'
import { codeOf, FailureLog, type GatewayLog, observersOf, silentLog } from './observers.ts'
import type { PodShells } from '../server/exec/exec-options.ts'
import type { ServerPlugin, Readiness } from '../server/operation-options.ts'
import { defaultApiWatchTimes } from './api-watch.ts'
import { Archiving } from './archiving.ts'
import { type ClusterSourceOptions, Fleet, type FleetOptions } from './fleet.ts'
import { checkSessions, checkShare, isAddress, type ShareOptions } from './sharing.ts'
import type { DirectorySourceOptions } from './sources/directory-source.ts'
import type { HubSourceOptions } from './sources/hub-source.ts'
import { HttpPeers, materialOf } from './peers.ts'
import { podShells } from './pod-shells.ts'
import { defaultPreloadDeadlineMs, Preload } from './preload.ts'
import { SchemaServing } from './schema-serving.ts'
import type { SchemaOptions } from './serve-schema.ts'
import { UserSdl } from './user-sdl.ts'

/** Options of a gateway. Times are milliseconds. */
export interface GatewayOptions extends FleetOptions, SchemaOptions {
  /** List fields (`pods`) whose informers start with the gateway and never stop. */
  readonly preload?: readonly string[]
  /** How long `readiness`, and so `/readyz`, waits for the kinds of `preload`; default 5 minutes. */
  readonly preloadDeadlineMs?: number
  /** Files of SDL with further indexes and relations, read again when they change. */
  readonly schemaFiles?: readonly string[]
  /**
   * A directory of such files. The gateway serves an edit within seconds. After an edit with errors it keeps the
   * previous schema, and reports the errors in the log and in `readiness`.
   */
  readonly schema?: string
  /**
   * Whether to refuse operations whose context has no `viewer`, with UNAUTHENTICATED. Such operations see everything
   * otherwise. Default false. Set it if `plugin` runs in a server of your own that authenticates callers;
   * `startGraphQLServer` has its own option of this name.
   */
  readonly requireViewer?: boolean
  /**
   * Types and fields of the program's own, with resolvers (docs/extending.md). The start fails with `ExtensionError` for a
   * name that the gateway has, for SDL that is not valid, and for resolvers and fields that do not match.
   */
  readonly extend?: readonly GatewayExtension[]
  readonly limits?: Partial<OperationLimits>
  /** The maximum memory for cached texts of objects, in bytes; default 64 MiB, and at most 5 % of the heap. */
  readonly fragmentBytes?: number
  /** The maximum memory for cached documents and their plans, in bytes; default 64 MiB, and at most 5 % of the heap. */
  readonly documentBytes?: number
  readonly writes?: Partial<WriteLimits>
  readonly live?: Partial<LiveLimits>
  readonly logs?: Partial<LogLimits>
  /** Keeps what the caches saw, for restarts and for questions about the past (docs/archive.md). Absent: nothing is kept. */
  readonly archive?: ArchiveOptions
  readonly log?: GatewayLog
  /** Counts the gateway's work. Give the same metrics to the server. */
  readonly metrics?: GatewayMetrics
  /** Receives every answered operation, and what browsers do to sign in and out: an audit log. */
  readonly audit?: OperationObserver & Pick<AuthenticationObserver, 'signedIn'>
  /** Aborts the start: `createGateway` rejects with its reason. Has no effect after the start. */
  readonly signal?: AbortSignal
}

/** A running gateway. It has no port of its own. */
export interface Gateway extends AsyncDisposable {
  /** Opens shells in containers: for the option `exec` of `startGraphQLServer` (docs/exec.md). */
  readonly shells: PodShells
  /** The schema that is served now. */
  readonly schema: GraphQLSchema
  /**
   * Answers operations: a plugin for yoga and other envelop servers. The `contextValue` of an operation may have a
   * `viewer`, as an `OperationContext`. Operations without a viewer see everything, unless `requireViewer` is on.
   */
  readonly plugin: ServerPlugin
  /** Answers operations that have a plan: for `startGraphQLServer`. */
  readonly planned: PlannedOperations
  /**
   * Answers an operation of this process, without a port: a query, a mutation, or a subscription, whose frames come as an
   * async iterable. The caller is `viewer`, or the one that `authenticator` finds by `token` or `headers`. Without any of
   * them the operation sees everything, unless `requireViewer` is on. Bounds, access and errors are those of the transports. A
   * failed operation is an answer with `errors`; rejects only with the reason of the request's `signal`, and with
   * UNAUTHENTICATED for credentials without an authenticator.
   */
  readonly execute: (
    request: ExecuteRequest,
  ) => Promise<FormattedExecutionResult | SubscriptionResults>
  /**
   * Calls `listener` with each further schema, once it is served: after a change of CustomResourceDefinitions, clusters
   * or SDL. Returns a function that removes the listener.
   */
  readonly onSchemaChange: (listener: (schema: GraphQLSchema) => void) => () => void
  readonly readiness: () => Readiness
  /** Makes the authenticator for `startGraphQLServer`. Throws if it names an unknown cluster. */
  readonly authenticator: (options: AuthenticationOptions) => Authenticator | undefined
  /**
   * Serves these clusters from now on; the first is the default. Clusters with the same configuration continue, with
   * their caches and subscriptions. Subscriptions on other clusters end with SCHEMA_CHANGED. Resolves after the first
   * attempt to connect to new clusters; failed ones are retried. Never rejects.
   */
  readonly configureClusters: (clusters: readonly NamedClusterSelection[]) => Promise<void>
}

const labelsCheck: OptionCheck = (option, labels) => {
  anObject(option, labels)
  const problem = labelsProblem(labels as Readonly<Record<string, unknown>>)
  if (problem === undefined) return
  const expected = "labels in Kubernetes' syntax, such as { region: 'eu-1' }"
  throw new InvalidOptionError(option, labels, expected, `${option}: ${problem}`)
}

const cachedNamespacesChecks = { namespaces: aList, excludeNamespaces: aList }

const clusterChecks: OptionChecks<NamedClusterSelection> = {
  cache: optionsOf(cachedNamespacesChecks),
  name: aString,
  kubeconfig: aString,
  context: aString,
  server: aString,
  labels: labelsCheck,
  everywhere: aFlag,
}

/** All options of sources of any type. */
type ClusterSourceOption = keyof DirectorySourceOptions | keyof HubSourceOptions

function requireClusters(option: string, clusters: unknown, hasSources = true): void {
  if (!Array.isArray(clusters) || (clusters.length === 0 && !hasSources)) {
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

const sourceChecks: OptionChecks<Record<ClusterSourceOption, unknown>> = {
  type: oneOf('directory', 'argocd', 'cluster-api'),
  path: aString,
  contexts: oneOf('current', 'all'),
  hub: aString,
  namespaces: aList,
  labelSelector: aString,
  execCommands: aList,
  prefix: aString,
  labels: labelsCheck,
}

const gatewayChecks: OptionChecks<GatewayOptions> = {
  clusters: (option, clusters) => requireClusters(option, clusters),
  clusterSources: (option, sources) => {
    aList(option, sources)
    for (const [at, source] of (sources as readonly ClusterSourceOptions[]).entries()) {
      optionsOf(sourceChecks)(`${option}[${at}]`, source)
      const needed = source.type === 'directory' ? 'path' : 'hub'
      aString(`${option}[${at}].${needed}`, (source as unknown as Record<string, unknown>)[needed])
    }
  },
  share: optionsOf<ShareOptions>({
    address(option, given) {
      aString(option, given)
      if (isAddress(String(given))) return
      throw new InvalidOptionError(option, given, 'an address such as http://10.0.0.7:4000')
    },
    caFile: aString,
    certFile: aString,
    keyFile: aString,
  }),
  preload: aList,
  preloadDeadlineMs: aDuration,
  schemaFiles: aList,
  schema: aString,
  inferReferences: aFlag,
  aliases: anObject,
  uncached: aList,
  commonKinds: aList,
  problemKinds: aList,
  problemRules: anObject,
  profile: anObject,
  relay: aFlag,
  federation: aFlag,
  secretData: aFlag,
  allowWrites: aFlag,
  extend: aList,
  writes: optionsOf(checksLike(defaultWriteLimits)),
  indexers: anObject,
  limits: optionsOf(checksLike(defaultOperationLimits)),
  cache: optionsOf({ ...checksLike(defaultCacheLimits), ...cachedNamespacesChecks }),
  access: optionsOf(checksLike(defaultAccessLimits)),
  reflector: optionsOf(reflectorChecks),
  prometheus: optionsOf<PrometheusOptions>({
    url(option, given) {
      aString(option, given)
      if (isPrometheusUrl(String(given))) return
      throw new InvalidOptionError(option, given, 'an address such as http://prometheus:9090')
    },
    clusterLabel: aString,
    nodeLabel: aString,
    tokenFile: aString,
    headers: anObject,
  }),
  informers: anObject,
  connection: optionsOf(apiServerLimitsChecks),
  retryMs: aDuration,
  watch: optionsOf(checksLike(defaultApiWatchTimes)),
  fragmentBytes: aLimit(),
  documentBytes: aLimit(),
  live: optionsOf(checksLike(defaultLiveLimits)),
  logs: optionsOf(checksLike(defaultLogLimits)),
  archive(option, given) {
    optionsOf<ArchiveOptions>({
      ...checksLike(archiveDefaults),
      url: aString,
      kinds: aList,
      masked: aList,
      required: aFlag,
    })(option, given)
    const { url, masked = [] } = given as ArchiveOptions
    archivePlace(url)
    for (const one of masked) maskedField(one)
  },
  log: anObject,
  metrics: anObject,
  traces: anObject,
  audit: anObject,
  requireViewer: aFlag,
  signal: anObject,
}

/**
 * Connects to the clusters, makes the schema of their API, and answers operations. Rejects with `NoClusterError` if no
 * cluster can be used, and with `SdlError`, `IndexFunctionError` or `CodedError` (`GROUP_ALIAS`) if the configuration of the
 * schema is invalid. The running gateway retries unreachable clusters.
 */
export async function createGateway(given: GatewayOptions): Promise<Gateway> {
  const gateway = await openGateway(given)
  try {
    await gateway.start()
  } catch (error) {
    await gateway[Symbol.asyncDispose]()
    throw error
  }
  return gateway
}

/** A gateway that has not connected yet, so that its server can listen first. It answers once `start` has resolved. */
export interface OpenedGateway extends Gateway {
  readonly isStarted: boolean
  /** Connects and makes the schema. Rejects as {@link createGateway} does; dispose of the gateway then. */
  start(): Promise<void>
  /**
   * Where gateways share the clusters: asks the others to take over what this one holds. Resolves when they have, or after
   * 15 seconds. This one goes on answering meanwhile, and afterwards by asking the others.
   */
  leave(): Promise<void>
}

/** Checks the options and reads their files, as {@link createGateway} does, without connecting. */
export async function openGateway(given: GatewayOptions): Promise<OpenedGateway> {
  const options = checkedOptions('a gateway', given, gatewayChecks)
  requireClusters('clusters', options.clusters, (options.clusterSources ?? []).length > 0)
  checkShare(options)
  if (options.share?.address !== undefined) materialOf(options.share)
  const user = new UserSdl({ files: options.schemaFiles ?? [], directory: options.schema })
  await user.read()
  const packageSdl = await readPackageSdl()
  const { archive, log = silentLog } = options
  const archiving = archive === undefined ? undefined : await Archiving.open(archive, log)
  return new RunningGateway(options, packageSdl, user, archiving)
}

const merging: Merging = { answer: mergedAnswer, frames: mergedFrames }

const defaultFragmentBytes = heapShare('texts', 64 << 20)

class RunningGateway implements OpenedGateway {
  readonly plugin: ServerPlugin
  readonly planned: PlannedOperations
  readonly execute: Gateway['execute']
  readonly shells: PodShells
  readonly #options: GatewayOptions
  readonly #stop = new AbortController()
  readonly #failures: FailureLog
  readonly #fleet: Fleet
  readonly #preload: Preload
  readonly #subscriptions = new OpenSubscriptions()
  readonly #serving: SchemaServing
  readonly #archiving: Archiving | undefined
  readonly #peers: HttpPeers | undefined

  constructor(
    options: GatewayOptions,
    packageSdl: readonly SdlSource[],
    user: UserSdl,
    archiving: Archiving | undefined,
  ) {
    const { log = silentLog, metrics, requireViewer = false } = options
    const { preload = [], preloadDeadlineMs = defaultPreloadDeadlineMs } = options
    const observer = observersOf([metrics?.operations, options.audit])
    const fragments = new FragmentCache(options.fragmentBytes ?? defaultFragmentBytes)
    const limits = { ...defaultOperationLimits, ...options.limits }
    const documents = new OperationDocuments(limits, options.documentBytes)
    this.#options = options
    this.#failures = new FailureLog(log)
    this.#archiving = archiving
    const isKept: ConstructorParameters<typeof Preload>[2] = (kind, served) =>
      archiving?.isArchived(kind, served) === true
    const isConnecting = (): boolean => this.#fleet.isConnecting
    this.#preload = new Preload(preload, preloadDeadlineMs, isKept, isConnecting, log)
    this.#fleet = new Fleet(options, {
      log,
      failures: this.#failures,
      observer: metrics?.informers,
      archiving,
      isLoaded: (member) => this.#preload.isLoaded(member),
    })
    this.#serving = new SchemaServing({
      options,
      packageSdl,
      user,
      fleet: this.#fleet,
      subscriptions: this.#subscriptions,
      preload: this.#preload,
      archiving,
      log,
      signal: this.#stop.signal,
    })
    metrics?.measure({
      clusters: () => this.#fleet.here,
      sources: () => this.#fleet.sources,
      fragments: () => fragments.counts,
      documentBytes: () => documents.bytes,
      live: () => this.planned.liveState(),
      logs: () => logs.counts,
      archive: () => archiving?.counts,
      sharing: () => this.#fleet.sharing?.counts,
    })
    this.shells = podShells(
      () => this.#serving.now,
      () => this.#peers,
    )
    const planned = { served: () => this.#serving.now, limits, documents, fragments }
    const unexpected = (error: GraphQLError, requestId?: string): void => {
      const cause = error.originalError ?? error
      log.error('an operation failed unexpectedly', { ...present({ requestId }), error: cause })
    }
    const logs = new PodLogs({
      served: () => this.#serving.now,
      limits,
      logs: { ...defaultLogLimits, ...options.logs },
      subscribe: (request, caller) => subscriptions.follow(request, caller),
    })
    const queries = new PlannedQueries({ ...planned, observer, unexpected, logs })
    const writes = { ...defaultWriteLimits, ...options.writes }
    const quota = new WriteQuota(writes)
    const { secretData = false } = options
    const held = heldByWrites(writes)
    const writing = { limits, writes, quota, held, secretData, observer }
    const mutations = new Mutations(writing)
    const subscriptions: PlannedSubscriptions = new PlannedSubscriptions({
      ...planned,
      logs,
      drains: new Drains(writing),
      observer,
      unexpected,
      subscriptions: this.#subscriptions,
      live: { ...defaultLiveLimits, ...options.live },
      counts: {
        written: 0,
        writtenBytes: 0,
        merged: 0,
        frames: 0,
        resets: 0,
        resumed: 0,
        notResumed: 0,
      },
    })
    const { address } = options.share ?? {}
    let others: OverGateways | undefined
    const steps = new OperationSteps({
      served: () => this.#serving.now,
      plans: queries,
      logs,
      mutations,
      limits,
      documents,
      live: {
        subscribe: async ({ document, ...request }, origin) => {
          const own = (): Promise<FrameStream> =>
            subscriptions.subscribeTo({ ...request, document }, origin)
          if (others === undefined) return resultsOf(await own())
          const asked = { ...request, query: textOf(document) }
          return resultsOf(await others.follow(asked, origin, own))
        },
      },
      elsewhere:
        address === undefined
          ? undefined
          : async (request, origin) => await others?.elsewhere(request, origin),
      history: this.#serving.history,
      requireViewer,
      observer,
      unexpected,
    })
    const plugin = operationPlugin(steps)
    this.plugin = plugin
    const plans = plannedOperations({ queries, subscriptions, plugin, requireViewer })
    if (address !== undefined) {
      this.#peers = new HttpPeers({
        address,
        trust: options.share ?? {},
        proofOf: (document) => this.#fleet.sharing?.proofOf(document) ?? '',
        unreachable: ({ message, cause }, peer) => {
          this.#failures.warn(message)
          const { failure } = connectionErrorOf(peer, cause ?? {})
          if (failure === 'refused' || failure === 'reset') this.#fleet.sharing?.suspect(peer)
        },
        refused: (peer) => {
          const text = `the gateway at ${peer} refuses the credentials of a caller, which this gateway accepts`
          const hint = 'give all gateways the same auth, and the same auth.login.sessionSecretFile'
          this.#failures.warn(text, { hint })
        },
        deadlineMs: limits.operationDeadlineMs,
        failed: (error) => log.error('the previous certificates of share stay in use', { error }),
      })
      others = new OverGateways({
        served: () => this.#serving.now,
        held: subscriptions.held,
        documents,
        limits,
        address,
        peers: this.#peers,
        isProven: (...made) => this.#fleet.sharing?.isProven(...made) === true,
        isGone: (one) => this.#fleet.sharing?.isLiving(one) === false,
        isComing: (cluster) => this.#fleet.sharing?.isComing(cluster) === true,
        plans,
        refused: (request, origin) => {
          const { clusters, explains: explain = false } = request
          return textBySteps(steps, request, { ...origin, clusters, explain, isOwn: true })
        },
        merging,
        requireViewer,
        observer,
      })
    }
    this.planned = others ?? plans
    this.execute = executeInProcess(steps, this.planned, requireViewer)
  }

  get isStarted(): boolean {
    return this.#serving.isStarted
  }

  get schema(): GraphQLSchema {
    return this.#serving.now.schema
  }

  readonly onSchemaChange: Gateway['onSchemaChange'] = (listener) => {
    this.#serving.listeners.add(listener)
    return () => void this.#serving.listeners.delete(listener)
  }

  readonly readiness = (): Readiness => {
    const { members, here, sharing } = this.#fleet
    const reasons = here.flatMap(({ cluster }) =>
      cluster.state === 'connected' ? [] : [`cluster ${cluster.name}: ${cluster.error.message}`],
    )
    const refused = here.flatMap(({ name, state, cluster }) =>
      state === 'UNAUTHORIZED' && cluster.state === 'connected'
        ? [`cluster ${name}: does not accept the gateway's credentials`]
        : [],
    )
    const starting = this.isStarted ? [] : ['the gateway has not read its clusters yet']
    const unwritten = this.#archiving?.reasons ?? []
    const unshared = sharing?.reasons ?? []
    const waits = [...starting, ...this.#preload.loading(), ...unwritten, ...unshared]
    // Where gateways share the clusters, there may be none for this one.
    const isAlive = reasons.length < here.length || (sharing !== undefined && here.length === 0)
    const ready = isAlive && waits.length === 0
    const none = members.length === 0 ? ['no cluster is known yet'] : []
    const sources = this.#fleet.sources.flatMap(({ name, state }) =>
      state?.problem === undefined ? [] : [`${name}: ${state.problem.message}`],
    )
    return {
      ready,
      reasons: [...waits, ...reasons, ...refused, ...none, ...sources, ...this.#serving.reasons],
      lagsBehindMs: here.flatMap(({ cache }) => cache.lagsBehind()),
    }
  }

  readonly authenticator = (options: AuthenticationOptions): Authenticator | undefined => {
    checkSessions(this.#options.share, options)
    this.#peers?.trustHeaders(options.requestHeader)
    return createAuthenticator(options, {
      reviewToken: (cluster, deadlineMs) => this.#fleet.tokenReviewer(cluster, deadlineMs),
      observer: {
        verified: (outcome) => this.#options.metrics?.server.verified(outcome),
        signedIn: (report) => {
          this.#options.metrics?.server.signedIn?.(report)
          this.#options.audit?.signedIn?.(report)
        },
        unavailable: (error) => {
          const why = error instanceof Error ? error.message : String(error)
          this.#failures.error(`tokens cannot be verified: ${why}`, codeOf(error))
        },
      },
    })
  }

  readonly configureClusters = async (
    clusters: readonly NamedClusterSelection[],
  ): Promise<void> => {
    await this.#fleet.configure(clusters)
  }

  async start(): Promise<void> {
    await this.#fleet.connect(this.#options.signal ?? new AbortController().signal)
    await this.#serving.start()
  }

  async leave(): Promise<void> {
    await this.#fleet.sharing?.leave()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#preload[Symbol.dispose]()
    this.#peers?.[Symbol.dispose]()
    await this.#fleet[Symbol.asyncDispose]()
    await this.#archiving?.[Symbol.asyncDispose]()
    this.#failures[Symbol.dispose]()
  }
}

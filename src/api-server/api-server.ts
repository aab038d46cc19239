import { type ApiResource, requireResource, type Resource } from '../kubernetes/api-resource.ts'
import type { KubernetesObject, Unstructured } from '../kubernetes/object.ts'
import {
  aDuration,
  anObject,
  aString,
  checkedOptions,
  checksLike,
  InvalidOptionError,
  type OptionChecks,
  present,
  withDefaults,
} from '../lib/options.ts'
import { serverConfig } from './kubeconfig/server-config.ts'
import { ObjectClient, type ObjectClientOptions } from './writes/object-client.ts'
import type { ClusterConfig } from './kubeconfig/cluster-config.ts'
import { discover, type Discovery } from './discovery/discovery.ts'
import {
  requestJson,
  UnexpectedAnswerError,
  type JsonRequestOptions,
} from './transport/json-request.ts'
import { defaultMaxFrameBytes } from './frames/frame-errors.ts'
import { OpenApi, type FetchedOpenApi, type OpenApiRequest } from './discovery/open-api.ts'
import {
  ResourceClient,
  type ResourceClientLimits,
  type ResourceClientOptions,
} from './resource-client.ts'
import { readServerVersion, type ServerVersion } from './discovery/server-version.ts'
import { ServerFeatures } from './discovery/server-features.ts'
import { type ApiServerObserver, ServerWarnings } from './transport/server-warnings.ts'
import { Reachability } from './transport/reachability.ts'
import {
  Transport,
  transportDefaults,
  type TransportOptions,
  type TransportRequest,
} from './transport/transport.ts'

/** The limits of a connection; times in milliseconds, `Infinity` is no deadline. */
export interface ApiServerLimits extends TransportOptions, ResourceClientLimits {
  /** For a small request as a whole. */
  readonly requestDeadlineMs: number
  /** The largest answer to a small request, OpenAPI documents included. */
  readonly maxAnswerBytes: number
}

/** The limits of a connection to a cluster, all of them. */
export const apiServerDefaults: ApiServerLimits = {
  ...transportDefaults,
  maxFrameBytes: defaultMaxFrameBytes,
  listIdleDeadlineMs: 60_000,
  watchIdleDeadlineMs: undefined,
  watchGraceMs: 30_000,
  requestDeadlineMs: 30_000,
  maxAnswerBytes: 64 * 1024 * 1024,
}

/** What a connection is made from; its limits have defaults. Give `config` or `server`. */
export interface ApiServerOptions extends Partial<ApiServerLimits> {
  /** The cluster's name, for messages; its address unless given. */
  readonly name?: string
  /** From `loadClusterConfig`. */
  readonly config?: ClusterConfig
  /** This address, without credentials. */
  readonly server?: string
  /** Without it, warnings of the server are warnings of the process. */
  readonly observer?: ApiServerObserver
}

export const apiServerLimitsChecks: OptionChecks<ApiServerLimits> = {
  ...checksLike(apiServerDefaults),
  watchIdleDeadlineMs: aDuration,
}

const apiServerChecks: OptionChecks<ApiServerOptions> = {
  ...apiServerLimitsChecks,
  name: aString,
  config: anObject,
  server: aString,
  observer: anObject,
}

/** A small request; its limits are the connection's unless given. */
export interface ApiRequestOptions extends Partial<JsonRequestOptions> {}

/** One per use: a shared one would collect the listeners of all requests. */
const neverAborted = (): AbortSignal => new AbortController().signal

/**
 * The connection to one cluster: one pool, one identity, and everything that is asked there. Opens nothing until it is
 * asked for something. All methods reject as {@link Transport.send} does.
 */
export class ApiServer implements AsyncDisposable {
  readonly name: string
  readonly config: ClusterConfig
  readonly #limits: ApiServerLimits
  readonly #observer: ApiServerObserver | undefined
  readonly #transport: Transport
  readonly #openApi: OpenApi
  readonly #features: ServerFeatures
  readonly #reachability: Reachability

  /** Throws `InvalidOptionError` and `ClusterConfigError`. */
  constructor(options: ApiServerOptions) {
    const { name, config, server, observer, ...limits } = checkedOptions(
      'an API server',
      options,
      apiServerChecks,
    )
    this.config = configOf(config, server)
    this.name = name ?? this.config.server
    this.#limits = withDefaults(apiServerDefaults, limits)
    this.#observer = observer
    const warnings = new ServerWarnings(this.name, observer)
    this.#reachability = new Reachability((signal) => this.version(signal))
    this.#transport = new Transport(this.config, this.#limits, {
      answered: (httpStatus, headers) => {
        this.#reachability.answered(httpStatus)
        warnings.heard(headers['warning'])
      },
      failed: (failure) => this.#reachability.failed(failure),
    })
    this.#openApi = new OpenApi((path, signal) => this.request('GET', path, { signal }))
    this.#features = new ServerFeatures({
      version: () => this.version(),
      deadlineMs: this.#limits.requestDeadlineMs,
    })
  }

  /** `host:port`. */
  get host(): string {
    return this.#transport.host
  }

  /** Lists and watches one resource; as metadata only, if so asked. */
  resource(resource: ApiResource, options?: ResourceClientOptions): ResourceClient {
    requireResource('resource', resource)
    const connection = {
      transport: this.#transport,
      features: this.#features,
      reachability: this.#reachability,
    }
    return new ResourceClient(resource, connection, this.#limits, options)
  }

  /** Reads and writes single objects of one resource. `T` comes with a `Resource<T>`. */
  client<T extends KubernetesObject = Unstructured>(
    resource: Resource<T>,
    options?: ObjectClientOptions,
  ): ObjectClient<T> {
    requireResource('resource', resource)
    return new ObjectClient<T>(resource, this, options)
  }

  /** A connection of its own to the same server, by this bearer token and none of the credentials of this one. */
  as(token: string): ApiServer {
    const config = { ...this.config, user: { name: 'bearer', token }, impersonation: {} }
    const observer = this.#observer === undefined ? {} : { observer: this.#observer }
    return new ApiServer({ ...this.#limits, ...observer, name: this.name, config })
  }

  /** Sends a small request and parses its answer; `undefined` for an empty one. */
  async request(
    method: TransportRequest['method'],
    path: string,
    options: ApiRequestOptions = {},
  ): Promise<unknown> {
    return await requestJson(this.#transport, method, path, {
      deadlineMs: this.#limits.requestDeadlineMs,
      maxBytes: this.#limits.maxAnswerBytes,
      signal: neverAborted(),
      ...present(options),
    })
  }

  /** What the server serves. */
  async discover(signal: AbortSignal = neverAborted()): Promise<Discovery> {
    return await discover((path, accept) => this.request('GET', path, { accept, signal }))
  }

  /** The server's version. Rejects with `UnexpectedAnswerError` where it tells none. */
  async version(signal: AbortSignal = neverAborted()): Promise<ServerVersion> {
    const answer = await this.request('GET', '/version', { signal })
    const version = readServerVersion(answer)
    if (version !== undefined) return version
    throw new UnexpectedAnswerError('GET /version', 'the answer holds no version', answer)
  }

  /** The server's OpenAPI v3 documents; those that have not changed since the last call are not fetched again. */
  async openApi(request: Partial<OpenApiRequest> = {}): Promise<FetchedOpenApi> {
    return await this.#openApi.documents({ signal: neverAborted(), ...request })
  }

  /** Ends everything that is under way and closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport.close()
  }
}

function configOf(config: ClusterConfig | undefined, server: string | undefined): ClusterConfig {
  if (config !== undefined && server === undefined) return config
  if (config === undefined && server !== undefined) return serverConfig(server)
  throw new InvalidOptionError('config', config, 'either config or server')
}

/** A connection to the cluster, not yet opened. Throws `InvalidOptionError` and `ClusterConfigError`. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  return new ApiServer(options)
}

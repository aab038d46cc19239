/*
 * The connection to one cluster: requests, resources, clients of objects, discovery, OpenAPI, and reachability. One
 * transport sends all requests. A caller's token gets a separate connection, which `lend` shares for some seconds, since
 * each costs a TLS handshake.
 */

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
import { checkTlsMaterial } from './kubeconfig/client-certificate.ts'
import { type ClusterConfig, serverConfig } from './kubeconfig/cluster-config.ts'
import { type LentServer, LentServers } from './lent-servers.ts'
import { ObjectClient, type ObjectClientOptions } from './writes/object-client.ts'
import { discover, type Discovery } from './discovery/discovery.ts'
import {
  requestJson,
  UnexpectedAnswerError,
  type JsonRequestOptions,
} from './transport/json-request.ts'
import { defaultMaxFrameBytes } from './frames/watch-frames.ts'
import { OpenApi, type FetchedOpenApi, type OpenApiRequest } from './discovery/open-api.ts'
import {
  ResourceClient,
  type ResourceClientLimits,
  type ResourceClientOptions,
} from './resource-client.ts'
import {
  readServerVersion,
  ServerFeatures,
  type ServerVersion,
} from './discovery/server-features.ts'
import {
  type ApiServerObserver,
  type Dialing,
  Transport,
  transportDefaults,
  type TransportOptions,
  type TransportRequest,
} from './transport/transport.ts'
import { Reachability } from './transport/reachability.ts'
import { warningReporter, warningTexts } from './transport/warnings.ts'

/** The limits of a connection. Times are milliseconds; `Infinity` means no deadline. */
export interface ApiServerLimits extends TransportOptions, ResourceClientLimits {
  /** The deadline of a whole small request. */
  readonly requestDeadlineMs: number
  /** The largest response to a small request, including OpenAPI documents. */
  readonly maxAnswerBytes: number
}

/** The defaults of {@link ApiServerLimits}. */
export const apiServerDefaults: ApiServerLimits = {
  ...transportDefaults,
  maxFrameBytes: defaultMaxFrameBytes,
  listIdleDeadlineMs: 60_000,
  watchIdleDeadlineMs: undefined,
  watchGraceMs: 30_000,
  requestDeadlineMs: 30_000,
  maxAnswerBytes: 64 * 1024 * 1024,
}

/** The options of a connection. Limits have defaults; either `config` or `server` is required. */
export interface ApiServerOptions extends Partial<ApiServerLimits> {
  /** The cluster's name in messages; default: its address. */
  readonly name?: string
  /** The result of `loadClusterConfig`. */
  readonly config?: ClusterConfig
  /** An address, without credentials. */
  readonly server?: string
  /** Observes the connection. Without `warned`, the server's warnings become warnings of the process. */
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

/** A small request. Its limits default to the connection's. */
export interface ApiRequestOptions extends Partial<JsonRequestOptions> {
  /** Reads the text of an answer that is no error. Default: `JSON.parse`. */
  readonly read?: (text: string) => unknown
}

/** Makes a new signal each time: a shared one would collect the listeners of all requests. */
const neverAborted = (): AbortSignal => new AbortController().signal

/**
 * The connection to one cluster: all requests, over one pool, with one identity. Opens nothing before the first request.
 * All methods reject as {@link Transport.send} does.
 */
export class ApiServer implements AsyncDisposable {
  readonly name: string
  #config: ClusterConfig
  readonly #limits: ApiServerLimits
  readonly #observer: ApiServerObserver | undefined
  readonly #reportWarning: (text: string) => void
  readonly #transport: Transport
  readonly #openApi: OpenApi
  readonly #features: ServerFeatures
  readonly #reachability: Reachability
  readonly #callers = new LentServers((token) => this.as(token))

  /** Throws `InvalidOptionError` and `ClusterConfigError`. */
  constructor(options: ApiServerOptions) {
    const { name, config, server, observer, ...limits } = checkedOptions(
      'an API server',
      options,
      apiServerChecks,
    )
    if ((config === undefined) === (server === undefined)) {
      throw new InvalidOptionError('config', config, 'either config or server')
    }
    this.#config = config ?? serverConfig(server ?? '')
    this.name = name ?? this.#config.server
    this.#limits = withDefaults(apiServerDefaults, limits)
    this.#observer = observer
    this.#reportWarning = warningReporter(this.name, observer)
    this.#reachability = new Reachability(
      (signal) => this.version(signal),
      () => observer?.reachable?.(this.isReachable),
    )
    this.#transport = new Transport(this.#config, this.#limits, {
      answered: (httpStatus, headers) => {
        this.#reachability.answered(httpStatus)
        for (const text of warningTexts(headers['warning'])) this.#reportWarning(text)
      },
      received: () => this.#reachability.received(),
      failed: (failure) => this.#reachability.failed(failure),
      unauthorized: () => this.#reachability.unauthorized(),
      sending: observer?.sending && ((request) => observer.sending?.(request)),
    })
    const { requestDeadlineMs: deadlineMs, maxAnswerBytes: maxBytes } = this.#limits
    this.#openApi = new OpenApi((path, signal, read) =>
      requestJson(this.#transport, 'GET', path, { deadlineMs, maxBytes, signal }, read),
    )
    this.#features = new ServerFeatures(() => this.version(), this.#limits.requestDeadlineMs)
  }

  get config(): ClusterConfig {
    return this.#config
  }

  /** `host:port`. */
  get host(): string {
    return this.#transport.host
  }

  /**
   * False from a failed connection until the next answer. While {@link followReachability} runs, also false while open
   * connections are silent and a request for the server's version has no answer.
   */
  get isReachable(): boolean {
    return !this.#reachability.isAway
  }

  /**
   * The error if the server does not accept the credentials of this connection: its 401 for the newest ones, or the failure
   * to read them. `undefined` if it accepts them. Up to date while {@link followReachability} runs.
   */
  get refusal(): Error | undefined {
    return this.#reachability.refusal
  }

  /**
   * Requests the server's version after each silence of some seconds, and after a 401. Ends with the signal, and when the
   * connection is closed.
   */
  async followReachability(signal: AbortSignal): Promise<void> {
    await this.#reachability.follow(AbortSignal.any([signal, this.#transport.closed]))
  }

  /** Lists and watches one resource, optionally as metadata only. */
  resource(resource: ApiResource, options?: ResourceClientOptions): ResourceClient {
    requireResource('resource', resource)
    const connection = {
      transport: this.#transport,
      features: this.#features,
      reachability: this.#reachability,
    }
    return new ResourceClient(resource, connection, this.#limits, options)
  }

  /** Reads and writes single objects of one resource. `T` comes from a `Resource<T>`. */
  client<T extends KubernetesObject = Unstructured>(
    resource: Resource<T>,
    options?: ObjectClientOptions,
  ): ObjectClient<T> {
    requireResource('resource', resource)
    return new ObjectClient<T>(resource, this, options)
  }

  /**
   * Uses other credentials for the next requests to the same server. Returns false, and changes nothing, if the configuration
   * names another server or proxy. Open watches continue with the previous credentials. Throws `ClusterConfigError` if its
   * certificates cannot be used.
   */
  rotate(config: ClusterConfig): boolean {
    const { server, cluster } = this.#config
    if (config.server !== server || config.cluster.proxyUrl !== cluster.proxyUrl) return false
    checkTlsMaterial(config)
    this.#config = config
    this.#transport.rotate(config)
    // Connections of callers still have the previous TLS material.
    void this.#callers[Symbol.asyncDispose]()
    return true
  }

  /**
   * A separate connection to the same server, with this bearer token as its only credentials. A warning that this
   * connection, or another one made by it, has reported is not reported again.
   */
  as(token: string): ApiServer {
    const config = { ...this.config, user: { name: 'bearer', token }, impersonation: {} }
    const observer: ApiServerObserver = {
      warned: this.#reportWarning,
      reachable: (isReachable) => this.#observer?.reachable?.(isReachable),
      ...(this.#observer?.sending && {
        sending: (request) => this.#observer?.sending?.(request),
      }),
    }
    return new ApiServer({ ...this.#limits, observer, name: this.name, config })
  }

  /** The connection of {@link as}, shared by all uses of one caller within some seconds. */
  lend(token: string): LentServer<ApiServer> {
    return this.#callers.lend(token)
  }

  /** Sends a small request and parses its response; `undefined` if the response is empty. */
  async request(
    method: TransportRequest['method'],
    path: string,
    options: ApiRequestOptions = {},
  ): Promise<unknown> {
    const { read, ...others } = options
    const limits = {
      deadlineMs: this.#limits.requestDeadlineMs,
      maxBytes: this.#limits.maxAnswerBytes,
      signal: neverAborted(),
    }
    return await requestJson(this.#transport, method, path, { ...limits, ...present(others) }, read)
  }

  /**
   * Sends a GET whose response is read while it arrives, such as a log. A slow reader slows the server down. Leaving the
   * iteration early closes the connection.
   */
  async open(
    path: string,
    options: Required<Pick<TransportRequest, 'responseDeadlineMs'>> & {
      readonly signal: AbortSignal
    },
  ): Promise<AsyncIterable<Buffer>> {
    const { signal, responseDeadlineMs } = options
    const headers = { Accept: '*/*' }
    const request = { method: 'GET', path, headers, responseDeadlineMs } as const
    return (await this.#transport.send(request, signal)).body
  }

  /**
   * Opens a connection that is more than a request and its response, such as a WebSocket, by `open`, with the credentials
   * of this connection. It stays open when this connection closes.
   */
  async dial<T>(
    path: string,
    open: (dialing: Dialing) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    return await this.#transport.dial(path, open, signal)
  }

  /** Discovers the groups, versions and resources of the server. */
  async discover(signal: AbortSignal = neverAborted()): Promise<Discovery> {
    return await discover((path, accept) => this.request('GET', path, { accept, signal }))
  }

  /** The server's version. Rejects with `UnexpectedAnswerError` if the response has none. */
  async version(signal: AbortSignal = neverAborted()): Promise<ServerVersion> {
    const answer = await this.request('GET', '/version', { signal })
    const version = readServerVersion(answer)
    if (version !== undefined) return version
    throw new UnexpectedAnswerError('GET /version', 'the answer holds no version', answer)
  }

  /** The server's OpenAPI v3 documents. Fetches only documents that have changed since the last call. */
  async openApi(request: Partial<OpenApiRequest> = {}): Promise<FetchedOpenApi> {
    return await this.#openApi.documents({ signal: neverAborted(), ...request })
  }

  /** Ends all requests, closes all connections, and stops their informers, whose `lastError` tells the reason. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#callers[Symbol.asyncDispose]()
    await this.#transport.close()
  }
}

/** Makes a connection to the cluster without opening it. Throws `InvalidOptionError` and `ClusterConfigError`. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  return new ApiServer(options)
}

import type { ApiResource } from '../kubernetes/api-resource.ts'
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
import { StreamingLists } from './discovery/streaming-lists.ts'
import {
  Transport,
  transportDefaults,
  type TransportOptions,
  type TransportRequest,
} from './transport/transport.ts'

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

/** What a connection is made from; its limits have defaults. */
export interface ApiServerOptions extends Partial<ApiServerLimits> {
  /** The cluster's name in the gateway. */
  readonly name: string
  readonly config: ClusterConfig
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
  readonly #transport: Transport
  readonly #openApi: OpenApi
  readonly #streamingLists: StreamingLists

  constructor({ name, config, ...limits }: ApiServerOptions) {
    this.name = name
    this.config = config
    this.#limits = { ...apiServerDefaults, ...limits }
    this.#transport = new Transport(config, this.#limits)
    this.#openApi = new OpenApi((path, signal) => this.request('GET', path, { signal }))
    this.#streamingLists = new StreamingLists({
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
    const connection = { transport: this.#transport, streamingLists: this.#streamingLists }
    return new ResourceClient(resource, connection, this.#limits, options)
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
      ...options,
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

/** A connection to the cluster, not yet opened. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  return new ApiServer(options)
}

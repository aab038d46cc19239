/*
 * The server, which programs start with `startGraphQLServer`. The constructor makes the parts, and `listen` opens the
 * ports. The server stops in two steps. `drain` keeps serving while load balancers and clients move on: `/readyz` answers
 * 503, answers end their connections, and the server asks clients of WebSockets and event streams to reconnect. Disposing
 * then stops listening, and lets running requests finish until the deadline.
 */

import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type Authenticator, noViewer } from '../access/authentication/authenticator.ts'
import { SignIn } from '../access/sign-in/sign-in.ts'
import { sleep } from '../lib/backoff.ts'
import type { CodedError } from '../lib/coded-error.ts'
import {
  aFlag,
  aFunction,
  aList,
  anObject,
  aString,
  checkedOptions,
  checksLike,
  type OptionChecks,
  optionsOf,
} from '../lib/options.ts'
import { defaultExecOptions, execPath, type ExecServing } from './exec/exec-options.ts'
import { execRoutes, execUpgrades } from './exec/exec-upgrades.ts'
import { checkAddress, isLoopback, OriginCheck, pathOf } from './guard/request-guard.ts'
import { KnownDocuments } from './document-source.ts'
import { certificateError, ServerCertificate } from './guard/server-certificate.ts'
import { TrustedDocuments } from './guard/trusted-documents.ts'
import { UnsentBytes, UserQuotas } from './user-limits.ts'
import { HttpTransport } from './http/http-transport.ts'
import { metricsPath, MetricsServer, type MetricsSource } from './http/metrics-endpoint.ts'
import { PortalFiles } from './http/portal-files.ts'
import { signInRoutes, withoutSignIn } from './http/sign-in-routes.ts'
import {
  graphqlPath,
  type MakeContext,
  type OperationContext,
  type OperationOrigin,
  type ServerPlugin,
  type OperationTracer,
  type PlannedQueries,
  type Readiness,
  type Routes,
  type ServerLog,
  type ServerObserver,
  type ServedSdl,
} from './operation-options.ts'
import { listen } from './listen.ts'
import { LongLivedConnections } from './long-lived-connections.ts'
import {
  createOperationPipeline,
  type OperationPipeline,
  type ServerParts,
} from './operation-pipeline.ts'
import { serverChecks, type ServerOptions } from './server-options.ts'
import { webSocketUpgrades } from './websocket/web-socket-transport.ts'

/** Options of a GraphQL server: the plugins that answer, the authentication of callers, and the limits. */
export interface GraphQLServerOptions {
  /** The plugins that set the schema, parse, validate, execute and subscribe. */
  readonly plugins: readonly ServerPlugin[]
  /**
   * Makes the `contextValue` of one operation; default: an empty context. A thrown error becomes the answer:
   * `UnauthenticatedError` for an unknown caller.
   */
  readonly context?: MakeContext | undefined
  /**
   * Whether operations without a viewer are refused with UNAUTHENTICATED; otherwise they see everything. Default: true
   * with an authenticator or a `context`.
   */
  readonly requireViewer?: boolean | undefined
  readonly log: ServerLog
  readonly server: ServerOptions
  /** The answer of `/readyz`. */
  readonly readiness: () => Readiness
  /** Whether the server can answer operations. Until then it answers probes and metrics, and everything else with 503. */
  readonly isStarted?: () => boolean
  /** Authenticates callers. Absent: callers are anonymous. */
  readonly authenticator?: Authenticator | undefined
  /**
   * Answers operations that have a plan on the fast path: `gateway.planned`. Not used if there are other plugins than
   * the gateway's.
   */
  readonly planned?: PlannedQueries
  /** Served if `server.metricsPort` or `server.metricsOnApiPort` are set. */
  readonly metrics?: MetricsSource | undefined
  readonly observer?: ServerObserver | undefined
  /** Records spans of OpenTelemetry for operations: the `GatewayTraces` of the gateway. */
  readonly traces?: OperationTracer | undefined
  /** An error while the server must not answer: it refuses operations with the error, and `/readyz` answers 503. */
  readonly refusal?: (() => CodedError | undefined) | undefined
  /** The schema as SDL, for `/schema.graphql` and `/graphql/schema`. Absent: the server does not show it. */
  readonly sdl?: (() => Promise<ServedSdl>) | undefined
  /** The documents that GraphiQL shows at the first visit, each in a tab. */
  readonly exampleOperations?: readonly string[]
  /** Opens shells in containers at `/exec` (docs/exec.md): `gateway.shells`, and their bounds. Absent: none. */
  readonly exec?: ExecServing | undefined
  /** The folder of the portal, served at `/` unless `server.portal` is false: `portalFolder`. Absent: no page. */
  readonly portalFolder?: string | undefined
  /** Answers of further paths, for callers whose Host and Origin are allowed. They are not authenticated. */
  readonly routes?: Routes
}

const graphqlServerChecks: OptionChecks<GraphQLServerOptions> = {
  server: optionsOf(serverChecks),
  plugins: aList,
  context: aFunction,
  requireViewer: aFlag,
  log: anObject,
  readiness: aFunction,
  isStarted: aFunction,
  authenticator: anObject,
  planned: anObject,
  metrics: anObject,
  observer: anObject,
  traces: anObject,
  refusal: aFunction,
  sdl: aFunction,
  exampleOperations: aList,
  exec: optionsOf<ExecServing>({ ...checksLike(defaultExecOptions), shells: anObject }),
  portalFolder: aString,
  routes: anObject,
}

/** A listening server. Disposing stops it: see {@link startGraphQLServer}. */
export interface GraphQLServer extends AsyncDisposable {
  /** `http://127.0.0.1:4000/graphql`. */
  readonly url: string
  readonly port: number
  /** The URL of metrics on their own port: `http://127.0.0.1:9090/metrics`. */
  readonly metricsUrl: string | undefined
  /** Whether the URL serves GraphiQL to browsers. */
  readonly servesGraphiql: boolean
  /** The URL of the portal: `http://127.0.0.1:4000/`. Absent: it is not served. */
  readonly portalUrl: string | undefined
  /**
   * Prepares a stop, so that no client fails: from now on `/readyz` answers 503 and answers end their connections.
   * After `drainDelayMs`, asks the clients of WebSockets and event streams to reconnect, over at most `drainSpreadMs`.
   * Serves what still arrives. Resolves when all were asked; dispose of the server then. Disposing ends the waits.
   */
  drain(): Promise<void>
}

/**
 * Serves GraphQL on `/graphql`, by HTTP and WebSocket, with probes beside it. To stop, it refuses new WebSockets,
 * closes open ones (1012), stops listening, lets running queries and mutations finish until `stopDeadlineMs`, and
 * disposes the plugins last. Rejects with a `CodedError` (UNSAFE_ADDRESS, LISTEN).
 */
export async function startGraphQLServer(given: GraphQLServerOptions): Promise<GraphQLServer> {
  const options = checkedOptions('a GraphQL server', given, graphqlServerChecks)
  const running = new RunningServer(options)
  await running.listen()
  return running
}

class RunningServer implements GraphQLServer {
  readonly #options: ServerOptions
  readonly #log: ServerLog
  readonly #asksWho: boolean
  readonly #pipeline: OperationPipeline
  readonly #server: Server
  readonly #certificate: ServerCertificate | undefined
  readonly #trusted: TrustedDocuments | undefined
  readonly #metrics: MetricsServer | undefined
  readonly #underWay = new Set<ServerResponse>()
  readonly #connections = new LongLivedConnections()
  readonly servesGraphiql: boolean
  readonly #portal: PortalFiles | undefined
  #port = 0
  #metricsPort: number | undefined
  readonly #stop = new AbortController()
  #drained: Promise<void> | undefined
  #stopped: Promise<void> | undefined

  constructor(options: GraphQLServerOptions) {
    const { server, authenticator, observer, log } = options
    const signIn = authenticator instanceof SignIn ? authenticator : undefined
    const asksWho = authenticator !== undefined && signIn?.isRequired !== false
    const { requireViewer = asksWho || options.context !== undefined } = options
    this.#asksWho = asksWho || requireViewer
    checkAddress(server, this.#asksWho)
    this.#options = server
    this.#log = log
    this.servesGraphiql = server.graphiql ?? (isLoopback(server.host) && !this.#asksWho)
    this.#portal = portalOf(options)
    const { trustedDocuments } = server
    this.#trusted =
      trustedDocuments === undefined
        ? undefined
        : new TrustedDocuments(trustedDocuments, log, this.#portal?.documents)
    const documents = this.#trusted ?? new KnownDocuments()
    const { context = () => ({}) } = options
    // Adds the viewer of the program's context; without one, the viewer of the authenticator.
    const whole = (made: OperationContext, origin: OperationOrigin): OperationContext => {
      const viewer = made.viewer ?? origin.viewer
      if (viewer === undefined && requireViewer) throw noViewer()
      return { ...made, viewer }
    }
    const contextOf: MakeContext = (origin) => {
      const made = context(origin)
      return made instanceof Promise ? made.then((one) => whole(one, origin)) : whole(made, origin)
    }
    const shared = { documents, contextOf, observer, log }
    this.#pipeline = createOperationPipeline(options.plugins, shared)
    const origins = new OriginCheck(server, options.planned?.address)
    const { refusal = () => undefined } = options
    const parts: ServerParts = {
      ...shared,
      isStarted: options.isStarted ?? (() => true),
      tracer: options.traces,
      limits: server,
      pipeline: this.#pipeline,
      origins,
      authenticator,
      quotas: new UserQuotas(server, refusal),
      unsent: new UnsentBytes(server, observer),
      connections: this.#connections,
      planned: plannedAlone(options),
    }
    const http = new HttpTransport({
      ...parts,
      sdl: options.sdl,
      metrics: server.metricsOnApiPort ? options.metrics : undefined,
      graphiqlTabs: this.servesGraphiql ? (options.exampleOperations ?? []) : undefined,
      portal: this.#portal,
      routes: {
        ...(signIn === undefined
          ? withoutSignIn(this.#asksWho)
          : signInRoutes(signIn, origins, refusal)),
        ...execRoutes(options.exec !== undefined),
        ...options.routes,
      },
      readiness: () => {
        if (this.#drained !== undefined) {
          return { ready: false, reasons: ['the gateway is stopping'] }
        }
        const answers = options.readiness()
        const { message } = refusal() ?? {}
        if (message === undefined) return answers
        return { ...answers, ready: false, reasons: [message, ...answers.reasons] }
      },
      tellsReasons: !this.#asksWho,
    })
    const httpOptions = {
      maxHeaderSize: 16_384,
      headersTimeout: Math.min(10_000, server.requestDeadlineMs),
      requestTimeout: server.requestDeadlineMs,
      connectionsCheckingInterval: 5_000,
      keepAliveTimeout: server.keepAliveMs,
      noDelay: true,
    }
    this.#certificate = certificateOf(server, log)
    observer?.certificate?.(() => this.#certificate?.endMs)
    this.#server = this.#certificate?.createServer(httpOptions) ?? createServer(httpOptions)
    const { metricsHost, metricsPort } = server
    if (options.metrics !== undefined && metricsPort !== undefined) {
      this.#metrics = new MetricsServer(
        { host: metricsHost, port: metricsPort },
        options.metrics,
        (error) => log.error('metrics could not be read', { error }),
      )
    }
    this.#server.maxHeadersCount = 100
    this.#server.maxConnections = server.maxConnections
    this.#server.on('request', (request, response) => {
      this.#underWay.add(response)
      if (this.#drained !== undefined) response.shouldKeepAlive = false
      response.once('close', () => {
        this.#underWay.delete(response)
        // The head of the answer may have kept the connection alive. That would delay the stop until the idle timeout.
        if (this.#drained !== undefined) request.socket.end()
      })
      void http.answer(request, response)
    })
    const byOperations = webSocketUpgrades(parts)
    const byExec = execUpgrades(parts, options.exec)
    this.#server.on('upgrade', (request, stream, head) => {
      const upgrade = pathOf(request) === execPath ? byExec : byOperations
      upgrade(request, stream, head)
    })
  }

  get port(): number {
    return this.#port
  }

  get metricsUrl(): string | undefined {
    if (this.#metricsPort === undefined) return undefined
    return `http://${nameOf(this.#options.metricsHost)}:${this.#metricsPort}${metricsPath}`
  }

  get url(): string {
    return `${this.#origin}${graphqlPath}`
  }

  get portalUrl(): string | undefined {
    return this.#portal === undefined ? undefined : `${this.#origin}/`
  }

  get #origin(): string {
    const scheme = this.#certificate === undefined ? 'http' : 'https'
    return `${scheme}://${nameOf(this.#options.host)}:${this.#port}`
  }

  async listen(): Promise<void> {
    const { host, port, insecureNoAuth } = this.#options
    const bound = await listen(this.#server, host, port)
    this.#port = bound.port
    this.#server.on('error', (error) => this.#log.error('the HTTP server failed', { error }))
    try {
      this.#metricsPort = await this.#metrics?.listen()
      // The hosts file may map `localhost` to another address.
      checkAddress({ host: bound.address, insecureNoAuth }, this.#asksWho)
    } catch (error) {
      await this[Symbol.asyncDispose]()
      throw error
    }
  }

  drain(): Promise<void> {
    return (this.#drained ??= this.#drain())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#stopped ??= this.#end())
  }

  async #drain(): Promise<void> {
    const { drainDelayMs, drainSpreadMs } = this.#options
    for (const response of this.#underWay) response.shouldKeepAlive = false
    await sleep(drainDelayMs, this.#stop.signal)
    await this.#connections.dismiss(drainSpreadMs, this.#stop.signal)
  }

  /** Waits until ended answers are sent: Node takes their connections for idle, and would cut them off. */
  async #untilSent(): Promise<void> {
    const sending = [...this.#underWay].filter(({ writableEnded }) => writableEnded)
    if (sending.length === 0) return
    await Promise.all(
      sending.map((response) => new Promise((resolve) => response.once('close', resolve))),
    )
    await this.#untilSent()
  }

  async #end(): Promise<void> {
    this.#stop.abort()
    await this.drain()
    const timer = setTimeout(() => {
      this.#connections.destroy()
      this.#server.closeAllConnections()
    }, this.#options.stopDeadlineMs)
    await this.#untilSent()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
    clearTimeout(timer)
    await this.#metrics?.[Symbol.asyncDispose]()
    await this.#pipeline.dispose()
    this.#trusted?.[Symbol.dispose]()
    this.#certificate?.[Symbol.dispose]()
  }
}

/**
 * The plans, if they may answer without the pipeline. They call no hooks of plugins. So with further plugins every request
 * takes the pipeline, at the end of which the gateway's plugin answers by the same plans.
 */
function plannedAlone({ planned, plugins, log }: GraphQLServerOptions): PlannedQueries | undefined {
  if (planned === undefined || plugins.every((plugin) => plugin === planned.plugin)) return planned
  log.warn('queries take the pipeline, since other plugins have hooks there', {
    hint: 'give `plugins: [gateway.plugin]` alone, or leave `planned` out',
  })
  return undefined
}

function portalOf({ portalFolder, server, log }: GraphQLServerOptions): PortalFiles | undefined {
  if (portalFolder === undefined || !server.portal) return undefined
  const portal = new PortalFiles(portalFolder, server.portalViews)
  if (!portal.isBuilt) {
    log.warn('the portal is not built', {
      hint: 'run `npm run build --workspace @informerql/portal`, or turn it off with --no-portal',
    })
  }
  return portal
}

/** An address as the host of a URL; wildcard addresses become loopback. */
function nameOf(host: string): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host
  return reachable.includes(':') && !reachable.startsWith('[') ? `[${reachable}]` : reachable
}

/** The certificate of a server; `undefined` without TLS. Throws TLS_CERTIFICATE. */
export function certificateOf(
  { tlsCert, tlsKey, tlsClientCa }: ServerOptions,
  log: ServerLog,
): ServerCertificate | undefined {
  if (tlsCert === undefined && tlsKey === undefined && tlsClientCa === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined) {
    throw certificateError('a certificate needs both server.tlsCert and server.tlsKey')
  }
  return new ServerCertificate({ tlsCert, tlsKey, tlsClientCa }, log)
}

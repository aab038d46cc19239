/*
 * The server. Each request passes the host check, waiting faults, authentication and authorization; then it is a
 * review, a document of the API, metrics, or a resource.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { type Fields, fieldsOf } from '../../kubernetes/fields.ts'
import { HostNames } from '../../lib/host-names.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { Authentication, Identity } from '../access/authentication.ts'
import { type AccessAttributes, type Authorizer, forbidden } from '../access/authorization.ts'
import { type ReviewContext, reviews } from '../access/reviews.ts'
import {
  aggregatedDiscovery,
  hashOf,
  openApiIndex,
  openApiText,
  resourceList,
  type ResourceRegistry,
} from '../api/resource-registry.ts'
import { badRequest, methodNotAllowed, noSuchResource, Refusal } from '../api/status-refusal.ts'
import {
  FaultError,
  type FaultOrder,
  Faults,
  type ServerFault,
  statusOf,
} from '../faults/faults.ts'
import { NodeFailures } from '../churn/nodes.ts'
import type { Storage } from '../storage/storage.ts'
import {
  beginJson,
  type Exchange,
  readBody,
  readFields,
  requestTarget,
  type RequestTarget,
  sendJson,
  sendRefusal,
  sendText,
  unrecognized,
} from './exchange.ts'
import { serveMetrics } from './metrics-requests.ts'
import { isExec, isWebSocket, serveExec } from './serve-exec.ts'
import { type OpenWatch, wantsAggregated } from './resource-request.ts'
import { serveResource } from './serve-resource.ts'

interface SimulatedServerOptions {
  readonly port: number
  readonly host: string
  /** See `SimulatorOptions`. */
  readonly allowedHosts: readonly string[]
  /** 0: no bookmarks. */
  readonly bookmarkIntervalMs: number
  readonly authentication: Authentication
  readonly authorizer: Authorizer
}

/** How a fault of the server strikes. Answers `false` without a target. */
type Strikes = {
  readonly [T in ServerFault['type']]: (
    fault: Extract<ServerFault, { readonly type: T }>,
  ) => boolean | void
}

export class SimulatedServer {
  readonly faults: Faults
  readonly #storage: Storage
  readonly #options: SimulatedServerOptions
  readonly #server: Server
  #hosts: HostNames
  readonly #sockets = new Set<Socket>()
  readonly #watches = new Set<OpenWatch>()
  readonly #nodes: NodeFailures
  /** The connections that send nothing. */
  readonly #frozen = new Set<Socket>()
  #cutUntilMs = 0
  #ordering: Socket | undefined
  /** Holds requests back while the server hangs. */
  #hanging: PromiseWithResolvers<void> | undefined

  readonly #strikes: Strikes = {
    'refuse-connections': ({ forMs }) => this.#cut(forMs),
    cut: () => this.#cut(Infinity),
    hang: () => {
      this.#hanging ??= Promise.withResolvers()
      this.#freezeAll()
    },
    mend: () => this.#mend(),
    'drop-connections': () => this.#dropAll(),
    'freeze-connections': () => this.#freezeAll(),
    'end-watches': ({ code = 410, resource: only }) => {
      for (const { resource, end } of this.#watches)
        if ((only ?? resource) === resource) end(statusOf(code))
    },
    'fail-node': ({ node, evictAfterMs }) => this.#nodes.fail(node, evictAfterMs),
    'recover-node': ({ node }) => this.#nodes.recover(node),
    'compact-history': () => this.#storage.compact(),
  }

  constructor(storage: Storage, options: SimulatedServerOptions) {
    this.#storage = storage
    this.#options = options
    this.#hosts = new HostNames(options.host)
    this.#nodes = new NodeFailures(storage)
    this.faults = new Faults({
      strike: (fault) => {
        if (!Object.hasOwn(this.#strikes, fault.type)) return false
        const strike = this.#strikes[fault.type] as (of: ServerFault) => boolean | void
        return strike(fault) !== false
      },
      connections: () => {
        if (this.#hanging !== undefined) return 'hanging'
        return this.#isCut() ? 'cut' : 'served'
      },
    })
    this.#server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
      const exchange = exchangeOf(request, response)
      this.#answer(exchange).catch((error: unknown) => sendRefusal(exchange, error))
    })
    this.#server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on('error', () => socket.destroy())
      const response = new ServerResponse(request)
      response.shouldKeepAlive = false
      response.assignSocket(socket)
      response.once('finish', () => socket.end())
      const exchange = exchangeOf(request, response)
      this.#answer(exchange, { stream: socket, head }).catch((error: unknown) =>
        sendRefusal(exchange, error),
      )
    })
    this.#server.on('connection', (socket) => {
      socket.setNoDelay(true)
      this.#sockets.add(socket)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        this.#frozen.delete(socket)
      })
    })
  }

  /** Listens and returns the URL. Rejects if the address is in use. */
  async start(): Promise<string> {
    const { port, host, allowedHosts } = this.#options
    this.#server.listen(port, host)
    await once(this.#server, 'listening')
    const address = this.#server.address() as AddressInfo
    const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
    this.#hosts = new HostNames(host, [name, ...allowedHosts])
    return `http://${name}:${address.port}`
  }

  /** Stops listening and breaks every connection. */
  async stop(): Promise<void> {
    this.#nodes.stop()
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #isCut(): boolean {
    return performance.now() < this.#cutUntilMs
  }

  /** `upgrade`: what a WebSocket would be made of, if the request asks for one. */
  async #answer(exchange: Exchange, upgrade?: Upgrade): Promise<void> {
    const { path, params, request, response } = exchange
    const { host } = request.headers
    // A real API server asks for credentials instead, which a page that has rebound its name does not have.
    if (!this.#hosts.has(host)) {
      const name = JSON.stringify(host ?? '')
      throw new Refusal(
        403,
        `Host ${name} is not a name of this server; its allowedHosts may name it`,
      )
    }
    if (path === faultsPath) return this.#answerOrder(exchange)
    await this.#hanging?.promise
    if (this.#isCut()) {
      request.socket.resetAndDestroy()
      return
    }
    const target = requestTarget(exchange)
    const page = (params.get('continue') ?? '') === '' ? 'first' : 'later'
    const none = { verb: '', resource: '', group: '', namespace: '' }
    const effects = this.faults.take({ ...none, ...target, path, page })
    for (const { answer } of effects) {
      if (answer === 'disconnect') {
        response.destroy()
        return
      }
      if (answer !== undefined) throw answer
    }
    const { authentication, authorizer } = this.#options
    const identity = authentication.identify(request.headers.authorization)
    // A selector for one name asks for that object.
    const [, selected = ''] =
      /(?:^|,)metadata\.name==?([^,]*)/.exec(params.get('fieldSelector') ?? '') ?? []
    const isNamespace = target?.group === '' && target.resource === 'namespaces'
    const attributes: AccessAttributes =
      target === undefined
        ? { verb: exchange.method.toLowerCase(), path }
        : {
            ...target,
            namespace: isNamespace ? target.name : target.namespace,
            name: target.name || selected,
          }
    const { allowed, reason } = authorizer.decide(identity, attributes)
    if (!allowed) throw forbidden(identity, attributes, reason)
    const { registry } = this.#storage
    if (upgrade !== undefined && isExec(target) && isWebSocket(request)) {
      this.#mayExec(identity, attributes)
      response.detachSocket(request.socket)
      try {
        return await serveExec(target, exchange, this.#storage, upgrade)
      } catch (error) {
        response.assignSocket(request.socket)
        throw error
      }
    }
    const context = { authentication, authorizer, identity }
    if (target !== undefined && (await serveReview(exchange, target, context))) return
    if (serveApiDocument(exchange, registry)) return
    if (target === undefined || !registry.hasVersion(target.group, target.version)) {
      if (target?.group === '') throw noSuchResource()
      sendText(exchange, 404, '404 page not found\n')
      return
    }
    if (serveMetrics(exchange, target, this.#storage)) return
    await serveResource(target, {
      exchange,
      storage: this.#storage,
      effects,
      authentication,
      watches: {
        bookmarkIntervalMs: this.#options.bookmarkIntervalMs,
        add: (watch) => {
          this.#watches.add(watch)
          return () => this.#watches.delete(watch)
        },
      },
    })
  }

  /**
   * A WebSocket is opened by a GET. Since 1.35 that needs the verb `create`, too, as a POST does
   * (AuthorizePodWebsocketUpgradeCreatePermission). Throws 403.
   */
  #mayExec(identity: Identity, attributes: AccessAttributes): void {
    const [, minor = ''] =
      /^v1\.(\d+)/.exec(this.#storage.registry.captured.version.gitVersion) ?? []
    if (Number(minor) < 35) return
    const creating = { ...attributes, verb: 'create' }
    if (this.#options.authorizer.decide(identity, creating).allowed || 'path' in attributes) return
    // The real server says no more, either.
    const message = `pods "${attributes.name}" is forbidden: `
    throw new Refusal(403, message, { details: { name: attributes.name, kind: 'pods' } })
  }

  /** `POST` orders a fault, `GET` lists waiting faults, `DELETE` drops them. */
  async #answerOrder(exchange: Exchange): Promise<void> {
    const { faults } = this
    const { method, request } = exchange
    if (method === 'POST') {
      const body = await readBody(request)
      this.#ordering = request.socket
      try {
        const value: unknown = JSON.parse(body.toString())
        if (!isJsonObject(value) || ![value['fault']].flat().every(isJsonObject)) {
          throw new FaultError(value)
        }
        faults.inject(value as unknown as FaultOrder)
      } catch (error) {
        const isWrong = error instanceof SyntaxError || error instanceof FaultError
        throw isWrong ? badRequest(error.message) : error
      } finally {
        this.#ordering = undefined
      }
    } else if (method === 'DELETE') faults.clear()
    else if (method !== 'GET') throw methodNotAllowed()
    const { connections } = faults
    sendJson(exchange, 200, { connections, pending: faults.pending() })
  }

  #cut(forMs: number): void {
    this.#mend()
    this.#cutUntilMs = performance.now() + forMs
    this.#dropAll()
  }

  #mend(): void {
    this.#cutUntilMs = 0
    this.#hanging?.resolve()
    this.#hanging = undefined
    for (const socket of this.#frozen) socket.uncork()
    this.#frozen.clear()
  }

  #dropAll(): void {
    for (const socket of this.#others()) socket.resetAndDestroy()
  }

  #freezeAll(): void {
    for (const socket of this.#others()) {
      if (!this.#frozen.has(socket)) socket.cork()
      this.#frozen.add(socket)
    }
  }

  /** All connections except the one of the order that is being carried out, which is answered. */
  *#others(): Iterable<Socket> {
    for (const socket of this.#sockets) if (socket !== this.#ordering) yield socket
  }
}

const faultsPath = '/simulator/faults'

interface Upgrade {
  readonly stream: Socket
  readonly head: Buffer
}

function exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange {
  // Ignores the host of the request line.
  const [path = '/', ...query] = (request.url ?? '/').split('?')
  const params = new URLSearchParams(query.join('?'))
  return { request, response, method: request.method ?? 'GET', path, params, warnings: [] }
}

/** Answers an authentication or authorization review. Stores nothing. Returns `false` for other paths. Throws refusals. */
async function serveReview(
  exchange: Exchange,
  { group, version, resource, name, namespace }: RequestTarget,
  context: Omit<ReviewContext, 'namespace'>,
): Promise<boolean> {
  const key = groupResourceOf({ group, resource })
  const review = Object.hasOwn(reviews, key) ? reviews[key] : undefined
  if (review === undefined || version !== 'v1' || name !== '') return false
  if (exchange.method !== 'POST') throw methodNotAllowed()
  const types = { kind: review.kind, apiVersion: `${group}/v1` }
  const given = { ...types, ...(await readFields(exchange.request, review.kind)) }
  if (given.kind !== types.kind || given.apiVersion !== types.apiVersion) {
    throw unrecognized(review.kind)
  }
  const { metadata, spec } = given as Fields
  const answer = review.answer(fieldsOf(spec), { ...context, namespace })
  sendJson(exchange, 201, {
    ...types,
    metadata: fieldsOf(metadata),
    spec: fieldsOf(spec),
    ...answer,
  })
  return true
}

const probes = new Set(['healthz', 'readyz', 'livez'])

/** Answers requests for health, version, discovery and OpenAPI. Returns `false` for other paths. Throws refusals. */
function serveApiDocument(exchange: Exchange, registry: ResourceRegistry): boolean {
  const { method, request, response } = exchange
  const path = exchange.path.length > 1 ? exchange.path.replace(/\/$/, '') : exchange.path
  const [root = '', group = '', version, ...more] = path.slice(1).split('/')
  const sendTagged = (text: string, hash: string, headers: object = {}): void => {
    const etag = `"${hash}"`
    const isKnown = request.headers['if-none-match'] === etag
    if (isKnown) response.writeHead(304, { etag })
    else beginJson(exchange, 200, { 'cache-control': 'public', etag, ...headers })
    response.end(isKnown ? undefined : text)
  }
  let document: object | undefined
  if (probes.has(root)) {
    sendText(exchange, 200, 'ok')
    return true
  }
  if (path === '/version') document = registry.captured.version
  else if (path === '/openapi/v3') document = openApiIndex(registry)
  else if (path === '/api') document = registry.captured.api
  else if (path === '/apis') {
    document = { kind: 'APIGroupList', apiVersion: 'v1', groups: registry.groups() }
  } else if (root === 'apis' && version === undefined) {
    const found = registry.groups().find(({ name }) => name === group)
    document = found && { kind: 'APIGroup', apiVersion: 'v1', ...found }
  } else if (root === 'api' ? version === undefined : root === 'apis' && more.length === 0) {
    document = resourceList(registry, path.slice(1))
    if (document === undefined && root === 'api') throw noSuchResource()
  }
  const isOpenApi = path.startsWith('/openapi/v3/')
  if (document === undefined && !isOpenApi) return false
  if (method !== 'GET') throw methodNotAllowed()
  if (isOpenApi) {
    const found = openApiText(registry, path.slice(12))
    if (found !== undefined) sendTagged(found.text, found.hash)
    else response.writeHead(404).end()
  } else if (group !== '' || root === 'version' || root === 'openapi') {
    sendJson(exchange, 200, document ?? {})
  } else if (wantsAggregated(exchange)) {
    const text = JSON.stringify(aggregatedDiscovery(registry, path === '/api' ? 'api' : 'apis'))
    sendTagged(text, hashOf(text), {
      'content-type': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      vary: 'Accept',
    })
  } else sendJson(exchange, 200, document ?? {}, { vary: 'Accept' })
  return true
}

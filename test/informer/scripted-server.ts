import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { until } from '../support/informer.ts'

/** A config map as JSON. */
export function configMap(name: string, resourceVersion: string, more: object = {}): object {
  return {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default', uid: `uid-of-${name}`, resourceVersion, ...more },
  }
}

/** The three ways to say that a resource version is too large. */
export const tooLargeStatuses: Readonly<Record<string, object>> = {
  'the reason of a cause': { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
  'the message of a cause': { details: { causes: [{ message: 'Too large resource version' }] } },
  'the message': { message: 'Too large resource version: 99, current: 1' },
}

const statusOf = (code: number, more: object): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: `refused with ${code}`,
  reason: code === 410 ? 'Expired' : '',
  code,
  ...more,
})

/** A LIST or WATCH that waits for the answer of its test. */
export class ScriptedRequest {
  readonly verb: 'list' | 'watch'
  /** All parameters but `watch`. */
  readonly query: Readonly<Record<string, string>>
  /** The namespace in the path; `undefined`: all. */
  readonly namespace: string | undefined
  /** Whether metadata only is wanted. */
  readonly isPartial: boolean
  readonly #response: ServerResponse

  constructor(request: IncomingMessage, response: ServerResponse) {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://test')
    this.namespace = /\/namespaces\/([^/]+)\//.exec(pathname)?.[1]
    const { watch, ...query } = Object.fromEntries(searchParams)
    this.verb = watch === 'true' ? 'watch' : 'list'
    this.query = query
    this.isPartial = request.headers.accept?.includes('PartialObjectMetadata') === true
    this.#response = response
  }

  /** Whether the client has gone, or the answer has ended. */
  get closed(): boolean {
    return this.#response.closed
  }

  /** Answers a LIST. */
  list(resourceVersion: string, items: readonly object[], more: object = {}): void {
    // As API servers do: no kind in the items.
    const bare = items.map((item) => ({ ...item, kind: undefined, apiVersion: undefined }))
    this.json({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion, ...more },
      items: bare,
    })
  }

  json(body: object): void {
    this.#response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  refuse(code: number, status: object = {}, headers: Record<string, string> = {}): void {
    this.#response
      .writeHead(code, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(statusOf(code, status)))
  }

  /** Opens a WATCH, without an event. */
  open(headers: Record<string, string> = {}): this {
    this.#response.writeHead(200, { 'content-type': 'application/json', ...headers }).flushHeaders()
    return this
  }

  send(type: string, object: unknown): this {
    return this.write(`${JSON.stringify({ type, object })}\n`)
  }

  bookmark(resourceVersion: string, annotations?: Record<string, string>): this {
    const metadata = { resourceVersion, annotations }
    return this.send('BOOKMARK', { kind: 'ConfigMap', apiVersion: 'v1', metadata })
  }

  /** The end of the initial events of a streaming list. */
  endInitialEvents(resourceVersion: string): this {
    return this.bookmark(resourceVersion, { 'k8s.io/initial-events-end': 'true' })
  }

  error(code: number, status: object = {}): this {
    return this.send('ERROR', statusOf(code, status))
  }

  write(bytes: string | Uint8Array): this {
    if (!this.#response.headersSent) this.open()
    this.#response.write(bytes)
    return this
  }

  /** Ends the body cleanly. */
  end(): void {
    this.#response.end()
  }

  /** Breaks the connection once what was written has gone out. */
  async cut(): Promise<void> {
    await new Promise((resolve) => this.#response.write('', resolve))
    this.#response.destroy()
  }
}

/** A server that a test plays itself, request by request, in the order of their arrival; all but its version. */
export class ScriptedServer implements AsyncDisposable {
  /** What it says at `/version`; `undefined`: nothing that could be read. */
  gitVersion: string | undefined = 'v1.36.0'
  /** How often it was asked for that. */
  versionRequests = 0
  readonly #requests: ScriptedRequest[] = []
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((request, response) => {
    if (request.url === '/version') this.#tellVersion(response)
    else this.#requests.push(new ScriptedRequest(request, response))
  })
  #port = 0
  #broken = false

  static async start(): Promise<ScriptedServer> {
    const server = new ScriptedServer()
    server.#server.keepAliveTimeout = 60_000
    server.#server.on('connection', (socket: Socket) => {
      if (server.#broken) socket.resetAndDestroy()
      server.#sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => server.#sockets.delete(socket))
    })
    await server.listen()
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Listens, after {@link refuse} at the same address. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Breaks all connections; new ones are refused. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  /** New connections are refused; those that are open stay. Resolves when the last of them has gone. */
  async refuseNew(): Promise<void> {
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** From now on every connection is broken before any answer, or no longer so. */
  break(broken: boolean): void {
    this.#broken = broken
    if (broken) for (const socket of this.#sockets) socket.destroy()
  }

  /** The next request that has not been asked for. */
  async any(what = 'a request'): Promise<ScriptedRequest> {
    await until(() => this.#requests.length > 0, what)
    return this.#requests.shift() as ScriptedRequest
  }

  /** The same; fails where it is another one than expected. */
  async next(verb: 'list' | 'watch'): Promise<ScriptedRequest> {
    const request = await this.any(`a request to ${verb}`)
    if (request.verb === verb) return request
    throw new Error(`a ${verb} was expected, this came: ${JSON.stringify(request)}`)
  }

  /** The next request of one namespace; those of others wait. */
  async in(namespace: string, verb: 'list' | 'watch'): Promise<ScriptedRequest> {
    const find = (): number => this.#requests.findIndex((one) => one.namespace === namespace)
    await until(() => find() >= 0, `a request to ${verb} in ${namespace}`)
    const [request] = this.#requests.splice(find(), 1)
    if (request?.verb === verb) return request
    throw new Error(`a ${verb} in ${namespace} was expected, this came: ${JSON.stringify(request)}`)
  }

  /** The requests that have not been asked for. */
  get waiting(): readonly ScriptedRequest[] {
    return this.#requests.filter(({ closed }) => !closed)
  }

  /** The answer to the first LIST, and the WATCH that follows it. */
  async sync(resourceVersion: string, items: readonly object[]): Promise<ScriptedRequest> {
    ;(await this.next('list')).list(resourceVersion, items)
    return await this.next('watch')
  }

  #tellVersion(response: ServerResponse): void {
    this.versionRequests += 1
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ gitVersion: this.gitVersion }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.refuse()
  }
}

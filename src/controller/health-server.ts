import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { aNumber, aString, InvalidOptionError, type OptionChecks } from '../lib/options.ts'
import { metricsContentType } from './controller-metrics.ts'

/** Where health and metrics are served. */
export interface HealthOptions {
  /** 0: any free port; the observer's `listening` has it. */
  readonly port: number
  /** Default: all addresses, since the kubelet asks at the pod's. */
  readonly host?: string
}

export const healthChecks: OptionChecks<HealthOptions> = { port: aNumber(), host: aString }

/** What the server answers with. */
export interface HealthSource {
  /** The reasons why the process is not ready; none if it is. */
  readonly notReady: () => readonly string[]
  readonly metrics: () => string
}

/**
 * Serves `/healthz` (the process runs), `/readyz` (its caches are filled, and it works or waits for the lease) and
 * `/metrics`, without authentication.
 */
export class HealthServer implements AsyncDisposable {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** Rejects with `InvalidOptionError` if another program has the port, else with Node's error. */
  static async listen({ port, host }: HealthOptions, source: HealthSource): Promise<HealthServer> {
    const server = createServer((request, response) => answer(request, response, source))
    server.maxConnections = maxConnections
    server.requestTimeout = requestTimeoutMs
    server.listen(port, host)
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      const problem = `port ${port} is already in use`
      throw new InvalidOptionError('health.port', port, 'a free port, or 0 for any', problem)
    })
    return new HealthServer(server)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}

const maxConnections = 100
const requestTimeoutMs = 10_000

function answer(request: IncomingMessage, response: ServerResponse, source: HealthSource): void {
  request.resume()
  const send = (status: number, text: string, contentType = 'text/plain; charset=utf-8') => {
    response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' })
    response.end(request.method === 'HEAD' ? undefined : text)
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, 'GET only\n')
  switch (request.url?.split('?', 1)[0]) {
    case '/healthz':
      return send(200, 'ok\n')
    case '/readyz': {
      const reasons = source.notReady()
      return reasons.length === 0
        ? send(200, 'ok\n')
        : send(503, `not ready\n${reasons.map((reason) => `${reason}\n`).join('')}`)
    }
    case '/metrics':
      return send(200, source.metrics(), metricsContentType)
    default:
      return send(404, 'not found\n')
  }
}

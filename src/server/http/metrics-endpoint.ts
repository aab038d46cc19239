/*
 * Serves the metrics in the text format of Prometheus: on the port of the API (`answerMetrics`), or on a port of their
 * own (`MetricsServer`), where nothing else is served. Neither authenticates the caller.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { pathOf, refuseRequest } from '../guard/request-guard.ts'
import { listen } from '../listen.ts'

export interface MetricsSource {
  readonly contentType: string
  text(): Promise<string>
}

export const metricsPath = '/metrics'

export async function answerMetrics(
  { method }: IncomingMessage,
  response: ServerResponse,
  metrics: MetricsSource,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') {
    refuseRequest(response, { status: 405, reason: 'Send a GET.', headers: { allow: 'GET' } })
    return
  }
  const text = await metrics.text()
  response.writeHead(200, {
    'content-type': metrics.contentType,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  })
  response.end(text)
}

const deadlineMs = 10_000
const maxConnections = 100

export class MetricsServer implements AsyncDisposable {
  readonly #server: Server
  readonly #host: string
  readonly #port: number

  constructor(
    { host, port }: { readonly host: string; readonly port: number },
    metrics: MetricsSource,
    failed: (error: unknown) => void,
  ) {
    this.#host = host
    this.#port = port
    this.#server = createServer({ requestTimeout: deadlineMs }, (request, response) => {
      if (pathOf(request) !== metricsPath) {
        refuseRequest(response, {
          status: 404,
          reason: `There is nothing here; ask ${metricsPath}.`,
        })
        return
      }
      answerMetrics(request, response, metrics).catch((error: unknown) => {
        failed(error)
        response.destroy()
      })
    })
    this.#server.maxConnections = maxConnections
  }

  /** Resolves with the port. Rejects as {@link listen} does. */
  async listen(): Promise<number> {
    return (await listen(this.#server, this.#host, this.#port)).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '../api/status-refusal.ts'

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  readonly path: string
  readonly params: URLSearchParams
}

/** Reads the request line. The host in it does not count. */
export function exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange {
  const url = request.url ?? '/'
  const mark = url.indexOf('?')
  return {
    request,
    response,
    method: request.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    params: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
  }
}

const common = { 'cache-control': 'no-cache, private' }

/** Begins an answer of JSON. */
export function beginJson({ response }: Exchange, status = 200, headers: object = {}): void {
  response.writeHead(status, { ...common, 'content-type': 'application/json', ...headers })
}

/** Answers with a JSON document. */
export function sendJson(
  exchange: Exchange,
  status: number,
  body: object,
  headers: object = {},
): void {
  beginJson(exchange, status, headers)
  exchange.response.end(`${JSON.stringify(body)}\n`)
}

export function sendText({ response }: Exchange, status: number, text: string): void {
  response.writeHead(status, { ...common, 'content-type': 'text/plain; charset=utf-8' })
  response.end(text)
}

/** Answers with a refusal's Status; where the answer has begun already, breaks it. */
export function sendRefusal(exchange: Exchange, error: unknown): void {
  if (exchange.response.headersSent) {
    exchange.response.destroy()
    return
  }
  const refusal = error instanceof Refusal ? error : internalError(error)
  sendJson(exchange, refusal.httpStatus, refusal.status, refusal.headers)
}

function internalError(error: unknown): Refusal {
  const message = error instanceof Error ? error.message : String(error)
  return new Refusal(500, `Internal error occurred: ${message}`, { reason: 'InternalError' })
}

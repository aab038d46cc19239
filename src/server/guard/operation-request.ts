/*
 * Checks the headers of a request with an operation before its body is read: the method, proof that no foreign page sends
 * a GET, the content type, no compression, and a size within the bounds.
 */

import type { IncomingMessage } from 'node:http'
import { type Refusal, requestIdHeader } from './refusal.ts'

/**
 * Headers that a foreign page cannot send without a preflight request, which the server refuses. They prove that the
 * request comes from elsewhere. GraphQL clients already send them.
 */
const preflightedHeaders = [
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-graphql-yoga-csrf',
] as const

/** With the value `1`, asks for `extensions.explain` in the answer, as `extensions: { explain: true }` in the body does. */
const explainHeader = 'x-informerql-explain'

/** Whether a request, or the request that opened the WebSocket, asks for explanations. */
export function asksForExplanation({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers[explainHeader] === '1'
}

/** Headers that pages of allowed origins may send, in addition to `server.allowedHeaders`. Includes W3C's for tracing. */
export const allowedRequestHeaders: readonly string[] = [
  'content-type',
  'authorization',
  'traceparent',
  'tracestate',
  'baggage',
  requestIdHeader,
  explainHeader,
  ...preflightedHeaders,
]

/** Browsers send this type across origins only after a preflight request. */
const jsonType = /^application\/(graphql\+)?json\s*(;|$)/i

/**
 * The refusal of an HTTP operation, found before its body is read; `undefined` if it is accepted. Refuses a request that a
 * foreign page could make a browser send (CSRF), and a body that is too large or of unknown size. `isByOwnScript`: whether
 * the browser says that an accepted page sends it.
 */
export function operationRefusal(
  { method, headers }: IncomingMessage,
  { isByOwnScript, maxBodyBytes }: { isByOwnScript: boolean; maxBodyBytes: number },
): Refusal | undefined {
  const preflighted = preflightedHeaders.some((name) => headers[name] !== undefined)
  if (method === 'GET') {
    if (preflighted || isByOwnScript) return undefined
    return {
      status: 403,
      reason: 'A GET must prove that no page of another site sent it.',
      hint: `send a header ${preflightedHeaders[0]}: 1, or a POST with content-type application/json; a browser proves it by Sec-Fetch-Site for pages of the same origin`,
    }
  }
  if (method !== 'POST') {
    return {
      status: 405,
      reason: `${String(method)} is not a method of operations.`,
      hint: asJson,
      headers: { allow: 'POST' },
    }
  }
  if (!preflighted && !jsonType.test(headers['content-type'] ?? '')) {
    const type = JSON.stringify(headers['content-type'] ?? '')
    return {
      status: 415,
      reason: `Content-Type ${type} is refused.`,
      hint: asJson,
    }
  }
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    return {
      status: 415,
      reason: `Content-Encoding ${JSON.stringify(encoding)} is refused: a small body may be a large one.`,
      hint: 'send the body as it is',
    }
  }
  const bytes = headers['content-length']
  if (bytes === undefined) {
    return {
      status: 411,
      reason: 'The request has no Content-Length.',
      hint: 'send the size of the body; chunked bodies are refused',
    }
  }
  if (Number(bytes) <= maxBodyBytes) return undefined
  return {
    status: 413,
    reason: `The body has ${bytes} bytes, and at most ${maxBodyBytes} are accepted.`,
    hint: 'send less, or name the document by its hash; the operator may raise server.maxBodyBytes',
  }
}

const asJson = 'send operations as POST with content-type application/json'

export function acceptsHtml({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes('text/html') === true
}

/** The path of a request without its query, neither decoded nor normalised, so that each resource has one path. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

import type { IncomingMessage } from 'node:http'
import type { Refusal } from './refusal.ts'

/**
 * Headers that a foreign page cannot send without a preflight request, which is refused. They prove that the request
 * comes from elsewhere. GraphQL clients already send these names.
 */
const preflightedHeaders = [
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-graphql-yoga-csrf',
] as const

/** Asks for `extensions.explain` in the answer if it is `1`, as `extensions: { explain: true }` in the body does. */
const explainHeader = 'x-informerql-explain'

/** Whether a request, or the request that opened the WebSocket, asks for explanations. */
export function asksForExplanation({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers[explainHeader] === '1'
}

/** The headers that pages of allowed origins may send. */
export const allowedRequestHeaders: string = [
  'content-type',
  'authorization',
  explainHeader,
  ...preflightedHeaders,
].join(', ')

/** Browsers send this type across origins only after a preflight request. */
const jsonType = /^application\/(graphql\+)?json\s*(;|$)/i

/**
 * The refusal of an HTTP operation before its body is read: a request that a foreign page could make a browser send
 * (CSRF), or a body that is too large or of unknown size. `undefined` if it is accepted.
 */
export function operationRefusal(
  { method, headers }: IncomingMessage,
  maxBodyBytes: number,
): Refusal | undefined {
  const preflighted = preflightedHeaders.some((name) => headers[name] !== undefined)
  if (method === 'GET') {
    if (preflighted) return undefined
    return {
      status: 403,
      reason: `Send operations as POST with content-type application/json, or with a header ${preflightedHeaders[0]}.`,
    }
  }
  if (method !== 'POST') {
    return {
      status: 405,
      reason: 'Send operations as POST with content-type application/json.',
      headers: { allow: 'POST' },
    }
  }
  if (!preflighted && !jsonType.test(headers['content-type'] ?? '')) {
    const type = JSON.stringify(headers['content-type'] ?? '')
    return {
      status: 415,
      reason: `Content-Type ${type} is refused; send the operation as application/json.`,
    }
  }
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    return {
      status: 415,
      reason: `Content-Encoding ${JSON.stringify(encoding)} is refused: a small body may be a large one. Send it as it is.`,
    }
  }
  return sizeRefusal(headers['content-length'], maxBodyBytes)
}

function sizeRefusal(contentLength: string | undefined, maxBodyBytes: number): Refusal | undefined {
  if (contentLength === undefined) {
    return {
      status: 411,
      reason: 'The request needs a Content-Length; chunked bodies are refused.',
    }
  }
  if (Number(contentLength) > maxBodyBytes) {
    return {
      status: 413,
      reason: `The body has ${contentLength} bytes; at most ${maxBodyBytes} are accepted (server.maxBodyBytes).`,
    }
  }
  return undefined
}

/** The path of a request without its query. It is neither decoded nor normalised, so each resource has one path. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

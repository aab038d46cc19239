import type { IncomingMessage } from 'node:http'
import type { Refusal } from './refusal.ts'

/**
 * A page of another origin cannot set one of these headers without asking first, which it is refused; so they prove that
 * a request is no such page's. Names that GraphQL clients already send.
 */
const preflightedHeaders = [
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-graphql-yoga-csrf',
] as const

/** Asks for `extensions.explain` in the answer: `1`. As `extensions: { explain: true }` does in the body. */
const explainHeader = 'x-informerql-explain'

/** Whether a request, or that which opened the WebSocket, asks for its operations to be explained. */
export function asksForExplanation({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers[explainHeader] === '1'
}

/** The headers that a page of an allowed origin may send. */
export const allowedRequestHeaders: string = [
  'content-type',
  'authorization',
  explainHeader,
  ...preflightedHeaders,
].join(', ')

/** No browser sends this type across origins without asking first. */
const jsonType = /^application\/(graphql\+)?json\s*(;|$)/i

/**
 * Why an operation by HTTP is refused before its body is read: one that a page of another origin could make a browser
 * send (CSRF), or whose body is too large or of unknown size. `undefined` where it is not.
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

/** The path of a request without its query, as sent: not decoded, and not normalised, so that one name is one path. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

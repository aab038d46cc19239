import type { IncomingHttpHeaders } from 'node:http'
import { ApiStatusError, failureStatus, type Status } from '../../kubernetes/status.ts'

/** How much of a refusal is read, bytes; the rest is of no use to anyone. */
const maxRefusalBytes = 64 * 1024

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

/**
 * Reads a response outside 2xx. Servers answer with a Status; proxies, and a few handlers of the API server itself,
 * with a text, which becomes the message of one.
 */
export async function readRefusal(
  request: string,
  httpStatus: number,
  headers: IncomingHttpHeaders,
  body: AsyncIterable<Buffer>,
): Promise<ApiStatusError> {
  const text = await readText(body)
  const status = parseStatus(text) ?? statusOfText(httpStatus, text)
  return new ApiStatusError(request, httpStatus, status, retryAfterMsOf(headers['retry-after']))
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= maxRefusalBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxRefusalBytes).toString('utf8')
}

function parseStatus(text: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isStatus = typeof value === 'object' && value !== null && 'kind' in value
    return isStatus && value.kind === 'Status' ? (value as Status) : undefined
  } catch {
    return undefined
  }
}

function statusOfText(httpStatus: number, text: string): Status {
  const title = /<title>([^<]*)<\/title>/i.exec(text)?.[1]
  const message = (title ?? text).replaceAll(/\s+/g, ' ').trim().slice(0, 500)
  const reason = reasons[httpStatus] ?? 'Unknown'
  return failureStatus(httpStatus, reason, message === '' ? 'the response has no body' : message)
}

/** `Retry-After` (RFC 9110, 10.2.3), seconds or a date, in milliseconds. */
function retryAfterMsOf(header: string | undefined): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

/*
 * Small requests to an API server, whose responses are held in memory and parsed. One deadline covers the whole request,
 * including the repetition after a 429 with `Retry-After`, which happens only if the deadline allows. {@link
 * Transport.send} handles connections that the server has just closed, and credentials that have ended.
 */

import { type ApiStatusError, isTooManyRequests } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { parseExact } from '../../lib/json.ts'
import { readTextUpTo } from '../../lib/read-body.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'
import { warningTexts } from './warnings.ts'

/** A small request: the whole response is held in memory. */
export interface JsonRequestOptions {
  /** Sent as JSON. */
  readonly body?: unknown
  /** Default: `application/json`. Patches need their own type. */
  readonly contentType?: string
  /** Default: `application/json`. */
  readonly accept?: string
  /** Keeps integers that a double cannot hold, as `JSON.rawJSON` of their digits. */
  readonly exact?: boolean
  /** Whether to repeat the request after a 429, once `Retry-After` has passed, if that is before the deadline. */
  readonly waitsAsTold?: boolean
  /** Receives the texts of the response's `Warning` headers, if it is 2xx. */
  readonly warned?: (texts: readonly string[]) => void
  /** The deadline of the whole exchange, including retries. */
  readonly deadlineMs: number
  /** Larger responses are an error. */
  readonly maxBytes: number
  readonly signal: AbortSignal
}

const json = 'application/json'
/** The shortest pause, such as after `Retry-After: 0`. */
const leastPauseMs = 100

/** 2^53 has sixteen digits. */
const longInteger = /\d{16}/

/** A response is not JSON, or too large. */
export class UnexpectedAnswerError extends CodedError {
  constructor(
    request: string,
    problem: string,
    value?: unknown,
    hint = 'check that the address is that of an API server, not of a proxy',
  ) {
    super('UNEXPECTED_ANSWER', `${request}: ${problem}`, { value, hint })
  }
}

/**
 * Sends a request and parses its response, by `read`; `undefined` if the response is empty. Rejects as {@link Transport.send} does,
 * and with {@link UnexpectedAnswerError}.
 */
export async function requestJson(
  transport: Transport,
  method: TransportRequest['method'],
  path: string,
  options: JsonRequestOptions,
  read: (text: string) => unknown = JSON.parse,
): Promise<unknown> {
  const { body: content, contentType = json, accept = json, deadlineMs, maxBytes, signal } = options
  const request = {
    method,
    path,
    headers: { Accept: accept, ...(content !== undefined && { 'Content-Type': contentType }) },
    ...(content !== undefined && { body: JSON.stringify(content) }),
  }
  const endsAtMs = performance.now() + deadlineMs
  let leftMs = deadlineMs
  let response: TransportResponse | undefined
  while (response === undefined) {
    const deadlines = { responseDeadlineMs: leftMs, totalDeadlineMs: leftMs }
    try {
      response = await transport.send({ ...request, ...deadlines }, signal)
    } catch (error) {
      const isTold = options.waitsAsTold === true && isTooManyRequests(error)
      const { retryAfterMs = Infinity } = isTold ? (error as ApiStatusError) : {}
      const pauseMs = Math.max(leastPauseMs, retryAfterMs)
      if (performance.now() + pauseMs >= endsAtMs) throw error
      await transport.pause(pauseMs, signal)
      leftMs = Math.ceil(endsAtMs - performance.now())
    }
  }
  const warnings = options.warned === undefined ? [] : warningTexts(response.headers['warning'])
  if (warnings.length > 0) options.warned?.(warnings)
  const title = `${method} ${path}`
  const { text, bytes } = await readTextUpTo(maxBytes, response.body)
  if (bytes > maxBytes) {
    const problem = `the answer is larger than ${maxBytes} bytes`
    const hint = 'ask for less at a time, or raise maxAnswerBytes of the connection'
    throw new UnexpectedAnswerError(title, problem, bytes, hint)
  }
  if (text === '') return undefined
  try {
    return options.exact === true && longInteger.test(text) ? parseExact(text) : read(text)
  } catch {
    const start = text.slice(0, 80)
    throw new UnexpectedAnswerError(title, `not JSON: ${JSON.stringify(start)}`, start)
  }
}

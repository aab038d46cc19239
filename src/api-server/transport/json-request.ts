import { type ApiStatusError, isTooManyRequests } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { parseExact } from '../../lib/json.ts'
import { readUpTo } from '../../lib/read-body.ts'
import type { Transport, TransportRequest } from './transport.ts'
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
  /** After a 429, sends the request again when its `Retry-After` has passed, if that is before the deadline. */
  readonly waitsAsTold?: boolean
  /** Receives the texts of the response's `Warning` headers, if it is 2xx. */
  readonly warned?: (texts: readonly string[]) => void
  /** For the whole exchange, including retries. */
  readonly deadlineMs: number
  /** Larger responses are an error. */
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** `Retry-After: 0` gives no time. */
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
 * Sends a request and parses its response; `undefined` if that is empty. Rejects as {@link Transport.send} does, and
 * with {@link UnexpectedAnswerError}.
 */
export async function requestJson(
  transport: Transport,
  method: TransportRequest['method'],
  path: string,
  options: JsonRequestOptions,
): Promise<unknown> {
  const endsAtMs = performance.now() + options.deadlineMs
  for (
    let deadlineMs = options.deadlineMs;
    ;
    deadlineMs = Math.ceil(endsAtMs - performance.now())
  ) {
    try {
      return await requestOnce(transport, method, path, { ...options, deadlineMs })
    } catch (error) {
      if (options.waitsAsTold !== true || !isTooManyRequests(error)) throw error
      const { retryAfterMs } = error as ApiStatusError
      if (retryAfterMs === undefined) throw error
      const pauseMs = Math.max(leastPauseMs, retryAfterMs)
      if (performance.now() + pauseMs >= endsAtMs) throw error
      await transport.pause(pauseMs, options.signal)
    }
  }
}

async function requestOnce(
  transport: Transport,
  method: TransportRequest['method'],
  path: string,
  options: JsonRequestOptions,
): Promise<unknown> {
  const { body: content, contentType, accept, deadlineMs, exact, maxBytes, signal } = options
  const title = `${method} ${path}`
  const headers = { Accept: accept ?? 'application/json' }
  const withBody =
    content === undefined
      ? { headers }
      : {
          headers: { ...headers, 'Content-Type': contentType ?? 'application/json' },
          body: JSON.stringify(content),
        }
  const { body, headers: answered } = await transport.send(
    { method, path, ...withBody, responseDeadlineMs: deadlineMs, totalDeadlineMs: deadlineMs },
    signal,
  )
  const warnings = options.warned === undefined ? [] : warningTexts(answered['warning'])
  if (warnings.length > 0) options.warned?.(warnings)
  const bytes = await readUpTo(maxBytes, body)
  if (bytes.length > maxBytes) {
    const problem = `the answer is larger than ${maxBytes} bytes`
    const hint = 'ask for less at a time, or raise maxAnswerBytes of the connection'
    throw new UnexpectedAnswerError(title, problem, bytes.length, hint)
  }
  const text = bytes.toString('utf8')
  if (text === '') return undefined
  try {
    return exact === true && longInteger.test(text) ? parseExact(text) : JSON.parse(text)
  } catch {
    const start = text.slice(0, 80)
    throw new UnexpectedAnswerError(title, `not JSON: ${JSON.stringify(start)}`, start)
  }
}

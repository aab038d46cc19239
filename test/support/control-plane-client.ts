import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'

/** A request to an API server, as raw as a test needs it. */
export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Sent as JSON. */
  readonly body?: unknown
  /** `application/json` unless given; the patch types need theirs. */
  readonly contentType?: string
  readonly accept?: string
  /** Instead of the plane's own token. */
  readonly token?: string
  /** For the whole answer, body included; 30 s unless given. */
  readonly timeoutMs?: number
}

/** A whole answer. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body parsed as JSON; throws when it is not. */
  readonly json: () => unknown
}

/** Where requests go, and as whom. */
export interface ApiTarget {
  readonly url: string
  readonly ca: string
  readonly token: string
  readonly agent?: Agent
}

/** Sends one request and reads its whole answer. Any status is an answer; only transport failures and the deadline throw. */
export const requestApiServer = async (
  target: ApiTarget,
  path: string,
  options: ApiRequest = {},
): Promise<ApiAnswer> => {
  const sent = options.body === undefined ? undefined : JSON.stringify(options.body)
  const message = request(new URL(path, target.url), {
    method: options.method ?? 'GET',
    ca: target.ca,
    ...(target.agent && { agent: target.agent }),
    headers: {
      authorization: `Bearer ${options.token ?? target.token}`,
      accept: options.accept ?? 'application/json',
      ...(sent !== undefined && {
        'content-type': options.contentType ?? 'application/json',
        // Of DELETE, Node says it only where it is told.
        'content-length': Buffer.byteLength(sent),
      }),
    },
    signal: AbortSignal.timeout(options.timeoutMs ?? 30_000),
  })
  const answered = once(message, 'response')
  message.end(sent)
  const [response] = (await answered) as [IncomingMessage]
  const body = await text(response)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: body,
    json: () => JSON.parse(body),
  }
}

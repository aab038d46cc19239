import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'

/** Names a request in logs, in the audit log and in the errors of the gateway. */
export const requestIdHeader = 'x-request-id'

/** What proxies write: UUIDs, hexadecimal digits, base64. Anything else could be mistaken for a part of a log line. */
const wellFormed = /^[\w.:+/=@-]{1,128}$/

/** The id that a proxy or the client has given to a request, or a new one. */
export function requestIdOf({ [requestIdHeader]: given }: IncomingHttpHeaders): string {
  return typeof given === 'string' && wellFormed.test(given) ? given : randomUUID()
}

/** The id of the request that is answered. */
export function answeredRequestId(response: ServerResponse): string {
  return String(response.getHeader(requestIdHeader))
}

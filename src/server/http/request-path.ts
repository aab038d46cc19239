import type { IncomingMessage } from 'node:http'

/** The path of a request without its query, as sent: not decoded, and not normalised, so that one name is one path. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

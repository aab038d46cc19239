import { STATUS_CODES, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Why a request gets no further: a status and one sentence for a person. */
export interface Refusal {
  readonly status: number
  readonly reason: string
  readonly headers?: OutgoingHttpHeaders
}

/**
 * Answers a request with plain text, without any CORS header, and closes the connection, since a body that nobody wants
 * may still be on its way.
 */
export function refuseRequest(
  response: ServerResponse,
  { status, reason, headers }: Refusal,
): void {
  const body = Buffer.from(`${reason}\n`)
  response.writeHead(status, {
    ...headers,
    'content-type': 'text/plain; charset=utf-8',
    'content-length': body.length,
    connection: 'close',
  })
  response.end(body)
}

/** How long a refusal may take to be sent to somebody who does not read. */
const refusalDeadlineMs = 5_000

/** The same for a request to upgrade, which has no response object. */
export function refuseUpgrade(socket: Duplex, { status, reason }: Refusal): void {
  const body = `${reason}\n`
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
  ]
  const timer = setTimeout(() => socket.destroy(), refusalDeadlineMs)
  socket.on('error', () => socket.destroy())
  socket.once('close', () => clearTimeout(timer))
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

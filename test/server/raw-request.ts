import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** What a server answered on a socket, up to its first byte of body or further. */
export interface RawAnswer {
  readonly status: number
  /** Lower case. */
  readonly head: string
  readonly body: string
  readonly socket: Socket
}

/** Sends lines as they are, so that nothing corrects the headers, and reads the first answer. */
export async function rawRequest(
  port: number,
  lines: readonly string[],
  body = '',
): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  let text = ''
  const deadline = setTimeout(() => socket.destroy(new Error('no answer within 10 s')), 10_000)
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) continue
    const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0)
    if (text.length >= end + 4 + length) break
  }
  clearTimeout(deadline)
  const [head = '', ...rest] = text.split('\r\n\r\n')
  return {
    status: Number(head.split(' ')[1]),
    head: head.toLowerCase(),
    body: rest.join('\r\n\r\n'),
    socket,
  }
}

/** The lines of a request to open a WebSocket; headers given replace these. */
export function upgradeLines(headers: Record<string, string>): readonly string[] {
  const all: Record<string, string> = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'graphql-transport-ws',
    ...headers,
  }
  return [
    'GET /graphql HTTP/1.1',
    ...Object.entries(all).map(([name, value]) => `${name}: ${value}`),
  ]
}

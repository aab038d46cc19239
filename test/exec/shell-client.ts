import { once } from 'node:events'
import { WebSocket } from 'ws'
import { vi } from 'vitest'

/** How a session has ended. */
export interface ShellEnd {
  readonly type: 'end'
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly exitCode?: number
}

export interface ShellStart {
  readonly authorization?: string
  readonly cluster?: string
  readonly namespace?: string
  readonly pod?: string
  readonly container?: string
  readonly command?: readonly string[]
  readonly tty?: boolean
  readonly columns?: number
  readonly rows?: number
  readonly debug?: { readonly image: string }
}

/** A shell, as a client of `/exec` has it. */
export class ShellClient implements Disposable {
  readonly socket: WebSocket
  /** Standard output and standard error, as they came. */
  output = ''
  errors = ''
  container: string | undefined
  end: ShellEnd | undefined
  closed: { readonly code: number; readonly reason: string } | undefined

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('message', (data, isBinary) => {
      const message = data as Buffer
      if (isBinary) {
        const text = message.subarray(1).toString()
        if (message[0] === 1) this.output += text
        else this.errors += text
        return
      }
      const told = JSON.parse(message.toString()) as ShellEnd | { type: 'open'; container: string }
      if (told.type === 'end') this.end = told
      else this.container = told.container
    })
    socket.once('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
    })
  }

  type(text: string): void {
    this.socket.send(Buffer.concat([Buffer.of(0), Buffer.from(text)]))
  }

  resize(Width: number, Height: number): void {
    const size = JSON.stringify({ Width, Height })
    this.socket.send(Buffer.concat([Buffer.of(4), Buffer.from(size)]))
  }

  endInput(): void {
    this.socket.send(Buffer.of(255, 0))
  }

  async printed(text: string | RegExp): Promise<void> {
    await this.#until(`no ${String(text)}`, () =>
      typeof text === 'string' ? this.output.includes(text) : text.test(this.output),
    )
  }

  async opened(): Promise<void> {
    await this.#until('it is not open', () => (this.container ?? this.end) !== undefined)
  }

  /** The end, once the connection is closed. */
  async ended(): Promise<ShellEnd> {
    await this.#until('it has not ended', () => this.closed !== undefined)
    if (this.end === undefined) throw new Error('it was closed without an end')
    return this.end
  }

  async #until(problem: string, isSo: () => boolean): Promise<void> {
    const look = (): void => {
      if (!isSo()) throw new Error(`${problem}: ${JSON.stringify([this.output, this.end])}`)
    }
    await vi.waitFor(look, { timeout: 60_000, interval: 20 })
  }

  [Symbol.dispose](): void {
    this.socket.terminate()
  }
}

/** By what a client of a gateway with TLS connects. */
export interface ShellTls {
  readonly ca?: string | readonly string[]
  readonly cert?: string
  readonly key?: string
}

/** Opens a WebSocket of `/exec`, without a first message. `url` is that of `/graphql`. */
export async function connectExec(
  url: string,
  headers: Readonly<Record<string, string | string[]>> = {},
  protocol = 'informerql.exec.v1',
  { ca, ...tls }: ShellTls = {},
): Promise<ShellClient> {
  const options = { headers, ...tls, ...(ca !== undefined && { ca: [ca].flat() }) }
  const socket = new WebSocket(
    new URL('/exec', url).href.replace('http', 'ws'),
    [protocol],
    options,
  )
  const client = new ShellClient(socket)
  await once(socket, 'open')
  return client
}

/** Opens a shell in a pod of the namespace `shop`. */
export async function openShell(
  url: string,
  start: ShellStart = {},
  headers?: Readonly<Record<string, string | string[]>>,
  tls?: ShellTls,
): Promise<ShellClient> {
  const client = await connectExec(url, headers, undefined, tls)
  const target = { namespace: 'shop', pod: 'web', command: ['sh'], tty: true }
  client.socket.send(JSON.stringify({ type: 'start', ...target, ...start }))
  return client
}

/** The status with which an upgrade is refused, and the text. */
export async function refusedExec(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  protocol = 'informerql.exec.v1',
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const socket = new WebSocket(new URL('/exec', url).href.replace('http', 'ws'), [protocol], {
    headers,
  })
  socket.on('error', () => {})
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    AsyncIterable<Buffer> & { readonly statusCode?: number },
  ]
  let text = ''
  for await (const part of response) text += part.toString()
  socket.terminate()
  return { status: response.statusCode, text }
}

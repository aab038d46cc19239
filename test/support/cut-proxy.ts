import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy on loopback whose connections can be cut, and whose target can be exchanged. */
export interface CutProxy extends AsyncDisposable {
  readonly port: number
  /** Where new connections go; `undefined` refuses them. */
  target: number | undefined
  /** Breaks every connection. */
  readonly cut: () => void
  /** The same, and nothing listens any more, until {@link listen}. */
  readonly refuse: () => Promise<void>
  readonly listen: () => Promise<void>
  /** Loses what the target answers from now on, until its connections are cut. */
  readonly mute: () => void
  /** Reads nothing more over its connections, until they are cut. */
  readonly stall: () => void
  /** Keeps what is sent over its connections from now on, also over new ones, until {@link flow}. */
  readonly hang: () => void
  readonly flow: () => void
}

export async function startCutProxy(target: number): Promise<CutProxy> {
  const sockets = new Set<Socket>()
  const follow = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  }
  let isHanging = false
  let isMute = false
  let isStalled = false
  let kept: (() => void)[] = []
  const pass = (from: Socket, to: Socket, isAnswer: boolean): void => {
    from.on('data', (chunk) => {
      if (isAnswer && isMute) return
      if (isHanging) kept.push(() => to.write(chunk))
      else if (!to.write(chunk)) from.pause()
    })
    to.on('drain', () => {
      if (!isStalled) from.resume()
    })
    from.once('close', () => to.destroy())
  }
  const flow = (): void => {
    isHanging = false
    for (const send of kept) send()
    kept = []
  }
  const server = createServer((incoming) => {
    follow(incoming)
    if (proxy.target === undefined) {
      incoming.destroy()
      return
    }
    const outgoing = connect(proxy.target, '127.0.0.1')
    follow(outgoing)
    pass(incoming, outgoing, false)
    pass(outgoing, incoming, true)
  })
  let port = 0
  const listen = async (): Promise<void> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  await listen()
  const cut = (): void => {
    isMute = isStalled = false
    for (const socket of sockets) socket.destroy()
  }
  const refuse = async (): Promise<void> => {
    cut()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  const proxy = {
    port,
    target: target as number | undefined,
    cut,
    refuse,
    listen,
    mute: () => {
      isMute = true
    },
    stall: () => {
      isStalled = true
      for (const socket of sockets) socket.pause()
    },
    hang: () => {
      isHanging = true
    },
    flow,
    [Symbol.asyncDispose]: refuse,
  }
  return proxy
}

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
}

export async function startCutProxy(target: number): Promise<CutProxy> {
  const sockets = new Set<Socket>()
  const follow = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer((incoming) => {
    follow(incoming)
    if (proxy.target === undefined) {
      incoming.destroy()
      return
    }
    const outgoing = connect(proxy.target, '127.0.0.1')
    follow(outgoing)
    incoming.pipe(outgoing).pipe(incoming)
    incoming.once('close', () => outgoing.destroy())
    outgoing.once('close', () => incoming.destroy())
  })
  let port = 0
  const listen = async (): Promise<void> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  await listen()
  const cut = (): void => {
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
    [Symbol.asyncDispose]: refuse,
  }
  return proxy
}

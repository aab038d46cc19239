import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy on loopback whose connections can be cut, and whose target can be exchanged. */
export interface CutProxy extends AsyncDisposable {
  readonly port: number
  /** Where new connections go; `undefined` refuses them. */
  target: number | undefined
  /** Breaks every connection. */
  readonly cut: () => void
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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const proxy = {
    port: (server.address() as AddressInfo).port,
    target: target as number | undefined,
    cut,
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy on loopback whose connections go wrong when a test says so. */
export interface LoopbackProxy extends AsyncDisposable {
  readonly port: number
  /** Resets every connection. */
  cut(): void
  /** No byte passes any of today's connections again, and nobody is told. */
  freeze(): void
  /** Resets every connection that is made within this time. */
  refuse(forMs: number): void
}

/** Starts a proxy to another port of 127.0.0.1. */
export async function startLoopbackProxy(targetPort: number): Promise<LoopbackProxy> {
  const sockets = new Set<Socket>()
  let refusedUntilMs = 0

  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket)
    // The other end is told by its own close.
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      other.destroy()
    })
  }

  const server = createServer((client) => {
    if (performance.now() < refusedUntilMs) {
      client.on('error', () => {})
      client.resetAndDestroy()
      return
    }
    const target = connect({ port: targetPort, host: '127.0.0.1' })
    keep(client, target)
    keep(target, client)
    client.pipe(target).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }

  return {
    port: (server.address() as AddressInfo).port,
    cut,
    freeze: () => {
      for (const socket of sockets) socket.unpipe().pause()
    },
    refuse: (forMs) => {
      refusedUntilMs = performance.now() + forMs
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}

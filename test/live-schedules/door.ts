import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** One port before gateways that come and go, whose connections can be cut. */
export class Door implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Where new connections lead; `undefined`: they are cut. */
  port: number | undefined

  private constructor() {
    this.#server = createServer((inner) => {
      if (this.port === undefined) {
        inner.destroy()
        return
      }
      const outer = connect(this.port, '127.0.0.1')
      for (const [from, to] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        this.#sockets.add(from)
        from.pipe(to)
        from.on('error', () => to.destroy())
        from.on('close', () => {
          this.#sockets.delete(from)
          to.destroy()
        })
      }
    })
  }

  static async open(): Promise<Door> {
    const door = new Door()
    door.#server.listen(0, '127.0.0.1')
    await once(door.#server, 'listening')
    return door
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/graphql`
  }

  /** Breaks about half of the connections. */
  cut(random: () => number): void {
    for (const socket of this.#sockets) if (random() < 0.5) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

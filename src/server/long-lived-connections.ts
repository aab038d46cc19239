import { sleep } from '../lib/backoff.ts'

export interface LongLivedConnection {
  /** Asks the client to reconnect as soon as the answers under way have been sent. Idempotent. */
  dismiss(): void
  destroy(): void
}

/** Clients of a stopping server are sent away in groups, this often. */
const groupMs = 100
/** The number of clients that the other replicas take in a second: each reconnects, authenticates and subscribes. */
const clientsPerSecond = 500

/** The WebSockets and event streams of a server. A stop asks their clients to reconnect, which leads them elsewhere. */
export class LongLivedConnections {
  readonly #open = new Set<LongLivedConnection>()
  #isClosed = false

  /** Whether all were dismissed, and no more may be opened. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  add(connection: LongLivedConnection): () => void {
    this.#open.add(connection)
    if (this.#isClosed) connection.dismiss()
    return () => this.#open.delete(connection)
  }

  /**
   * Dismisses all, the oldest first: {@link clientsPerSecond} of them, or more if it took longer than `maxSpreadMs`
   * otherwise. Connections that are opened meanwhile are dismissed last. Dismisses all at once when the signal aborts.
   */
  async dismiss(maxSpreadMs: number, signal: AbortSignal): Promise<void> {
    const all = [...this.#open]
    const spreadMs = Math.min(maxSpreadMs, (all.length * 1000) / clientsPerSecond)
    const groups = Math.ceil(spreadMs / groupMs)
    for (let group = 0; group < groups && !signal.aborted; group++) {
      const size = all.length / groups
      const dismissed = all.slice(Math.round(group * size), Math.round((group + 1) * size))
      for (const connection of dismissed) connection.dismiss()
      await sleep(spreadMs / groups, signal)
    }
    this.#isClosed = true
    for (const connection of this.#open) connection.dismiss()
  }

  destroy(): void {
    for (const connection of this.#open) connection.destroy()
  }
}

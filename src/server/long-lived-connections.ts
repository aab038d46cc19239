import { sleep } from '../lib/backoff.ts'

export interface LongLivedConnection {
  /** Asks the client to reconnect as soon as its running answers have been sent. Idempotent. */
  dismiss(): void
  destroy(): void
}

/** The pause between two groups of clients that a stopping server dismisses. */
const groupMs = 100
/** The number of clients that the other replicas can take per second: each reconnects, authenticates and subscribes. */
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
   * Dismisses all, the oldest first: {@link clientsPerSecond} per second, or more if that would take longer than
   * `maxSpreadMs`. Connections opened meanwhile come last. When the signal aborts, dismisses the rest at once.
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

/*
 * The connections to one API server with the tokens of callers. All uses of one caller within some seconds share a
 * connection, since each costs a TLS handshake. No token is kept: the connections are found by an HMAC under a key of this
 * process.
 */

import { randomBytes } from 'node:crypto'
import { getOrInsert } from '../lib/get-or-insert.ts'
import { KeyedHash } from '../lib/keyed-hash.ts'

/** A connection with the credentials of one caller. Dispose it after use; it stays open for the next use. */
export interface LentServer<S> extends AsyncDisposable {
  readonly server: S
}

interface Entry<S> {
  readonly server: S
  users: number
  /** Closes the connection some time after its last use. */
  timer: NodeJS.Timeout | undefined
}

/** How long an unused connection stays open. */
const idleMs = 15_000
/** Beyond this number of connections, unused ones close. */
const maxServers = 200

export class LentServers<S extends AsyncDisposable> implements AsyncDisposable {
  readonly #open: (token: string) => S
  readonly #hash = new KeyedHash(randomBytes(32))
  readonly #entries = new Map<string, Entry<S>>()

  constructor(open: (token: string) => S) {
    this.#open = open
  }

  lend(token: string): LentServer<S> {
    const key = this.#hash.of(token)
    const lent = getOrInsert(this.#entries, key, () => {
      const isFull = this.#entries.size >= maxServers
      for (const [other, one] of isFull ? this.#entries : []) {
        if (one.users === 0) void this.#close(other, one)
      }
      return { server: this.#open(token), users: 0, timer: undefined }
    })
    clearTimeout(lent.timer)
    lent.users += 1
    let isUsed = true
    return {
      server: lent.server,
      [Symbol.asyncDispose]: () => {
        if (isUsed) {
          isUsed = false
          lent.users -= 1
          if (lent.users === 0 && this.#entries.get(key) === lent) {
            lent.timer = setTimeout(() => void this.#close(key, lent), idleMs)
            lent.timer.unref()
          }
        }
        return Promise.resolve()
      },
    }
  }

  /** Closes all connections, in use or not. */
  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#entries]
    await Promise.allSettled(all.map(([key, entry]) => this.#close(key, entry)))
  }

  async #close(key: string, entry: Entry<S>): Promise<void> {
    clearTimeout(entry.timer)
    this.#entries.delete(key)
    await entry.server[Symbol.asyncDispose]()
  }
}

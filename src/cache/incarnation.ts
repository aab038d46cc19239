import { createHash, randomUUID } from 'node:crypto'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import { Backoff, sleep } from '../lib/backoff.ts'

/** Told by every informer of a cluster, so that it is noticed when another one answers. */
export interface IncarnationObserver {
  /** A watch has begun. */
  watching(): void
  /** The store has come to a position. */
  advanced(position: ResourceVersion): void
}

export interface IncarnationOptions {
  /**
   * By what the cluster is known; `undefined` where it does not say. Rejects where it cannot be asked now, and then it is asked
   * again.
   */
  readonly ask: (signal: AbortSignal) => Promise<string | undefined>
  /** Told when it is another one: nothing that was read before leads to what is read now. */
  readonly renewed: () => void
}

const pauses = { initialMs: 250, maxMs: 30_000 }

/**
 * Which cluster stands behind an address, and which of its histories. Resource versions count within one of them only: they begin
 * again in a cluster that is made anew under the same name, and in one that is restored from a backup, and what was read at a
 * version before says nothing of the same version now.
 */
export class Incarnation {
  readonly #options: IncarnationOptions
  readonly #stop = new AbortController()
  #uid: string | undefined
  /** Of its histories; `''` for the one that it was first known with. */
  #turn = ''
  #isDue = false
  #checking: Promise<void> | undefined

  constructor(options: IncarnationOptions) {
    this.#options = options
  }

  /** By what the cluster is known; `undefined` where that is not known. */
  get uid(): string | undefined {
    return this.#uid
  }

  /** A short text: whoever has another one was somewhere else. The same in every process, unless a restored backup was noticed; `''` where nothing is known. */
  get text(): string {
    if (this.#uid === undefined && this.#turn === '') return ''
    const all = JSON.stringify([this.#uid ?? '', this.#turn])
    return createHash('sha256').update(all).digest('base64url').slice(0, 11)
  }

  /** The cluster has said by what it is known; where that was not known before, it may be what it always was. */
  learn(uid: string | undefined): void {
    if (uid === undefined || uid === this.#uid) return
    const isOther = this.#uid !== undefined
    this.#uid = uid
    if (!isOther) return
    this.#turn = ''
    this.#options.renewed()
  }

  /** A connection was made anew, and whoever answers may be another cluster: asks it, once for all who say so meanwhile. */
  verify(): void {
    this.#isDue = true
    if (this.#stop.signal.aborted) return
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
  }

  /** Its resource versions have gone back, as in a cluster that was restored from a backup. */
  wentBack(): void {
    this.#turn = randomUUID()
    this.#options.renewed()
  }

  /** Asks no more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#checking
  }

  async #check(): Promise<void> {
    const { signal } = this.#stop
    const backoff = new Backoff(pauses)
    while (this.#isDue && !signal.aborted) {
      this.#isDue = false
      try {
        // oxlint-disable-next-line no-await-in-loop -- until it has said so, and again where somebody has asked meanwhile
        const uid = await this.#options.ask(signal)
        if (!signal.aborted) this.learn(uid)
      } catch {
        this.#isDue = true
        // oxlint-disable-next-line no-await-in-loop -- as above
        await sleep(backoff.nextMs(), signal)
      }
    }
  }
}

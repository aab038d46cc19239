import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import type { ListClock } from './list-stages.ts'
import type { StoreContents, StoreEntry } from '../store/store-contents.ts'

/** One step of a resource's history, from the reflector to the store. */
export type Delta =
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
      readonly entry: StoreEntry
      readonly resourceVersion: ResourceVersion
    }
  /** A state that the user's transform refused: the object must not stay in the store as it was before. */
  | {
      readonly type: 'REFUSED'
      readonly key: string
      readonly resourceVersion: ResourceVersion
    }
  /** A whole list: atomic, however long it is. */
  | {
      readonly type: 'REPLACED'
      readonly contents: StoreContents
      readonly resourceVersion: ResourceVersion
      readonly clock: ListClock
      /** Whether objects may look otherwise in it than they did before, with the same resource version. */
      readonly isReread: boolean
    }
  /** A bookmark: moves the resource version and nothing else. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: ResourceVersion }

/** A whole list. */
export type ListDelta = Extract<Delta, { readonly type: 'REPLACED' }>

const maxBatch = 1000

/**
 * The deltas between a reflector and its store, in strict order of arrival across keys (client-go's `RealFIFO`).
 * Bounded: a producer that has filled it waits for {@link room}.
 */
export class DeltaQueue {
  readonly #limit: number
  #deltas: Delta[] = []
  #start = 0
  #arrival: PromiseWithResolvers<void> | undefined
  #room: PromiseWithResolvers<void> | undefined

  constructor(options: { readonly limit: number }) {
    this.#limit = options.limit
  }

  get length(): number {
    return this.#deltas.length - this.#start
  }

  get isFull(): boolean {
    return this.length >= this.#limit
  }

  push(delta: Delta): void {
    this.#deltas.push(delta)
    this.#arrival?.resolve()
    this.#arrival = undefined
  }

  /** Resolves when the queue is below its limit: at once, unless the consumer has fallen behind. */
  async room(signal: AbortSignal): Promise<void> {
    while (this.isFull && !signal.aborted) {
      this.#room ??= Promise.withResolvers()
      await this.#room.promise
    }
  }

  /**
   * The deltas in batches of at most 1,000, each key at most once per batch, a REPLACED always alone. Ends when the
   * signal is aborted; what is queued then is not delivered.
   */
  async *batches(signal: AbortSignal): AsyncGenerator<readonly Delta[], void, void> {
    const stop = () => {
      this.#arrival?.resolve()
      this.#room?.resolve()
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      while (!signal.aborted) {
        if (this.length === 0) {
          this.#arrival ??= Promise.withResolvers()
          await this.#arrival.promise
          continue
        }
        yield this.#take()
      }
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  #take(): readonly Delta[] {
    const keys = new Set<string>()
    let end = this.#start
    while (end < this.#deltas.length && end - this.#start < maxBatch) {
      const delta = this.#deltas[end]
      if (delta === undefined) break
      if (delta.type === 'REPLACED') {
        if (end === this.#start) end += 1
        break
      }
      if (delta.type !== 'BOOKMARK') {
        const key = delta.type === 'REFUSED' ? delta.key : delta.entry.key
        if (keys.has(key)) break
        keys.add(key)
      }
      end += 1
    }
    const batch = this.#deltas.slice(this.#start, end)
    this.#start = end
    if (this.#start === this.#deltas.length) {
      this.#deltas = []
      this.#start = 0
    } else if (this.#start > 4 * maxBatch) {
      this.#deltas = this.#deltas.slice(this.#start)
      this.#start = 0
    }
    if (this.length < this.#limit) {
      this.#room?.resolve()
      this.#room = undefined
    }
    return batch
  }
}

import type { Change } from '../store/change.ts'
import { Listener, type ListenerOptions } from './listener.ts'

export interface ProcessorOptions {
  /** Everything in the store now: as additions, or for a resync as modifications that change nothing. */
  readonly snapshot: (type: 'ADDED' | 'MODIFIED') => Change[]
}

/** Hands every change of a store to every listener (client-go's `sharedProcessor`). */
export class Processor {
  /** Each with the timer of its resync. */
  readonly #listeners = new Map<Listener, NodeJS.Timeout | undefined>()
  readonly #snapshot: ProcessorOptions['snapshot']
  #synced = false

  constructor(options: ProcessorOptions) {
    this.#snapshot = options.snapshot
  }

  get size(): number {
    return this.#listeners.size
  }

  /**
   * Adds a listener. In the same tick it is given everything that the store holds, unless `replay` is false; whatever
   * changes later follows.
   */
  listen(options: ListenerOptions & { readonly replay?: boolean } = {}): Listener {
    const listener = new Listener(
      { snapshot: this.#snapshot, remove: (ended) => this.#remove(ended) },
      options,
    )
    this.#listeners.set(listener, resyncTimer(listener, options.resyncPeriodMs))
    if (this.#synced) {
      listener.completeInitial(options.replay === false ? [] : this.#snapshot('ADDED'))
    }
    return listener
  }

  /** The store's writer has applied these. */
  distribute(changes: readonly Change[]): void {
    for (const listener of this.#listeners.keys()) listener.push(changes)
  }

  /** The first whole list has been applied: these are its objects. */
  distributeInitial(changes: readonly Change[]): void {
    this.#synced = true
    for (const listener of this.#listeners.keys()) listener.completeInitial(changes)
  }

  /** Ends all listeners. */
  close(): void {
    for (const listener of this.#listeners.keys()) listener.close()
  }

  #remove(listener: Listener): void {
    clearInterval(this.#listeners.get(listener))
    this.#listeners.delete(listener)
  }
}

/** client-go's least resync period. */
const minResyncPeriodMs = 1000

function resyncTimer(listener: Listener, periodMs = 0): NodeJS.Timeout | undefined {
  if (periodMs <= 0) return undefined
  const timer = setInterval(() => listener.resync(), Math.max(minResyncPeriodMs, periodMs))
  // An informer that runs keeps the process alive; its resyncs alone need not.
  return timer.unref()
}

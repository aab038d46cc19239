import type { Change } from './change.ts'
import { Listener, type ListenerOptions } from './listener.ts'

export interface ProcessorOptions {
  /** Everything in the store now, as changes of type ADDED. */
  readonly snapshot: () => Change[]
}

/** Hands every change of a store to every listener (client-go's `sharedProcessor`). */
export class Processor {
  readonly #listeners = new Set<Listener>()
  readonly #snapshot: () => Change[]
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
      { snapshot: this.#snapshot, remove: (ended) => this.#listeners.delete(ended) },
      options,
    )
    this.#listeners.add(listener)
    if (this.#synced) listener.completeInitial(options.replay === false ? [] : this.#snapshot())
    return listener
  }

  /** The store's writer has applied these. */
  distribute(changes: readonly Change[]): void {
    for (const listener of this.#listeners) listener.push(changes)
  }

  /** The first whole list has been applied: these are its objects. */
  distributeInitial(changes: readonly Change[]): void {
    this.#synced = true
    for (const listener of this.#listeners) listener.completeInitial(changes)
  }

  /** Ends all listeners. */
  close(): void {
    for (const listener of this.#listeners) listener.close()
  }
}

import type { SharedInformer } from '../informer/shared-informer.ts'
import type { CachedResource } from './cached-resource.ts'
import type { UnreadableResourceError } from './cache-errors.ts'

/**
 * The right to read one cached resource: while somebody holds one, its informer runs. Whoever acquires a lease gives
 * it back by disposing of it, once or more often.
 */
export class Lease implements Disposable {
  readonly #cached: CachedResource
  #released = false

  constructor(cached: CachedResource) {
    this.#cached = cached
  }

  /** To be read where {@link unreadable} has no objection. */
  get informer(): SharedInformer {
    return this.#cached.informer
  }

  /** Whether the resource has been stopped all the same: by a bound, or with the gateway. A new lease may do. */
  get isStopped(): boolean {
    return this.#cached.isStopped
  }

  /** Why the resource cannot be read now; `undefined` where it can. Tells the present, not what once was. */
  unreadable(): UnreadableResourceError | undefined {
    return this.#cached.unreadable()
  }

  /**
   * Waits for the first sync, through failures that may pass. Rejects with {@link UnreadableResourceError}: at once where
   * the failure will last, else after `deadlineMs`.
   */
  ready(deadlineMs: number): Promise<void> {
    return this.#cached.ready(deadlineMs)
  }

  /** See {@link CachedResource.makeIndex}. */
  makeIndex(name: string): Promise<void> | undefined {
    return this.#cached.makeIndex(name)
  }

  [Symbol.dispose](): void {
    if (this.#released) return
    this.#released = true
    this.#cached.released()
  }
}

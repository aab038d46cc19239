import type { SharedInformer } from '../informer/shared-informer.ts'
import type { ResourceHistory } from './resource-history.ts'
import type { CachedResource } from './cached-resource.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { UnreadableResourceError } from './cache-errors.ts'

/** Indexes that are built when they are asked for, by name. */
export interface WantedIndexes {
  /** Those without which the resource cannot be read. */
  readonly needed?: Iterable<string> | undefined
  /** Those that make reading faster. */
  readonly useful?: Iterable<string> | undefined
}

/**
 * The right to read one cached resource: while somebody holds one, its informer runs. Whoever acquires a lease gives
 * it back by disposing of it, once or more often.
 */
export class Lease implements Disposable {
  readonly #cached: CachedResource
  readonly #indexes = new Set<string>()
  #released = false

  constructor(cached: CachedResource) {
    this.#cached = cached
  }

  /** To be read where {@link unreadable} has no objection. */
  get informer(): SharedInformer {
    return this.#cached.informer
  }

  /** What has happened to the resource lately. */
  get history(): ResourceHistory {
    return this.#cached.history
  }

  /** Whether the resource has been stopped all the same: by a bound, or with the gateway. A new lease may do. */
  get isStopped(): boolean {
    return this.#cached.isStopped
  }

  /**
   * Has indexes built that are built when they are asked for. The resource is not readable, and not ready, before it has
   * those of `needed`; the others are built by the way.
   */
  want({ needed = [], useful = [] }: WantedIndexes): void {
    for (const name of needed) this.#indexes.add(name)
    void this.#cached.makeIndexes([...needed, ...useful])
  }

  /** Why the resource cannot be read now; `undefined` where it can. Tells the present, not what once was. */
  unreadable(): UnreadableResourceError | undefined {
    return this.#cached.unreadable() ?? this.#cached.unindexed(this.#indexes)
  }

  /**
   * Waits for the first sync, through failures that may pass. Rejects with {@link UnreadableResourceError}: at once where
   * the failure will last, else after `deadlineMs`.
   */
  async ready(deadlineMs: number): Promise<void> {
    const start = performance.now()
    await this.#cached.ready(deadlineMs)
    const built = this.#cached.makeIndexes([...this.#indexes])
    if (built !== undefined) {
      const restMs = Math.max(0, deadlineMs - (performance.now() - start))
      await withDeadline('indexing', built, restMs).catch(() => {})
    }
    const failure = this.unreadable()
    if (failure !== undefined) throw failure
  }

  /** See {@link CachedResource.makeIndexes}. */
  makeIndex(name: string): Promise<unknown> | undefined {
    return this.#cached.makeIndexes([name])
  }

  [Symbol.dispose](): void {
    if (this.#released) return
    this.#released = true
    this.#cached.released()
  }
}

import { checkedWait, type WaitOptions, withDeadline } from '../../lib/deadline.ts'
import { checkedOptions, InvalidOptionError, type OptionChecks } from '../../lib/options.ts'
import { DelayedKeys } from './delayed-keys.ts'
import { keyIdentity } from './key-identity.ts'
import { FifoKeys, type PendingKeys } from './pending-keys.ts'
import { defaultControllerRateLimiter, type RateLimiter } from './rate-limiter.ts'
import {
  workQueueChecks,
  type WorkQueueObserver,
  type WorkQueueOptions,
} from './work-queue-options.ts'

type Taker<K> = (key: K | undefined) => void

/** A key, and `performance.now()` of what has been done with it. */
interface TimedKey<K> {
  readonly key: K
  readonly atMs: number
}

/**
 * The keys that a controller still has to look at (client-go's `TypedRateLimitingInterface`, `util/workqueue/queue.go`,
 * `delaying_queue.go`, `rate_limiting_queue.go`). It holds keys instead of objects: who takes one reads the newest state
 * from the lister.
 *
 * A key is in it at most once, however often it is added, so the number of distinct keys is its bound. It is never
 * with two workers at once: one that is added while it is being processed waits for {@link done}, and then comes once
 * more. No add after the last {@link get} of a key is without effect.
 *
 * Keys are strings, or any value that JSON can write: two of equal content are one key.
 */
export class WorkQueue<K = string> implements AsyncDisposable {
  readonly #pending: PendingKeys<K>
  readonly #rateLimiter: RateLimiter
  readonly #observer: WorkQueueObserver<K>
  readonly #identify: (key: K) => string
  readonly #delayed: DelayedKeys<K> = new DelayedKeys((key) => this.add(key))
  /** Has to be processed, since when; by identity. In `#pending`, or in `#processing` too. */
  readonly #dirty = new Map<string, TimedKey<K>>()
  /** With a worker, since when; by identity. */
  readonly #processing = new Map<string, TimedKey<K>>()
  readonly #takers = new Set<Taker<K>>()
  #idle: PromiseWithResolvers<void> | undefined
  #shuttingDown = false

  constructor(given: WorkQueueOptions<K>) {
    const options = checkedOptions(
      'a work queue',
      given,
      workQueueChecks as OptionChecks<WorkQueueOptions<K>>,
    )
    this.#pending = options.pending ?? new FifoKeys()
    this.#rateLimiter = options.rateLimiter ?? defaultControllerRateLimiter()
    this.#observer = options.observer ?? {}
    this.#identify = options.identify ?? keyIdentity
  }

  /** How many keys {@link get} could hand out now. */
  get length(): number {
    return this.#pending.length
  }

  /** How many keys have to be processed, those included that are still with a worker from before. */
  get depth(): number {
    return this.#dirty.size
  }

  /** How many keys wait for their delay. */
  get delayed(): number {
    return this.#delayed.size
  }

  /** The keys that are with a worker. */
  get processing(): readonly K[] {
    return Array.from(this.#processing.values(), ({ key }) => key)
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown
  }

  /** For how long the oldest key in work has been there; 0 when there is none. */
  get longestRunningMs(): number {
    const [oldest] = this.#processing.values()
    return oldest === undefined ? 0 : performance.now() - oldest.atMs
  }

  /** The time that all keys in work have taken so far, together. */
  get unfinishedWorkMs(): number {
    const nowMs = performance.now()
    let sumMs = 0
    for (const { atMs } of this.#processing.values()) sumMs += nowMs - atMs
    return sumMs
  }

  /** The text that tells this key from others. */
  identify(key: K): string {
    return this.#identify(key)
  }

  /** The key has to be processed (again). False when it was ignored: the queue is shutting down. */
  add(key: K): boolean {
    if (this.#shuttingDown) return false
    const id = this.#identify(key)
    const isProcessing = this.#processing.has(id)
    if (this.#dirty.has(id)) {
      if (!isProcessing) this.#pending.touch(key)
      return true
    }
    this.#dirty.set(id, { key, atMs: performance.now() })
    this.#observer.added?.(key)
    if (isProcessing) return true
    this.#pending.push(key)
    this.#handOut()
    return true
  }

  /**
   * Adds the key when `delayMs` have passed, or at once when that is not above 0. A key that waits already keeps the
   * earlier moment. False when it was ignored: the queue is shutting down. Throws `InvalidOptionError` when the delay
   * is no finite number.
   */
  addAfter(key: K, delayMs: number): boolean {
    if (!Number.isFinite(delayMs)) {
      throw new InvalidOptionError('delayMs', delayMs, 'a finite number of milliseconds')
    }
    if (this.#shuttingDown) return false
    this.#observer.retried?.(key, delayMs)
    if (delayMs <= 0) return this.add(key)
    this.#delayed.add(this.#identify(key), key, delayMs)
    return true
  }

  /** Adds the key when the rate limiter allows it. False when it was ignored: the queue is shutting down. */
  addRateLimited(key: K): boolean {
    return this.addAfter(key, this.#rateLimiter.when(this.#identify(key)))
  }

  /** The next retry of the key waits as the first one did. Does not take it from the queue. */
  forget(key: K): void {
    this.#rateLimiter.forget(this.#identify(key))
  }

  /** How many times the key was added by {@link addRateLimited} since it was last forgotten. */
  numRequeues(key: K): number {
    return this.#rateLimiter.numRequeues(this.#identify(key))
  }

  /**
   * Waits for a key and takes it: {@link done} must follow. `undefined` when the queue is shutting down and empty.
   * Waits for as long as there is nothing to do; the abort of `signal` ends that by a rejection with its reason, and
   * never costs a key.
   */
  async get(signal?: AbortSignal): Promise<K | undefined> {
    signal?.throwIfAborted()
    const key = this.#take()
    if (key !== undefined || this.#shuttingDown) return key
    const { promise, resolve, reject } = Promise.withResolvers<K | undefined>()
    const abort = () => {
      if (this.#takers.delete(resolve)) reject(signal?.reason as Error)
    }
    this.#takers.add(resolve)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return await promise
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** The worker is done with the key, successfully or not. Ignored for a key that is not in work. */
  done(key: K): void {
    const id = this.#identify(key)
    const taken = this.#processing.get(id)
    if (taken === undefined) return
    this.#processing.delete(id)
    this.#observer.finished?.(taken.key, performance.now() - taken.atMs)
    const again = this.#dirty.get(id)
    if (again !== undefined) {
      this.#pending.push(again.key)
      this.#handOut()
    }
    this.#checkIdle()
  }

  /**
   * From now on whatever is added is ignored. Keys in the queue are still handed out; those that wait for their delay
   * are dropped, as in client-go, and returned. Ends the wait of {@link shutDownWithDrain}. Idempotent.
   */
  shutDown(): readonly K[] {
    const dropped = this.#beginShutDown()
    this.#idle?.resolve()
    this.#idle = undefined
    return dropped
  }

  /**
   * As {@link shutDown}, and waits until every key in the queue has been taken and is done. Rejects with `DeadlineError`
   * or the signal's reason. (client-go waits for the keys in work only, and without a deadline.)
   */
  async shutDownWithDrain(options: WaitOptions = {}): Promise<readonly K[]> {
    const { deadlineMs, signal } = checkedWait(options)
    const dropped = this.#beginShutDown()
    this.#idle ??= Promise.withResolvers()
    this.#checkIdle()
    await withDeadline('the drain of the work queue', this.#idle.promise, deadlineMs, signal)
    return dropped
  }

  /** As {@link shutDown}: no timer is left, and nobody waits for a key. Whoever holds one still calls {@link done}. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.shutDown()
  }

  #beginShutDown(): readonly K[] {
    this.#shuttingDown = true
    // Somebody waits only while nothing is pending.
    for (const taker of this.#takers) taker(undefined)
    this.#takers.clear()
    return this.#delayed.clear()
  }

  #take(): K | undefined {
    const key = this.#pending.pop()
    if (key === undefined) return undefined
    const id = this.#identify(key)
    const nowMs = performance.now()
    const addedMs = this.#dirty.get(id)?.atMs ?? nowMs
    this.#dirty.delete(id)
    this.#processing.set(id, { key, atMs: nowMs })
    this.#observer.started?.(key, nowMs - addedMs)
    return key
  }

  #handOut(): void {
    for (const taker of this.#takers) {
      const key = this.#take()
      if (key === undefined) return
      this.#takers.delete(taker)
      taker(key)
    }
  }

  #checkIdle(): void {
    if (this.#dirty.size === 0 && this.#processing.size === 0 && this.#shuttingDown) {
      this.#idle?.resolve()
    }
  }
}

/** Creates a work queue, empty and open. */
export function createWorkQueue<K = string>(options: WorkQueueOptions<K> = {}): WorkQueue<K> {
  return new WorkQueue(options)
}

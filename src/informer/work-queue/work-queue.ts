import { checkedWait, maxTimerMs, type WaitOptions, withDeadline } from '../../lib/deadline.ts'
import {
  aFunction,
  anObject,
  checkedOptions,
  InvalidOptionError,
  type OptionChecks,
} from '../../lib/options.ts'
import { defaultControllerRateLimiter, type RateLimiter } from './rate-limiter.ts'

/**
 * How urgent a key is: `low` keys wait until no `normal` key waits (controller-runtime's priority queue, with two
 * levels).
 */
export type KeyPriority = 'low' | 'normal'

/** Options of an add. */
export interface AddOptions {
  /**
   * Default: `normal`; for a delayed add of a key that a worker has, the priority with which the worker took it. A key
   * that waits already keeps the higher priority.
   */
  readonly priority?: KeyPriority
}

/**
 * The order in which keys are handed out (client-go's `workqueue.Queue`). A key is not pushed again before it is
 * popped.
 */
export interface PendingKeys<K = string> {
  readonly length: number
  push(key: K, priority: KeyPriority): void
  /** The next key; `undefined` if there is none. */
  pop(): K | undefined
  /** A waiting key was added again; `priority` is the higher one of its adds. */
  touch(key: K, priority: KeyPriority): void
}

/**
 * Reports for metrics (client-go's `MetricsProvider`, `util/workqueue/metrics.go`). Every method is optional and must
 * not throw. Read gauges from the queue: `depth`, `longestRunningMs`, `unfinishedWorkMs`.
 */
export interface WorkQueueObserver<K = string> {
  /** A key needs processing that did not before. */
  added?(key: K): void
  /** A worker has taken a key, `latencyMs` after it was added. */
  started?(key: K, latencyMs: number): void
  /** The worker is done with the key. */
  finished?(key: K, workMs: number): void
  /** A key was added with a delay, or by the rate limiter. */
  retried?(key: K, delayMs: number): void
}

/** Options of `createWorkQueue`. */
export interface WorkQueueOptions<K = string> {
  /** The delay of retries; default: client-go's limiter. Do not share it between queues. */
  readonly rateLimiter?: RateLimiter
  /** The order of the keys; default: first in, first out, `normal` ones before `low` ones. */
  readonly pending?: PendingKeys<K>
  readonly observer?: WorkQueueObserver<K>
  /**
   * The text that identifies keys that are not strings: keys with equal texts are one key. Default: JSON with sorted
   * members.
   */
  readonly identify?: (key: K) => string
}

const workQueueChecks: OptionChecks<WorkQueueOptions> = {
  rateLimiter: anObject,
  pending: anObject,
  observer: anObject,
  identify: aFunction,
}

type Taker<K> = (key: K | undefined) => void

/** A key with the `performance.now()` of its last step. */
interface TimedKey<K> {
  readonly key: K
  readonly atMs: number
  priority: KeyPriority
}

/**
 * The keys that a controller still has to process (client-go's `TypedRateLimitingInterface`, `util/workqueue/queue.go`,
 * `delaying_queue.go`, `rate_limiting_queue.go`). It holds keys instead of objects: workers read the newest state from
 * the lister.
 *
 * A key is in the queue at most once, however often it is added, so the number of distinct keys bounds the queue. Two
 * workers never have the same key: a key that is added while it is processed waits for {@link done}, and is then handed
 * out again. So every add after the last {@link get} of a key takes effect.
 *
 * Keys are strings, or any value that JSON can write; keys with equal content are one key.
 */
export class WorkQueue<K = string> implements AsyncDisposable {
  readonly #pending: PendingKeys<K>
  readonly #rateLimiter: RateLimiter
  readonly #observer: WorkQueueObserver<K>
  readonly #identify: (key: K) => string
  readonly #delayed: DelayedKeys<K> = new DelayedKeys((key, priority) =>
    this.add(key, { priority }),
  )
  /**
   * Keys that need processing, by identity, with the time of their adding. They are in `#pending`, or also in
   * `#processing`.
   */
  readonly #dirty = new Map<string, TimedKey<K>>()
  /** Keys with a worker, by identity, with the time they were taken. */
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
    this.#identify = options.identify ?? keyIdentity
    this.#pending = options.pending ?? new FifoKeys(this.#identify)
    this.#rateLimiter = options.rateLimiter ?? defaultControllerRateLimiter()
    this.#observer = options.observer ?? {}
  }

  /** How many keys {@link get} can hand out now. */
  get length(): number {
    return this.#pending.length
  }

  /** How many keys need processing, including those that a worker still processes from before. */
  get depth(): number {
    return this.#dirty.size
  }

  /** How many keys wait for their delay. */
  get delayed(): number {
    return this.#delayed.size
  }

  /** The keys that workers have. */
  get processing(): readonly K[] {
    return Array.from(this.#processing.values(), ({ key }) => key)
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown
  }

  /** How long the oldest key has been with its worker; 0 if there is none. */
  get longestRunningMs(): number {
    const [oldest] = this.#processing.values()
    return oldest === undefined ? 0 : performance.now() - oldest.atMs
  }

  /** The total time that all keys have been with their workers. */
  get unfinishedWorkMs(): number {
    const nowMs = performance.now()
    let sumMs = 0
    for (const { atMs } of this.#processing.values()) sumMs += nowMs - atMs
    return sumMs
  }

  /** The text that identifies a key. */
  identify(key: K): string {
    return this.#identify(key)
  }

  /** Marks a key for processing. Returns false if the queue is shutting down and ignores it. */
  add(key: K, options: AddOptions = {}): boolean {
    if (this.#shuttingDown) return false
    const { priority = 'normal' } = options
    const id = this.#identify(key)
    const isProcessing = this.#processing.has(id)
    const waiting = this.#dirty.get(id)
    if (waiting !== undefined) {
      if (priority === 'normal') waiting.priority = priority
      if (!isProcessing) this.#pending.touch(key, waiting.priority)
      return true
    }
    this.#dirty.set(id, { key, atMs: performance.now(), priority })
    this.#observer.added?.(key)
    if (isProcessing) return true
    this.#pending.push(key, priority)
    this.#handOut()
    return true
  }

  /**
   * Adds a key after `delayMs`, or at once if that is not above 0. A key that waits already keeps the earlier moment.
   * Returns false if the queue is shutting down and ignores it. Throws `InvalidOptionError` if the delay is not a
   * finite number.
   */
  addAfter(key: K, delayMs: number, options: AddOptions = {}): boolean {
    if (!Number.isFinite(delayMs)) {
      throw new InvalidOptionError('delayMs', delayMs, 'a finite number of milliseconds')
    }
    if (this.#shuttingDown) return false
    this.#observer.retried?.(key, delayMs)
    const id = this.#identify(key)
    const priority = options.priority ?? this.#processing.get(id)?.priority ?? 'normal'
    if (delayMs <= 0) return this.add(key, { priority })
    this.#delayed.add(id, key, delayMs, priority)
    return true
  }

  /** Adds a key when the rate limiter allows. Returns false if the queue is shutting down and ignores it. */
  addRateLimited(key: K, options: AddOptions = {}): boolean {
    return this.addAfter(key, this.#rateLimiter.when(this.#identify(key)), options)
  }

  /** Resets the key's failures in the rate limiter. Does not remove the key from the queue. */
  forget(key: K): void {
    this.#rateLimiter.forget(this.#identify(key))
  }

  /** How many times {@link addRateLimited} added the key since {@link forget}. */
  numRequeues(key: K): number {
    return this.#rateLimiter.numRequeues(this.#identify(key))
  }

  /**
   * Waits for a key and takes it; {@link done} must follow. Returns `undefined` when the queue is shutting down and
   * empty. If `signal` aborts, rejects with its reason, and never loses a key.
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

  /** The worker is done with the key, successfully or not. Ignored for keys that no worker has. */
  done(key: K): void {
    const id = this.#identify(key)
    const taken = this.#processing.get(id)
    if (taken === undefined) return
    this.#processing.delete(id)
    this.#observer.finished?.(taken.key, performance.now() - taken.atMs)
    const again = this.#dirty.get(id)
    if (again !== undefined) {
      this.#pending.push(again.key, again.priority)
      this.#handOut()
    }
    this.#checkIdle()
  }

  /**
   * Ignores all further adds. Keys in the queue are still handed out. Keys that wait for their delay are dropped, as in
   * client-go, and returned. Ends the wait of {@link shutDownWithDrain}. Idempotent.
   */
  shutDown(): readonly K[] {
    const dropped = this.#beginShutDown()
    this.#idle?.resolve()
    this.#idle = undefined
    return dropped
  }

  /**
   * Like {@link shutDown}, and waits until every key in the queue was taken and is done. Rejects with `DeadlineError`
   * or the signal's reason. (client-go only waits for keys with workers, and has no deadline.)
   */
  async shutDownWithDrain(options: WaitOptions = {}): Promise<readonly K[]> {
    const { deadlineMs, signal } = checkedWait(options)
    const dropped = this.#beginShutDown()
    this.#idle ??= Promise.withResolvers()
    this.#checkIdle()
    await withDeadline('the drain of the work queue', this.#idle.promise, deadlineMs, signal)
    return dropped
  }

  /**
   * Like {@link shutDown}: leaves no timers and no waiting {@link get}. Workers still call {@link done} for their keys.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.shutDown()
  }

  #beginShutDown(): readonly K[] {
    this.#shuttingDown = true
    // Workers only wait while nothing is pending.
    for (const taker of this.#takers) taker(undefined)
    this.#takers.clear()
    return this.#delayed.clear()
  }

  #take(): K | undefined {
    const key = this.#pending.pop()
    if (key === undefined) return undefined
    const id = this.#identify(key)
    const atMs = performance.now()
    const { atMs: addedMs, priority } = this.#dirty.get(id) ?? { atMs, priority: 'normal' }
    this.#dirty.delete(id)
    this.#processing.set(id, { key, atMs, priority })
    this.#observer.started?.(key, atMs - addedMs)
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

/** Creates an empty, open work queue. */
export function createWorkQueue<K = string>(options: WorkQueueOptions<K> = {}): WorkQueue<K> {
  return new WorkQueue(options)
}

interface DelayedKey<K> {
  readonly id: string
  readonly key: K
  priority: KeyPriority
  dueMs: number
  /** Breaks ties: keys due at the same time come in the order in which they were added. */
  order: number
  position: number
}

/**
 * Keys that wait for a moment of the monotonic clock, each once, at its earliest moment (client-go's
 * `util/workqueue/delaying_queue.go`). A binary heap and one timer; bounded by the number of distinct keys.
 */
class DelayedKeys<K> {
  readonly #heap: DelayedKey<K>[] = []
  readonly #byId = new Map<string, DelayedKey<K>>()
  readonly #due: (key: K, priority: KeyPriority) => void
  #timer: NodeJS.Timeout | undefined
  #timerDueMs = Number.POSITIVE_INFINITY
  #order = 0

  /** Calls `due` with each key when its time has come. */
  constructor(due: (key: K, priority: KeyPriority) => void) {
    this.#due = due
  }

  get size(): number {
    return this.#heap.length
  }

  /** Adds a key. A key with the same `id` keeps the earlier of both moments, and the higher priority. */
  add(id: string, key: K, delayMs: number, priority: KeyPriority): void {
    const dueMs = performance.now() + delayMs
    const waiting = this.#byId.get(id)
    if (waiting === undefined) {
      const added = { id, key, priority, dueMs, order: this.#order++, position: this.#heap.length }
      this.#byId.set(id, added)
      this.#heap.push(added)
      this.#rise(added)
    } else if (dueMs < waiting.dueMs) {
      waiting.dueMs = dueMs
      waiting.order = this.#order++
      this.#rise(waiting)
    }
    if (waiting !== undefined && priority === 'normal') waiting.priority = priority
    this.#arm()
  }

  /** Drops and returns all keys, in no particular order. */
  clear(): readonly K[] {
    const keys = this.#heap.map(({ key }) => key)
    this.#heap.length = 0
    this.#byId.clear()
    this.#arm()
    return keys
  }

  #arm(): void {
    const dueMs = this.#heap[0]?.dueMs ?? Number.POSITIVE_INFINITY
    if (dueMs === this.#timerDueMs) return
    clearTimeout(this.#timer)
    this.#timerDueMs = dueMs
    if (dueMs === Number.POSITIVE_INFINITY) return
    const delayMs = Math.max(1, Math.min(maxTimerMs, Math.ceil(dueMs - performance.now())))
    this.#timer = setTimeout(() => this.#release(), delayMs)
  }

  #release(): void {
    // A timer may fire slightly early, or may have been cut to the longest possible one, so it is set again.
    this.#timerDueMs = Number.POSITIVE_INFINITY
    const nowMs = performance.now()
    for (let first = this.#heap[0]; first !== undefined && first.dueMs <= nowMs;) {
      this.#removeFirst(first)
      this.#due(first.key, first.priority)
      first = this.#heap[0]
    }
    this.#arm()
  }

  #removeFirst(first: DelayedKey<K>): void {
    this.#byId.delete(first.id)
    const last = this.#heap.pop()
    if (last === undefined || last === first) return
    this.#place(last, 0)
    this.#sink(last)
  }

  #rise(entry: DelayedKey<K>): void {
    while (entry.position > 0) {
      const parent = this.#heap[(entry.position - 1) >>> 1]
      if (parent === undefined || isBefore(parent, entry)) return
      this.#swap(entry, parent)
    }
  }

  #sink(entry: DelayedKey<K>): void {
    for (;;) {
      const left = this.#heap[entry.position * 2 + 1]
      const right = this.#heap[entry.position * 2 + 2]
      if (left === undefined) return
      const child = right !== undefined && isBefore(right, left) ? right : left
      if (isBefore(entry, child)) return
      this.#swap(entry, child)
    }
  }

  #swap(one: DelayedKey<K>, other: DelayedKey<K>): void {
    const { position } = one
    this.#place(one, other.position)
    this.#place(other, position)
  }

  #place(entry: DelayedKey<K>, position: number): void {
    entry.position = position
    this.#heap[position] = entry
  }
}

function isBefore(one: DelayedKey<unknown>, other: DelayedKey<unknown>): boolean {
  return one.dueMs === other.dueMs ? one.order < other.order : one.dueMs < other.dueMs
}

interface LowKey<K> {
  readonly id: string
  readonly key: K
}

/**
 * First in, first out, in two lanes: `normal` keys before `low` ones. A key that is added again keeps its place, unless
 * that moves it to the end of the `normal` lane.
 */
class FifoKeys<K = string> implements PendingKeys<K> {
  readonly #identify: (key: K) => string
  readonly #normal = new Lane<K>()
  /** Has also the entries of keys that have moved to the other lane. */
  #low = new Lane<LowKey<K>>()
  /** The entries of the keys that still wait in `#low`, by identity. */
  readonly #waitingLow = new Map<string, LowKey<K>>()

  constructor(identify: (key: K) => string) {
    this.#identify = identify
  }

  get length(): number {
    return this.#normal.length + this.#waitingLow.size
  }

  push(key: K, priority: KeyPriority): void {
    if (priority === 'normal') return this.#normal.push(key)
    const entry = { id: this.#identify(key), key }
    this.#waitingLow.set(entry.id, entry)
    this.#low.push(entry)
    if (this.#low.length > 2 * this.#waitingLow.size + minCompactLength) {
      this.#low = new Lane([...this.#waitingLow.values()])
    }
  }

  pop(): K | undefined {
    if (this.#normal.length > 0) return this.#normal.shift()
    for (let entry = this.#low.shift(); entry !== undefined; entry = this.#low.shift()) {
      if (this.#waitingLow.get(entry.id) !== entry) continue
      this.#waitingLow.delete(entry.id)
      return entry.key
    }
    return undefined
  }

  touch(key: K, priority: KeyPriority): void {
    if (priority === 'low' || this.#waitingLow.size === 0) return
    if (this.#waitingLow.delete(this.#identify(key))) this.#normal.push(key)
  }
}

/** Prevents copying short queues over and over. */
const minCompactLength = 64

/** An array with a cheap `shift`. */
class Lane<T> {
  #items: T[]
  #head = 0

  constructor(items: T[] = []) {
    this.#items = items
  }

  get length(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined
    const item = this.#items[this.#head]
    this.#head += 1
    if (this.#head >= minCompactLength && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}

/**
 * The text that identifies a key: a string itself; for other keys their JSON with sorted members, so that `{ cluster,
 * name }` and `{ name, cluster }` with equal values are one key.
 */
export function keyIdentity(key: unknown): string {
  return typeof key === 'string' ? key : sortedJson(key)
}

/** A key as messages show it. */
export function shownKey(key: unknown): string {
  return typeof key === 'string' ? JSON.stringify(key) : sortedJson(key)
}

function sortedJson(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? String(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${sortedJson(member)}`)
  return `{${members.join(',')}}`
}

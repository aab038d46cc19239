import { maxTimerMs } from '../../lib/deadline.ts'

/** What waits for its time. */
interface DelayedKey<K> {
  readonly id: string
  readonly key: K
  dueMs: number
  /** Breaks ties, so that keys due at the same time come in the order of their adding. */
  order: number
  position: number
}

/**
 * Keys that wait for a moment of the monotonic clock, each at most once, at its earliest (client-go's
 * `util/workqueue/delaying_queue.go`): a binary heap and one timer. The number of distinct keys is its bound.
 */
export class DelayedKeys<K> {
  readonly #heap: DelayedKey<K>[] = []
  readonly #byId = new Map<string, DelayedKey<K>>()
  readonly #due: (key: K) => void
  #timer: NodeJS.Timeout | undefined
  #timerDueMs = Number.POSITIVE_INFINITY
  #order = 0

  /** `due` is called with each key when its time has come. */
  constructor(due: (key: K) => void) {
    this.#due = due
  }

  get size(): number {
    return this.#heap.length
  }

  /** A key that waits already (by its `id`) keeps the earlier of both moments. */
  add(id: string, key: K, delayMs: number): void {
    const dueMs = performance.now() + delayMs
    const waiting = this.#byId.get(id)
    if (waiting === undefined) {
      const added = { id, key, dueMs, order: this.#order++, position: this.#heap.length }
      this.#byId.set(id, added)
      this.#heap.push(added)
      this.#rise(added)
    } else if (dueMs < waiting.dueMs) {
      waiting.dueMs = dueMs
      waiting.order = this.#order++
      this.#rise(waiting)
    }
    this.#arm()
  }

  /** Drops all keys, in no order, and answers with them. */
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
    // A timer may fire a little early, or have been cut to the longest there is: it is set anew in any case.
    this.#timerDueMs = Number.POSITIVE_INFINITY
    const nowMs = performance.now()
    for (let first = this.#heap[0]; first !== undefined && first.dueMs <= nowMs;) {
      this.#removeFirst(first)
      this.#due(first.key)
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

/** What waits for its time. */
interface DelayedKey {
  readonly key: string
  dueMs: number
  /** Breaks ties, so that keys due at the same time come in the order of their adding. */
  order: number
  position: number
}

/** Longer timers fire at once in Node. */
const maxTimerMs = 2_147_483_647

/**
 * Keys that wait for a moment of the monotonic clock, each at most once, at its earliest (client-go's
 * `util/workqueue/delaying_queue.go`): a binary heap and one timer. The number of distinct keys is its bound.
 */
export class DelayedKeys {
  readonly #heap: DelayedKey[] = []
  readonly #byKey = new Map<string, DelayedKey>()
  readonly #due: (key: string) => void
  #timer: NodeJS.Timeout | undefined
  #timerDueMs = Number.POSITIVE_INFINITY
  #order = 0

  /** `due` is called with each key when its time has come. */
  constructor(due: (key: string) => void) {
    this.#due = due
  }

  get size(): number {
    return this.#heap.length
  }

  /** A key that waits already keeps the earlier of both moments. */
  add(key: string, delayMs: number): void {
    const dueMs = performance.now() + delayMs
    const waiting = this.#byKey.get(key)
    if (waiting === undefined) {
      const added = { key, dueMs, order: this.#order++, position: this.#heap.length }
      this.#byKey.set(key, added)
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
  clear(): readonly string[] {
    const keys = this.#heap.map(({ key }) => key)
    this.#heap.length = 0
    this.#byKey.clear()
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

  #removeFirst(first: DelayedKey): void {
    this.#byKey.delete(first.key)
    const last = this.#heap.pop()
    if (last === undefined || last === first) return
    this.#place(last, 0)
    this.#sink(last)
  }

  #rise(entry: DelayedKey): void {
    while (entry.position > 0) {
      const parent = this.#heap[(entry.position - 1) >>> 1]
      if (parent === undefined || isBefore(parent, entry)) return
      this.#swap(entry, parent)
    }
  }

  #sink(entry: DelayedKey): void {
    for (;;) {
      const left = this.#heap[entry.position * 2 + 1]
      const right = this.#heap[entry.position * 2 + 2]
      if (left === undefined) return
      const child = right !== undefined && isBefore(right, left) ? right : left
      if (isBefore(entry, child)) return
      this.#swap(entry, child)
    }
  }

  #swap(one: DelayedKey, other: DelayedKey): void {
    const { position } = one
    this.#place(one, other.position)
    this.#place(other, position)
  }

  #place(entry: DelayedKey, position: number): void {
    entry.position = position
    this.#heap[position] = entry
  }
}

function isBefore(one: DelayedKey, other: DelayedKey): boolean {
  return one.dueMs === other.dueMs ? one.order < other.order : one.dueMs < other.dueMs
}

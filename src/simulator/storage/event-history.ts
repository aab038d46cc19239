import type { StoredObject } from './stored-object.ts'

/** One write, as watches and older snapshots see it. */
export interface StorageEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  /** What the write made; for DELETED what was there. */
  readonly object: StoredObject
  /** What was there before; `undefined` for ADDED. */
  readonly previous: StoredObject | undefined
}

/**
 * The last events of one resource, at most `capacity` of them: a kube-apiserver's watch cache window. Events are
 * numbered from 0 on; the oldest ones make room for new ones.
 */
export class EventHistory {
  readonly #capacity: number
  readonly #ring: StorageEvent[] = []
  #end = 0
  #start = 0
  #floor = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** The revision up to which nothing is known: positions from here on can be resumed. */
  get floor(): number {
    return this.#floor
  }

  /** The number of the oldest event that is still there. */
  get start(): number {
    return this.#start
  }

  /** The number that the next event will get. */
  get end(): number {
    return this.#end
  }

  push(event: StorageEvent): void {
    if (this.#end - this.#start === this.#capacity) {
      this.#floor = this.#ring[this.#start % this.#capacity]?.revision ?? this.#floor
      this.#start += 1
    }
    this.#ring[this.#end % this.#capacity] = event
    this.#end += 1
  }

  /** The event of a number between {@link start} and {@link end}. */
  at(number: number): StorageEvent | undefined {
    return number < this.#start || number >= this.#end
      ? undefined
      : this.#ring[number % this.#capacity]
  }

  /** The number of the first event after a revision; `undefined` where that is no longer known. */
  after(revision: number): number | undefined {
    if (revision < this.#floor) return undefined
    let low = this.#start
    let high = this.#end
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((this.at(middle)?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Forgets everything up to `revision`, the present one. */
  compact(revision: number): void {
    this.#start = this.#end
    this.#floor = revision
    this.#ring.length = 0
  }
}

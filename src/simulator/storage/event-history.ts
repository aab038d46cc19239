import type { StoredObject } from './stored-object.ts'

/** One write, for watches and older snapshots. */
export interface StorageEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  /** The new state; for DELETED the last state. */
  readonly object: StoredObject
  /** The state before; `undefined` for ADDED. */
  readonly previous: StoredObject | undefined
}

/**
 * The last `capacity` events of one resource: a kube-apiserver's watch cache window. Events are numbered from 0; new
 * events replace the oldest.
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

  /** Watches can resume from this revision on. */
  get floor(): number {
    return this.#floor
  }

  /** The number of the oldest event. */
  get start(): number {
    return this.#start
  }

  /** The number of the next event. */
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

  /** The event of a number from {@link start} to before {@link end}. */
  at(number: number): StorageEvent | undefined {
    return number < this.#start || number >= this.#end
      ? undefined
      : this.#ring[number % this.#capacity]
  }

  /** The number of the first event after a revision; `undefined` for revisions before {@link floor}. */
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

  /** Drops all events up to `revision`, the present one. */
  compact(revision: number): void {
    this.#start = this.#end
    this.#floor = revision
    this.#ring.length = 0
  }
}

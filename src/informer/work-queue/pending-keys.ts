/** The order in which keys are handed out (client-go's `workqueue.Queue`). No key is pushed twice before it is popped. */
export interface PendingKeys<K = string> {
  readonly length: number
  push(key: K): void
  /** The next key; `undefined` when there is none. */
  pop(): K | undefined
  /** A key that is waiting here was added once more. */
  touch(key: K): void
}

/** So that a short queue is not copied over and over. */
const minCompactLength = 64

/** First in, first out; what is added again keeps its place. */
export class FifoKeys<K = string> implements PendingKeys<K> {
  #keys: K[] = []
  #head = 0

  get length(): number {
    return this.#keys.length - this.#head
  }

  push(key: K): void {
    this.#keys.push(key)
  }

  pop(): K | undefined {
    if (this.length === 0) return undefined
    const key = this.#keys[this.#head]
    this.#head += 1
    if (this.#head >= minCompactLength && this.#head * 2 >= this.#keys.length) {
      this.#keys = this.#keys.slice(this.#head)
      this.#head = 0
    }
    return key
  }

  touch(): void {}
}

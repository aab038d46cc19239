/** The order in which keys are handed out (client-go's `workqueue.Queue`). No key is pushed twice before it is popped. */
export interface PendingKeys {
  readonly length: number
  push(key: string): void
  /** The next key; `undefined` when there is none. */
  pop(): string | undefined
  /** A key that is waiting here was added once more. */
  touch(key: string): void
}

/** So that a short queue is not copied over and over. */
const minCompactLength = 64

/** First in, first out; what is added again keeps its place. */
export class FifoKeys implements PendingKeys {
  #keys: string[] = []
  #head = 0

  get length(): number {
    return this.#keys.length - this.#head
  }

  push(key: string): void {
    this.#keys.push(key)
  }

  pop(): string | undefined {
    const key = this.#keys[this.#head]
    if (key === undefined) return undefined
    this.#head += 1
    if (this.#head >= minCompactLength && this.#head * 2 >= this.#keys.length) {
      this.#keys = this.#keys.slice(this.#head)
      this.#head = 0
    }
    return key
  }

  touch(): void {}
}

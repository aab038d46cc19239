/**
 * The order in which keys are handed out (client-go's `workqueue.Queue`). A key is not pushed again before it is
 * popped.
 */
export interface PendingKeys<K = string> {
  readonly length: number
  push(key: K): void
  /** The next key; `undefined` if there is none. */
  pop(): K | undefined
  /** A waiting key was added again. */
  touch(key: K): void
}

/** Prevents copying short queues over and over. */
const minCompactLength = 64

/** First in, first out. A key that is added again keeps its place. */
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

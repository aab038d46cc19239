import { jsonChar, skipString } from './json-bytes.ts'

/**
 * Iterates over the members of one object in a JSON text without white space. After `open`, each `next` that returns
 * true stops at a member whose value starts at `value`; the caller finds the end of the value and passes it to `leave`.
 * Reusable.
 */
export class Members {
  /** The range of the key, without its quotes. */
  keyStart = 0
  keyEnd = 0
  /** The index of the key's opening quote. */
  member = 0
  value = 0
  /** The index after the value, once known. */
  valueEnd = 0
  /** The index of the comma before this member, or -1. */
  comma = -1
  /** The index after the closing brace, once `next` has returned false; -1 if the text has an unexpected form. */
  end = -1
  #bytes: Buffer = Buffer.alloc(0)
  #limit = 0
  #index = 0
  #first = true

  open(bytes: Buffer, start: number, limit: number): boolean {
    this.#bytes = bytes
    this.#limit = limit
    this.#index = start + 1
    this.#first = true
    this.comma = -1
    this.end = -1
    return bytes[start] === jsonChar.openBrace
  }

  /**
   * Returns false at the end of the object. Also returns false, with `end` -1, at white space, an escape in a key, or
   * invalid JSON.
   */
  next(): boolean {
    const bytes = this.#bytes
    let index = this.#index
    if (index >= this.#limit) return false
    if (bytes[index] === jsonChar.closeBrace) {
      this.end = index + 1
      return false
    }
    if (this.#first) this.#first = false
    else {
      if (bytes[index] !== jsonChar.comma) return false
      this.comma = index
      index = index + 1
    }
    if (bytes[index] !== jsonChar.quote) return false
    const close = skipString(bytes, index, this.#limit)
    if (close < 0) return false
    this.member = index
    this.keyStart = index + 1
    this.keyEnd = close - 1
    for (let at = this.keyStart; at < this.keyEnd; at++) {
      if (bytes[at] === jsonChar.backslash) return false
    }
    if (bytes[close] !== jsonChar.colon) return false
    this.value = close + 1
    return this.value < this.#limit
  }

  /** Sets the end of the value. Returns false if it is -1: the value has no end. */
  leave(valueEnd: number): boolean {
    this.#index = this.valueEnd = valueEnd
    return valueEnd >= 0
  }

  is(key: Uint8Array): boolean {
    return this.keyEnd - this.keyStart === key.length && matches(this.#bytes, this.keyStart, key)
  }
}

export function matches(bytes: Buffer, start: number, expected: Uint8Array): boolean {
  for (let index = 0; index < expected.length; index++) {
    if (bytes[start + index] !== expected[index]) return false
  }
  return true
}

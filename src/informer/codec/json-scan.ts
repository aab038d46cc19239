import { endsScalar, jsonChar } from '../../lib/json-text.ts'

/** Up to this length a loop over the bytes is faster than the native search. */
const shortStringBytes = 48

export function isSpace(value: number | undefined): boolean {
  return value === 0x20 || value === 0x0a || value === 0x0d || value === 0x09
}

/** The index after the string that opens at `start`, or -1 if it does not end before `end`. */
export function skipString(bytes: Buffer, start: number, end: number): number {
  let index = start + 1
  const near = Math.min(end, index + shortStringBytes)
  while (index < near) {
    const value = bytes[index++]
    if (value === jsonChar.quote) return index
    if (value === jsonChar.backslash) index++
  }
  while (index < end) {
    const quote = bytes.indexOf(jsonChar.quote, index)
    if (quote < 0 || quote >= end) return -1
    let escapes = 0
    while (quote - 1 - escapes >= index && bytes[quote - 1 - escapes] === jsonChar.backslash)
      escapes++
    index = quote + 1
    if (escapes % 2 === 0) return index
  }
  return -1
}

/**
 * The index after the value at `start`, or -1 if it does not end before `end`. Only balances strings and brackets: a
 * parser refuses invalid JSON later.
 */
export function skipValue(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start]
  if (first === jsonChar.quote) return skipString(bytes, start, end)
  if (first === jsonChar.openBrace || first === jsonChar.openBracket)
    return skipNested(bytes, start, end)
  let index = start
  while (index < end && !endsScalar(bytes[index])) index++
  return index > start ? index : -1
}

function skipNested(bytes: Buffer, start: number, end: number): number {
  let depth = 0
  let index = start
  while (index < end) {
    const value = bytes[index]
    if (value === jsonChar.quote) {
      index = skipString(bytes, index, end)
      if (index < 0) return -1
      continue
    }
    index++
    if (value === jsonChar.openBrace || value === jsonChar.openBracket) depth++
    else if ((value === jsonChar.closeBrace || value === jsonChar.closeBracket) && --depth === 0) {
      return index
    }
  }
  return -1
}

/** Whether a value that starts with this byte is no string, object or array. */
export function startsScalar(value: number | undefined): boolean {
  return value !== jsonChar.quote && value !== jsonChar.openBrace && value !== jsonChar.openBracket
}

const longIntegerDigits = 16

/**
 * Whether the range may hold an integer with more digits than a double keeps, in a string or not. Reads only every
 * sixteenth byte.
 */
export function mayHoldLongInteger(bytes: Buffer, start: number, end: number): boolean {
  for (let probe = start + longIntegerDigits - 1; probe < end; probe += longIntegerDigits) {
    if (!isDigit(bytes[probe])) continue
    let first = probe
    while (first > start && isDigit(bytes[first - 1])) first--
    let last = probe
    while (last + 1 < end && isDigit(bytes[last + 1])) last++
    if (last - first + 1 >= longIntegerDigits) return true
  }
  return false
}

function isDigit(value: number | undefined): boolean {
  return value !== undefined && value >= jsonChar.zero && value <= jsonChar.nine
}

/**
 * A copy without white space between tokens. White space between two scalars stays, so that this error does not become
 * one number.
 */
export function withoutSpace(text: Uint8Array): Buffer {
  const bytes = Buffer.from(text)
  let to = 0
  let index = 0
  while (index < bytes.length) {
    if (bytes[index] === jsonChar.quote) {
      const end = skipString(bytes, index, bytes.length)
      const until = end < 0 ? bytes.length : end
      bytes.copyWithin(to, index, until)
      to += until - index
      index = until
      continue
    }
    const start = index
    while (index < bytes.length && isSpace(bytes[index])) index++
    const between = index > start && isInScalar(bytes[to - 1]) && isInScalar(bytes[index])
    if (between && to > 0 && index < bytes.length) bytes[to++] = 0x20
    else if (index === start) bytes[to++] = bytes[index++] ?? 0
  }
  return bytes.subarray(0, to)
}

function isInScalar(value: number | undefined): boolean {
  return !endsScalar(value) && startsScalar(value) && value !== jsonChar.colon
}

/**
 * Iterates over the members of one object in a JSON text without white space. The caller finds the end of each value
 * and passes it to `leave`. Reusable.
 */
export class Members {
  /** The range of the key, without its quotes. */
  keyStart = 0
  keyEnd = 0
  member = 0
  value = 0
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

  /** Returns false at the object's end; also, with `end` -1, at white space, an escape in a key, or invalid JSON. */
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

  /** `end`: of the value; if it is -1, the value has none, and this returns false. */
  leave(end: number): boolean {
    this.#index = this.valueEnd = end
    return end >= 0
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

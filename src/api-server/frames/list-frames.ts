/*
 * Cuts the body of a LIST into its items while it arrives. {@link ListFrames} is a small state machine that reads the
 * punctuation of the list itself. {@link JsonValueEnd} finds the end of each value, in a loop that every byte of every list
 * passes through. Neither parses an item: the codec does.
 */

import {
  CarriedBytes,
  defaultMaxFrameBytes,
  MalformedListError,
  TruncatedFrameError,
} from './watch-frames.ts'

/** The members of a list, except its items. */
export interface ListEnvelope {
  readonly kind?: unknown
  readonly apiVersion?: unknown
  readonly metadata?: unknown
}

/** What may come next in `{"kind":…,"items":[{…},{…}]}`. */
type Expected =
  | 'list'
  | 'key or end'
  | 'key'
  | 'colon'
  | 'value'
  | 'end of value'
  | 'item or end'
  | 'item'
  | 'end of item'
  | 'nothing'

const noItems: readonly Uint8Array[] = []

/**
 * Splits the body of a LIST into the texts of its items. Accepts any order of the list's members, and white space. An item
 * within one chunk is a range of the chunk; other items are copied once, into a reused buffer.
 */
export class ListFrames {
  readonly #carried: CarriedBytes
  readonly #valueEnd = new JsonValueEnd()
  #expected: Expected = 'list'
  /** Whether a key, a value or an item has begun. */
  #inValue = false
  #key = ''
  #sawItems = false
  #items = 0
  readonly #members = new Map<string, unknown>()

  /** `maxFrameBytes` bounds each item, and each other member of the list. */
  constructor({ maxFrameBytes = defaultMaxFrameBytes }: { readonly maxFrameBytes?: number } = {}) {
    this.#carried = new CarriedBytes('an item of a list', maxFrameBytes)
  }

  /** The members read so far. */
  get envelope(): ListEnvelope {
    return Object.fromEntries(this.#members)
  }

  /**
   * The items that end in this chunk, in order. They are valid until the next call; until then the chunk must not
   * change. Throws {@link MalformedListError} and `OversizedFrameError`.
   */
  push(chunk: Uint8Array): readonly Uint8Array[] {
    this.#carried.settle()
    const items: Uint8Array[] = []
    let at = 0
    while (at < chunk.length) {
      if (!this.#inValue) {
        const byte = chunk[at] as number
        if (isSpace(byte) || this.#step(byte)) {
          at += 1
          continue
        }
        this.#valueEnd.begin(byte)
        this.#inValue = true
      }
      const end = this.#valueEnd.find(chunk, at)
      if (end < 0) {
        this.#carried.hold(chunk.subarray(at))
        break
      }
      this.#inValue = false
      const value = this.#carried.finish(chunk.subarray(at, end))
      at = end
      if (this.#expected === 'end of item') {
        items.push(value)
        this.#items += 1
      } else this.#accept(value)
    }
    return items.length === 0 ? noItems : items
  }

  /** Call at the end of the body. Throws {@link TruncatedFrameError} if the list is incomplete. */
  end(): void {
    if (this.#expected !== 'nothing') {
      throw new TruncatedFrameError('a list', `after ${this.#items} items, before its own end`)
    }
    if (!this.#sawItems) throw new MalformedListError('it has no items', this.#members.get('kind'))
  }

  /** Handles a punctuation byte. Returns false if a key, a value or an item starts with the byte instead. */
  #step(byte: number): boolean {
    switch (this.#expected) {
      case 'list':
        return this.#take(byte, '{', 'key or end')
      case 'key or end':
        if (byte === 0x7d) return this.#move('nothing')
        return this.#beginKey(byte)
      case 'key':
        return this.#beginKey(byte)
      case 'colon':
        return this.#take(byte, ':', 'value')
      case 'value':
        if (this.#key === 'items' && byte === 0x5b) return this.#move('item or end')
        this.#expected = 'end of value'
        return false
      case 'end of value':
        if (byte === 0x2c) return this.#move('key')
        return this.#take(byte, '}', 'nothing')
      case 'item or end':
        if (byte === 0x5d) return this.#move('end of value')
        return this.#beginItem(byte)
      case 'item':
        return this.#beginItem(byte)
      case 'end of item':
        if (byte === 0x2c) return this.#move('item')
        return this.#take(byte, ']', 'end of value')
      case 'nothing':
        throw this.#unexpected(byte, 'the end')
    }
  }

  #move(expected: Expected): true {
    this.#expected = expected
    return true
  }

  #take(byte: number, character: string, next: Expected): true {
    if (byte !== character.charCodeAt(0)) throw this.#unexpected(byte, character)
    return this.#move(next)
  }

  #beginKey(byte: number): false {
    if (byte !== 0x22) throw this.#unexpected(byte, 'a key')
    this.#expected = 'colon'
    return false
  }

  #beginItem(byte: number): false {
    if (byte !== 0x7b) throw this.#unexpected(byte, 'an item')
    this.#expected = 'end of item'
    return false
  }

  #unexpected(byte: number, wanted: string): MalformedListError {
    const found = JSON.stringify(String.fromCharCode(byte))
    return new MalformedListError(`${found} after ${this.#items} items, where ${wanted} should be`)
  }

  /** Handles a key, or the value of a member other than the items. */
  #accept(text: Uint8Array): void {
    const value = parse(text)
    if (this.#expected === 'colon') {
      this.#key = String(value)
      if (this.#key !== 'items') return
      // With two such lists, a consumer of one would lose the other.
      if (this.#sawItems) throw new MalformedListError('it has items twice')
      this.#sawItems = true
      return
    }
    if (this.#key !== 'items') this.#members.set(this.#key, value)
    else if (value !== null) throw new MalformedListError('its items are not a list')
  }
}

function parse(text: Uint8Array): unknown {
  const json = new TextDecoder().decode(text)
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new MalformedListError(`${JSON.stringify(json.slice(0, 80))}: ${String(error)}`)
  }
}

const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b

/** Whether the byte is JSON white space. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/**
 * Finds the end of a JSON value across chunks by its quotes, backslashes and brackets. Does not validate; the parser of
 * the value does.
 *
 * Every byte of every list passes through this loop. Most bytes are in strings, which are short (about twelve bytes),
 * so a native `indexOf` per string costs more than it saves. Four bytes per iteration of a plain loop were two to three
 * times as fast.
 */
class JsonValueEnd {
  #kind: 'brackets' | 'string' | 'word' = 'word'
  #depth = 0
  #inString = false
  /** The last chunk ended with the backslash of an escape. */
  #escaped = false

  /** Prepares for a value whose first byte is `byte`; {@link find} starts at that byte. */
  begin(byte: number): void {
    this.#kind = byte === quote ? 'string' : byte === 0x7b || byte === 0x5b ? 'brackets' : 'word'
    this.#depth = 0
    this.#inString = false
    this.#escaped = false
  }

  /** The position after the value's last byte, or -1 if the value continues after this chunk. */
  find(chunk: Uint8Array, from: number): number {
    if (this.#kind === 'word') return endOfWord(chunk, from)
    let at = from
    if (this.#escaped) {
      this.#escaped = false
      at += 1
    }
    if (this.#inString) {
      at = this.#endOfString(chunk, at)
      if (at < 0 || this.#kind === 'string') return at
    } else if (this.#kind === 'string') {
      this.#inString = true
      return this.#endOfString(chunk, at + 1)
    }
    let depth = this.#depth
    const length = chunk.length
    const lastTurn = length - 4
    outside: while (at < length) {
      const byte = chunk[at++] as number
      if (byte === quote) {
        // Inlined, because a call per string costs as much as the string.
        while (at <= lastTurn) {
          let inner = chunk[at++]
          if (inner === quote) continue outside
          if (inner !== backslash) {
            inner = chunk[at++]
            if (inner === quote) continue outside
            if (inner !== backslash) {
              inner = chunk[at++]
              if (inner === quote) continue outside
              if (inner !== backslash) {
                inner = chunk[at++]
                if (inner === quote) continue outside
                if (inner !== backslash) continue
              }
            }
          }
          at += 1
        }
        this.#inString = true
        at = this.#endOfString(chunk, at)
        if (at >= 0) continue
        break
      }
      // Outside strings, most bytes are digits, colons, commas and white space. All of them sort below the brackets.
      if (byte < openBracket) continue
      // Square and curly brackets differ only in bit 0x20.
      const bracket = byte | 0x20
      if (bracket === 0x7b) depth += 1
      else if (bracket === 0x7d) {
        depth -= 1
        if (depth === 0) return at
      }
    }
    this.#depth = depth
    return -1
  }

  /** The position after the closing quote of the current string, or -1. */
  #endOfString(chunk: Uint8Array, from: number): number {
    const length = chunk.length
    let at = from
    while (at < length) {
      const byte = chunk[at++]
      if (byte === quote) {
        this.#inString = false
        return at
      }
      if (byte === backslash) at += 1
    }
    this.#escaped = at > length
    return -1
  }
}

function endOfWord(chunk: Uint8Array, from: number): number {
  for (let at = from; at < chunk.length; at++) {
    const byte = chunk[at]
    if (byte === 0x2c || byte === 0x7d || byte === 0x5d || isSpace(byte)) return at
  }
  return -1
}

const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b

/** Whether the byte is JSON white space. */
export function isSpace(byte: number | undefined): boolean {
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
export class JsonValueEnd {
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
      // Digits, colons, commas and white space sort below the brackets, and are most of what is outside strings.
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

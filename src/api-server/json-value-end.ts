const quote = 0x22
const backslash = 0x5c

/** Whether the byte is JSON's insignificant white space. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/**
 * Finds where a JSON value ends, in as many chunks as it takes, by looking at quotes, backslashes and brackets only.
 * It does not tell valid JSON from invalid: who parses the value does.
 *
 * This is the loop through which every byte of every list runs. Most bytes stand inside strings, which are short
 * (about twelve bytes), so that a native `indexOf` per string costs more than it saves; four bytes per turn of a plain
 * loop were two to three times as fast.
 */
export class JsonValueEnd {
  #kind: 'brackets' | 'string' | 'word' = 'word'
  #depth = 0
  #inString = false
  /** The last chunk ended with the backslash of an escape. */
  #escaped = false

  /** Prepares for a value whose first byte is `byte`; {@link find} begins at that byte. */
  begin(byte: number): void {
    this.#kind = byte === quote ? 'string' : byte === 0x7b || byte === 0x5b ? 'brackets' : 'word'
    this.#depth = 0
    this.#inString = false
    this.#escaped = false
  }

  /** The position after the value's last byte, or -1 when the value goes on after this chunk. */
  find(chunk: Uint8Array, from: number): number {
    if (this.#kind === 'word') return endOfWord(chunk, from)
    let at = from
    if (this.#escaped) {
      this.#escaped = false
      at += 1
    }
    let depth = this.#depth
    let inString = this.#inString
    const length = chunk.length
    const alone = this.#kind === 'string'
    while (at < length) {
      if (inString) {
        const end = endOfString(chunk, at)
        if (end < 0) {
          this.#escaped = end === endsInEscape
          break
        }
        at = end
        inString = false
        if (alone) return at
        continue
      }
      const byte = chunk[at++] as number
      if (byte === quote) {
        inString = true
        continue
      }
      // Bit 0x20 is all that square brackets lack to be curly ones.
      const bracket = byte | 0x20
      if (bracket === 0x7b) depth += 1
      else if (bracket === 0x7d) {
        depth -= 1
        if (depth === 0) return at
      }
    }
    this.#depth = depth
    this.#inString = inString
    return -1
  }
}

const unfinished = -1
const endsInEscape = -2

/** The position after the closing quote; {@link unfinished} or {@link endsInEscape} where it is in a later chunk. */
function endOfString(chunk: Uint8Array, from: number): number {
  const length = chunk.length
  const lastTurn = length - 4
  let at = from
  while (at <= lastTurn) {
    let byte = chunk[at]
    if (byte === quote) return at + 1
    if (byte === backslash) {
      at += 2
      continue
    }
    byte = chunk[at + 1]
    if (byte === quote) return at + 2
    if (byte === backslash) {
      at += 3
      continue
    }
    byte = chunk[at + 2]
    if (byte === quote) return at + 3
    if (byte === backslash) {
      at += 4
      continue
    }
    byte = chunk[at + 3]
    if (byte === quote) return at + 4
    at += byte === backslash ? 5 : 4
  }
  while (at < length) {
    const byte = chunk[at++]
    if (byte === quote) return at
    if (byte === backslash) at += 1
  }
  return at > length ? endsInEscape : unfinished
}

function endOfWord(chunk: Uint8Array, from: number): number {
  for (let at = from; at < chunk.length; at++) {
    const byte = chunk[at]
    if (byte === 0x2c || byte === 0x7d || byte === 0x5d || isSpace(byte)) return at
  }
  return -1
}

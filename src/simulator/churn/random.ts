/*
 * Random numbers, names and UUIDs that follow from a text: the same seed gives the same sequence on every machine, so the
 * same options give the same cluster, byte by byte. Not cryptographic.
 */

/** A deterministic random source. */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number
  /** An integer from `min` to `max`, both inclusive. */
  integer(min: number, max: number): number
  /** Throws for an empty list. */
  pick<T>(list: readonly T[]): T
  chance(probability: number): boolean
  /** Lower-case hexadecimal digits. */
  hex(digits: number): string
  /** A name suffix as in Kubernetes: consonants and digits, which spell no words. */
  suffix(length: number): string
  /** A UUID of version 4. */
  uid(): string
}

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** Starts a sequence. The seed identifies it: use a different seed for each sequence. */
export function createRandom(seed: string): Random {
  const next32 = wordsOf(seed)
  const next = (): number => next32() / 0x1_0000_0000
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  const hex = (digits: number): string => hexOf(next32, digits)
  return {
    next,
    integer,
    pick: <T>(list: readonly T[]): T => {
      const found = list[integer(0, list.length - 1)]
      if (found === undefined) throw new RangeError('nothing to pick from: the list is empty')
      return found
    },
    chance: (probability) => next() < probability,
    hex,
    suffix: (length) => {
      let text = ''
      while (text.length < length) text += suffixAlphabet[integer(0, suffixAlphabet.length - 1)]
      return text
    },
    uid: () => uuidOf(hex(32)),
  }
}

/** Hexadecimal digits derived from a text. */
export function hexDigest(text: string, digits: number): string {
  return hexOf(wordsOf(text), digits)
}

/** A UUID derived from a text. */
export function uidDigest(text: string): string {
  return uuidOf(hexDigest(text, 32))
}

function uuidOf(hex: string): string {
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) & 3] ?? '8'
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The hexadecimal digits of every 16-bit number. Pods carry hundreds of random digits each. */
const hexOf16: readonly string[] = Array.from({ length: 0x1_0000 }, (_, word) =>
  word.toString(16).padStart(4, '0'),
)

function hexOf(next32: () => number, digits: number): string {
  let text = ''
  while (text.length < digits) {
    const word = next32()
    text += (hexOf16[word >>> 16] ?? '') + (hexOf16[word & 0xffff] ?? '')
  }
  return text.length === digits ? text : text.slice(0, digits)
}

/**
 * 32-bit words from a text: multiplicative hashes of the text seed a small, fast counting generator (sfc32, from
 * PractRand), which needs a few rounds to mix its state.
 */
function wordsOf(text: string): () => number {
  let a = 0x9e3779b9
  let b = 0x243f6a88
  let c = 0xb7e15162
  let counter = 1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x85ebca6b) ^ (b >>> 15)
    c = Math.imul(c ^ code, 0xc2b2ae35) ^ (a >>> 13)
  }
  counter = (counter + text.length) | 0
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return sum >>> 0
  }
  for (let round = 0; round < 10; round++) next()
  return next
}

/** Numbers in [0, 1). */
export type Random = () => number

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** One of the values. */
export function pick<T>(values: readonly T[], random: Random): T {
  return values[Math.floor(random() * values.length)] as T
}

/** What the ends of generated names are made of. */
export const generatedLetters: string = 'bcdfghjklmnpqrstvwxz2456789'
const hexDigits = '0123456789abcdef'

/** A text of letters of the alphabet. */
export function letters(alphabet: string, length: number, random: Random): string {
  let text = ''
  for (let index = 0; index < length; index++) text += pick(alphabet.split(''), random)
  return text
}

/** So many hexadecimal digits. */
export function hex(length: number, random: Random): string {
  return letters(hexDigits, length, random)
}

/** A UID of the usual form. */
export function uid(random: Random): string {
  return [8, 4, 4, 4, 12].map((length) => hex(length, random)).join('-')
}

/** A moment of one autumn, as Kubernetes writes it. */
export function time(random: Random): string {
  return new Date(1.79e12 + Math.floor(random() * 1e7) * 1000).toISOString().replace('.000', '')
}

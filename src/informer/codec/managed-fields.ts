import { skipValue } from './json-bytes.ts'
import { jsonChar } from './json-char.ts'

/**
 * The index after the value of `managedFields`, which is 40 % of all bytes. An array without another in it ends at the
 * first closing bracket, unless that one is in a string. It is not where the text ends with it, nor where `},"` or `,"`
 * and a letter follow: that quote would have to close the string, and no letter can come after a string.
 * Everything else is skipped byte by byte.
 */
export function skipManagedFields(bytes: Buffer, start: number, end: number): number {
  if (bytes[start] !== jsonChar.openBracket) return skipValue(bytes, start, end)
  const close = bytes.indexOf(jsonChar.closeBracket, start)
  if (close < 0 || close >= end || bytes.lastIndexOf(jsonChar.openBracket, close) !== start) {
    return skipValue(bytes, start, end)
  }
  let next = close + 1
  while (next < end && bytes[next] === jsonChar.closeBrace) next++
  if (next === end) return close + 1
  const letter = bytes[next + 2] ?? 0
  const isKey =
    bytes[next] === jsonChar.comma && bytes[next + 1] === jsonChar.quote && isLowerCase(letter)
  return isKey && next + 2 < end ? close + 1 : skipValue(bytes, start, end)
}

function isLowerCase(letter: number): boolean {
  return letter >= 0x61 && letter <= 0x7a
}

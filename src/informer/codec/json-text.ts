import { jsonChar } from './json-bytes.ts'

/** The index after the value that starts at `start`. The text must be valid JSON: nothing is checked. */
export function valueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start)
  if (first === jsonChar.quote) return stringEnd(text, start)
  if (first === jsonChar.openBrace || first === jsonChar.openBracket) return nestedEnd(text, start)
  let index = start
  while (index < text.length && !endsScalar(text.charCodeAt(index))) index++
  return index
}

/** The index after the string whose opening quote is at `start`. */
function stringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (quote > 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote < 0 ? text.length : quote + 1
}

function isEscaped(text: string, index: number): boolean {
  let before = index - 1
  while (text.charCodeAt(before) === jsonChar.backslash) before--
  return (index - before) % 2 === 0
}

function nestedEnd(text: string, start: number): number {
  let depth = 0
  let index = start
  while (index < text.length) {
    const char = text.charCodeAt(index)
    if (char === jsonChar.quote) {
      index = stringEnd(text, index)
      continue
    }
    index++
    if (char === jsonChar.openBrace || char === jsonChar.openBracket) depth++
    else if ((char === jsonChar.closeBrace || char === jsonChar.closeBracket) && --depth === 0) {
      return index
    }
  }
  return index
}

/** Whether this character ends a number, `true`, `false` or `null`. */
function endsScalar(char: number): boolean {
  return (
    char === jsonChar.comma ||
    char === jsonChar.closeBrace ||
    char === jsonChar.closeBracket ||
    char <= 0x20
  )
}

/*
 * JSON as text, read without a parser. The members of an object are parts of its text, so that a large document need not be
 * parsed as a whole: a server's OpenAPI documents have megabytes that nothing reads, and a parser holds the event loop until
 * it is done.
 */

/** A member: its name, and where its value begins and ends in the text. */
export interface JsonMember {
  readonly name: string
  readonly begin: number
  readonly end: number
}

/** The members of the object whose text begins at `at`. Throws `SyntaxError` if no object does. */
export function* jsonMembers(text: string, at: number = 0): Generator<JsonMember, void> {
  let position = afterSpace(text, at)
  if (text[position] !== '{') throw new SyntaxError(`there is no JSON object at ${at}`)
  position = afterSpace(text, position + 1)
  while (text[position] !== '}') {
    if (text[position] !== '"') throw new SyntaxError(`there is no JSON string at ${position}`)
    const end = valueEnd(text, position)
    const name = JSON.parse(text.slice(position, end)) as string
    const colon = afterSpace(text, end)
    if (text[colon] !== ':') throw new SyntaxError(`a colon is missing at ${colon}`)
    const begin = afterSpace(text, colon + 1)
    const after = valueEnd(text, begin)
    yield { name, begin, end: after }
    position = afterSpace(text, after)
    if (text[position] === ',') position = afterSpace(text, position + 1)
    else if (text[position] !== '}') throw new SyntaxError(`an object does not end at ${position}`)
  }
}

/** The text of a JSON value with `null` in place of the values of all members of a name. Text that is not valid stays so. */
export function withoutValuesOf(name: string, text: string): string {
  // In the text of a string, the quotes would be escaped.
  const member = `${JSON.stringify(name)}:`
  const parts: string[] = []
  let from = 0
  for (let at = text.indexOf(member); at >= 0; at = text.indexOf(member, from)) {
    const begin = at + member.length
    parts.push(text.slice(from, begin), 'null')
    from = valueEnd(text, afterSpace(text, begin))
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(from)
}

function afterSpace(text: string, at: number): number {
  let position = at
  while (text.charCodeAt(position) <= 0x20) position += 1
  return position
}

/** The characters of JSON: both UTF-16 code units and UTF-8 bytes. */
export const jsonChar = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  /** The first byte of `null`, and of no other value. */
  n: 0x6e,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const

/** Whether a number, `true`, `false` or `null` ends before this byte or character. */
export function endsScalar(value: number | undefined): boolean {
  return (
    value === undefined ||
    value === jsonChar.comma ||
    value === jsonChar.closeBrace ||
    value === jsonChar.closeBracket ||
    value === jsonChar.quote ||
    value <= 0x20
  )
}

/** The index after the value that starts at `start`. The text must be valid JSON: nothing is checked. */
export function valueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start)
  if (first === jsonChar.quote) return stringEnd(text, start)
  if (first === jsonChar.openBrace || first === jsonChar.openBracket) return nestedEnd(text, start)
  let index = start
  while (index < text.length && !endsScalar(text.charCodeAt(index))) index++
  return index
}

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

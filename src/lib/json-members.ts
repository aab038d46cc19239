/*
 * The members of a JSON object as parts of its text, so that a large document need not be parsed as a whole: a server's
 * OpenAPI documents have megabytes that nothing reads, and a parser holds the event loop until it is done.
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
    const end = afterString(text, position)
    const name = JSON.parse(text.slice(position, end)) as string
    const colon = afterSpace(text, end)
    if (text[colon] !== ':') throw new SyntaxError(`a colon is missing at ${colon}`)
    const begin = afterSpace(text, colon + 1)
    const after = afterValue(text, begin)
    yield { name, begin, end: after }
    position = afterSpace(text, after)
    if (text[position] === ',') position = afterSpace(text, position + 1)
    else if (text[position] !== '}') throw new SyntaxError(`an object does not end at ${position}`)
  }
}

/** The text of a JSON value with `null` in place of the values of all members of a name. Throws `SyntaxError`. */
export function withoutValuesOf(name: string, text: string): string {
  // In the text of a string, the quotes would be escaped.
  const member = `${JSON.stringify(name)}:`
  const parts: string[] = []
  let from = 0
  for (let at = text.indexOf(member); at >= 0; at = text.indexOf(member, from)) {
    const begin = at + member.length
    parts.push(text.slice(from, begin), 'null')
    from = afterValue(text, afterSpace(text, begin))
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(from)
}

const quote = 0x22
const backslash = 0x5c

function afterSpace(text: string, at: number): number {
  let position = at
  while (text.charCodeAt(position) <= 0x20) position += 1
  return position
}

function afterString(text: string, at: number): number {
  if (text.charCodeAt(at) !== quote) throw new SyntaxError(`there is no JSON string at ${at}`)
  for (let end = text.indexOf('"', at + 1); end > 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before -= 1
    // An even number of backslashes escape each other, not the quote.
    if ((end - before) % 2 === 1) return end + 1
  }
  throw new SyntaxError(`the JSON string at ${at} does not end`)
}

/** Where the value that begins at `at` ends. What is in it is not checked. */
function afterValue(text: string, at: number): number {
  let depth = 0
  let position = at
  while (position < text.length) {
    const code = text.charCodeAt(position)
    if (code === quote) position = afterString(text, position)
    else {
      const opens = code === 0x7b || code === 0x5b
      const closes = code === 0x7d || code === 0x5d
      if (depth === 0 && (closes || code === 0x2c)) return position
      if (opens) depth += 1
      if (closes) depth -= 1
      position += 1
      if (closes && depth === 0) return position
    }
    if (depth === 0 && code === quote) return position
  }
  throw new SyntaxError(`the JSON value at ${at} does not end`)
}

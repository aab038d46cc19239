/** A piece of a document's text that counts for its shape: a name, a bracket or a colon. */
export interface TextPiece {
  readonly text: string
  /** Where it begins. */
  readonly position: number
}

const backslash = '\\'
const blockQuote = '"""'
const punctuation: ReadonlySet<string> = new Set([':', '{', '}', '(', ')', '[', ']'])
const nameBegins = /[_A-Za-z]/
const name = /[_0-9A-Za-z]+/y

/** The names, brackets and colons of a document, in one pass. Strings, numbers and comments are passed over. */
export function* textPieces(body: string): Generator<TextPiece, void, void> {
  let at = 0
  while (at < body.length) {
    const here = body.charAt(at)
    if (here === '"') {
      at = body.startsWith(blockQuote, at) ? endOfBlock(body, at + 3) : endOfString(body, at + 1)
    } else if (here === '#') {
      at = endOr(body, body.indexOf('\n', at))
    } else if (punctuation.has(here)) {
      yield { text: here, position: at }
      at += 1
    } else if (nameBegins.test(here)) {
      name.lastIndex = at
      const text = name.exec(body)?.[0] ?? here
      yield { text, position: at }
      at += text.length
    } else {
      at += 1
    }
  }
}

function endOfString(body: string, from: number): number {
  let at = from
  while (at < body.length && body[at] !== '"' && body[at] !== '\n') {
    at += body[at] === backslash ? 2 : 1
  }
  return at + 1
}

function endOfBlock(body: string, from: number): number {
  let end = body.indexOf(blockQuote, from)
  while (end > 0 && body[end - 1] === backslash) end = body.indexOf(blockQuote, end + 3)
  return end < 0 ? body.length : end + 3
}

function endOr(body: string, found: number): number {
  return found < 0 ? body.length : found
}

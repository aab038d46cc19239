/*
 * JSON beyond `JSON.parse`: narrow checks of parsed values, and numbers that a double cannot hold. `parseExact` keeps such a
 * number as the text of its digits, and `JSON.stringify` writes it as it came.
 */

/** Whether a value is an object with members: neither a list nor `null`. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is a JSON object: a record, but not the wrapper that {@link rawJson} makes. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && !isRawJson(value)
}

/** The value of a JSON text; `undefined` for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** ES2026: in Node since 21, not yet in TypeScript's libraries. */
interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}

const json = JSON as unknown as JsonWithSource
const integer = /^-?[0-9]+$/

/** A value that `JSON.stringify` writes as the given text. Used for numbers with more digits than a double holds. */
export function rawJson(text: string): object {
  return json.rawJSON(text)
}

/** Whether {@link rawJson} (`JSON.rawJSON`) made the value. */
export function isRawJson(value: unknown): boolean {
  return json.isRawJSON(value)
}

/** A value by its JSON text, which answers contain as it stands. */
export class JsonText {
  readonly text: string
  #before = ''
  #joined: string

  constructor(text: string) {
    this.text = text
    this.#joined = text
  }

  /** The text behind another one. The last is kept, since texts that occur often mostly follow the same. */
  after(before: string): string {
    if (before !== this.#before) {
      this.#before = before
      this.#joined = before + this.text
    }
    return this.#joined
  }

  /** The value, for those that do not write the text: graphql-js takes it as a leaf. */
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/**
 * `JSON.parse` that keeps every digit: an integer that a double cannot print back becomes {@link rawJson} of its
 * digits. Takes about three times as long as `JSON.parse`.
 */
export function parseExact(text: string): unknown {
  try {
    return json.parse(text, (_key, value, { source }) => {
      if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value)) {
        return value
      }
      return integer.test(source) && String(value) !== source ? rawJson(source) : value
    })
  } catch (error) {
    // V8 parses any depth, but its reviver overflows the stack after some thousand levels. Then digits are rounded.
    if (error instanceof RangeError) return JSON.parse(text)
    throw error
  }
}

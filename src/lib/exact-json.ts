/** What JSON.parse tells a reviver beside the value, and JSON.rawJSON: ES2026, not yet in TypeScript's libraries. */
interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): object
}

const json = JSON as unknown as JsonWithSource
const integer = /^-?[0-9]+$/

/**
 * `JSON.parse`, save that an integer whose digits a double would not print again becomes `JSON.rawJSON` of its
 * digits. About three times slower: for the texts only that may hold one.
 */
export function parseExact(text: string): unknown {
  try {
    return json.parse(text, (_key, value, { source }) => {
      if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value)) {
        return value
      }
      return integer.test(source) && String(value) !== source ? json.rawJSON(source) : value
    })
  } catch (error) {
    // The engine parses any depth, but walks over some thousand levels only. The object counts for more than its digits.
    if (error instanceof RangeError) return JSON.parse(text)
    throw error
  }
}

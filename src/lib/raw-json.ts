/** ES2026, not yet in TypeScript's libraries; in Node since 21. */
interface RawJsonFunctions {
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}

const json = JSON as unknown as RawJsonFunctions

/** A value that `JSON.stringify` writes as the given JSON text: a number of more digits than a double holds. */
export function rawJson(text: string): object {
  return json.rawJSON(text)
}

/** Whether the value was made by {@link rawJson} (`JSON.rawJSON`). */
export function isRawJson(value: unknown): boolean {
  return json.isRawJSON(value)
}

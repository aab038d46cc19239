import { isRawJson } from './raw-json.ts'

/** Whether a value is an object with members: no list, no `null`. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is a JSON object: no list, no `null`, and no number that is kept as its text. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && !isRawJson(value)
}

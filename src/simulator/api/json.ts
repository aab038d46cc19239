import { isJsonObject } from '../../lib/json-object.ts'
import { rawJson } from '../../lib/raw-json.ts'

/** Smaller numbers are exact as doubles: only a text where so many digits may begin a value is read with care. */
const manyDigits = /[:,[]\s*-?\d{16}/

/**
 * `JSON.parse`, save that whole numbers beyond 2^53 that fit into 64 bits keep their digits, as `JSON.rawJSON` values.
 * Larger ones become doubles, as they do in a kube-apiserver. Throws a SyntaxError.
 */
export function parseJson(text: string): unknown {
  return manyDigits.test(text) ? JSON.parse(text, exact as Reviver) : JSON.parse(text)
}

/** What TypeScript knows of one; the third argument is newer. */
type Reviver = (key: string, value: unknown) => unknown

function exact(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value
  return exactInteger(source) ?? value
}

/** The value of an integer's text: a number where that is exact, else its digits; `undefined` beyond 64 bits. */
export function exactInteger(text: string): unknown {
  if (!/^-?\d+$/.test(text)) return undefined
  const value = BigInt(text)
  if (BigInt.asIntN(64, value) !== value) return undefined
  return Number.isSafeInteger(Number(value)) ? Number(value) : rawJson(text)
}

/** A deep copy. Numbers that are kept as their text are shared: they never change. */
export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, cloneJson(part)])) as T
}

/** Whether two JSON values are the same, whatever the order of their keys. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const [left, right] = [Object.keys(a), Object.keys(b)]
  return (
    Array.isArray(a) === Array.isArray(b) &&
    left.length === right.length &&
    left.every(
      (key) =>
        Object.hasOwn(b, key) &&
        equalJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  )
}

/** The value at a path of members, such as `spec.replicas`; `undefined` where a member on the way is absent. */
export function valueAt(object: unknown, path: string | readonly (string | number)[]): unknown {
  const steps = typeof path === 'string' ? path.split('.') : path
  return steps.reduce((value, name) => (isJsonObject(value) ? value[name] : undefined), object)
}

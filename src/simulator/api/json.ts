/*
 * JSON as a kube-apiserver reads it: integers of 64 bits keep all their digits. Copies and comparisons know such numbers.
 */

import { parse } from 'yaml'
import { isJsonObject, rawJson } from '../../lib/json.ts'

/** Numbers with fewer digits are exact as doubles. Only texts that match are parsed with the slower reviver. */
const manyDigits = /[:,[]\s*-?\d{16}/

/**
 * `JSON.parse` that keeps the digits of integers beyond 2^53 that fit into 64 bits, as `JSON.rawJSON` values. Larger
 * integers become doubles, as in a kube-apiserver. Throws a SyntaxError.
 */
export function parseJson(text: string): unknown {
  return manyDigits.test(text)
    ? JSON.parse(text, exact as (key: string, value: unknown) => unknown)
    : JSON.parse(text)
}

/** TypeScript does not know the third argument of a reviver. */
function exact(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value
  return exactInteger(source) ?? value
}

/** As {@link parseJson}, of YAML. Throws a YAMLParseError. */
export function parseYaml(text: string): unknown {
  return exactNumbers(parse(text, { intAsBigInt: true }))
}

function exactNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return exactInteger(String(value)) ?? Number(value)
  if (Array.isArray(value)) return value.map(exactNumbers)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, exactNumbers(part)]))
}

/** The value of an integer's text: a number if that is exact, otherwise its digits; `undefined` beyond 64 bits. */
function exactInteger(text: string): unknown {
  if (!/^-?\d+$/.test(text)) return undefined
  const value = BigInt(text)
  if (BigInt.asIntN(64, value) !== value) return undefined
  return Number.isSafeInteger(Number(value)) ? Number(value) : rawJson(text)
}

/** A deep copy. Copies share the immutable raw numbers. */
export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, cloneJson(part)])) as T
}

/** Whether two JSON values are equal. The order of keys does not matter. */
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

/** The value at a path of members, such as `spec.replicas`; `undefined` if a member of the path is absent. */
export function valueAt(object: unknown, path: string | readonly (string | number)[]): unknown {
  const steps = typeof path === 'string' ? path.split('.') : path
  return steps.reduce((value, name) => (isJsonObject(value) ? value[name] : undefined), object)
}

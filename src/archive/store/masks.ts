/*
 * What stands in place of a value that is not kept: a mark, which tells whether the value is another one than before and
 * nothing else. It is an HMAC under a key that only this process has and never writes, so that the file does not confirm a
 * guess. Marks of two processes cannot be compared: such a value counts as the same, unless an object has a new resource
 * version and nothing else differs. Marks are never given to readers, who get `null`.
 */

import { randomBytes } from 'node:crypto'
import { isJsonObject } from '../../lib/json.ts'
import { KeyedHash } from '../../lib/keyed-hash.ts'
import { fieldsOf, ownValue } from '../../kubernetes/fields.ts'
import { lastAppliedAnnotation } from '../../kubernetes/object.ts'
import { escaped } from '../../kubernetes/field-changes.ts'
import type { ArchivedKind, FieldDifference } from '../archive-calls.ts'
import { edited, isWithin, stepsOf } from './paths.ts'

/** How a mark begins. */
const begin = '\u0000m'
const run = randomBytes(6).toString('hex')
const keyed = new KeyedHash(randomBytes(64))

/** Annotations in which tools keep the whole object. */
const copies: readonly string[] = [
  lastAppliedAnnotation,
  'banzaicloud.com/last-applied',
  'kapp.k14s.io/original',
  'kapp.k14s.io/original-diff',
  'kapp.k14s.io/original-diff-full',
  'objectset.rio.cattle.io/applied',
]

/**
 * An object with marks in place of the values that are not kept. `keys`: those of a Secret that came as its metadata only; their
 * marks are those of no process, since nothing is known of the values.
 */
export function masked(
  { keysOnly, masked: paths }: ArchivedKind,
  object: object,
  keys: readonly string[],
): object {
  if (!keysOnly && paths.length === 0) return object
  const { uid, resourceVersion } = fieldsOf(fieldsOf(object)['metadata'])
  const hide = (value: unknown, path: string): string =>
    `${begin}${run}.${keyed.of(JSON.stringify([uid, path, value])).slice(0, 22)}`
  let kept: unknown = object
  const patterns = patternsOf(paths)
  if (keysOnly) {
    const untold = `${begin}.${String(resourceVersion).replaceAll(/\W/g, '')}`
    const data = Object.fromEntries(keys.map((key) => [key, untold]))
    if (keys.length > 0) kept = { ...object, data }
    const values = valuesIn(kept)
    const hideCopy = (text: unknown, path: string): unknown =>
      typeof text === 'string' && values.some((value) => text.includes(value))
        ? hide(text, path)
        : text
    kept = edited(kept, ['metadata', 'annotations', '*'], hideCopy)
    if ('data' in object) patterns.push(['data', '*'])
    patterns.push(['binaryData', '*'], ['stringData', '*'])
  }
  for (const steps of patterns) kept = edited(kept, steps, hide)
  return kept as object
}

function patternsOf(paths: readonly string[]): (readonly string[])[] {
  return [...paths.map(stepsOf), ...copies.map((name) => ['metadata', 'annotations', name])]
}

/** An object as readers get it. Rows from before a place was masked still have its value. */
export function withheld(paths: readonly string[], object: unknown): unknown {
  if (paths.length === 0) return object
  return patternsOf(paths).reduce((value, steps) => edited(value, steps, () => null), object)
}

/** The same of fields. */
export function withheldFields(
  paths: readonly string[],
  fields: readonly FieldDifference[],
): readonly FieldDifference[] {
  if (paths.length === 0) return fields
  const patterns = patternsOf(paths)
  return fields.map((field) => {
    const { path, before, after } = field
    if (isWithin(path, patterns)) return { path, before: null, after: null, masked: true }
    const steps = stepsOf(path)
    const inner = patterns
      .filter((pattern) => steps.every((step, at) => pattern[at] === '*' || pattern[at] === step))
      .map((pattern) => pattern.slice(steps.length))
    const hidden = (value: unknown): unknown =>
      inner.reduce((rest, pattern) => edited(rest, pattern, () => null), value)
    return { ...field, before: hidden(before), after: hidden(after) }
  })
}

/** The values of a Secret, in both forms, but for those too short to be told from other texts. */
function valuesIn(object: unknown): readonly string[] {
  const { data, stringData } = fieldsOf(object)
  const coded = Object.values(fieldsOf(data)).filter((value) => typeof value === 'string')
  const plain = Object.values(fieldsOf(stringData)).filter((value) => typeof value === 'string')
  const decoded = coded.map((value) => Buffer.from(value, 'base64').toString())
  return [...coded, ...plain, ...decoded].filter((value) => value.length >= 4)
}

export function isMark(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.startsWith(begin) &&
    /^m[0-9a-f]*\.[\w+/]*$/.test(value.slice(1))
  )
}

/** Whether a value is the mark of no process. */
export function isUntold(value: unknown): boolean {
  return isMark(value) && value.startsWith(`${begin}.`)
}

/** Whether it cannot be told if two values differ: of marks of different processes, and where a place is masked since. */
export function areUnknown(before: unknown, after: unknown): boolean {
  if (!isMark(before) && !isMark(after)) return false
  if (!isMark(before) || !isMark(after))
    return (before ?? null) !== null && (after ?? null) !== null
  const [one, other] = [before, after].map((mark) => mark.slice(0, mark.indexOf('.')))
  return one !== other || one === begin
}

/** Whether it cannot be told whether a value of an object is the same as in another state. */
export function hasUnknown(before: unknown, after: unknown): boolean {
  if (areUnknown(before, after)) return true
  if (Array.isArray(before) && Array.isArray(after)) {
    return before.some((item, at) => hasUnknown(item, after[at]))
  }
  if (!isJsonObject(before) || !isJsonObject(after)) return false
  return Object.keys(before).some((name) =>
    hasUnknown(ownValue(before, name), ownValue(after, name)),
  )
}

/** Where values of which nothing can be told stand together. */
export function placeOfUnknown(before: unknown, after: unknown, path: string = ''): string {
  const [one, other] = [fieldsOf(before), fieldsOf(after)]
  const names = Object.keys(one).filter((name) =>
    hasUnknown(ownValue(one, name), ownValue(other, name)),
  )
  const [name = ''] = names
  if (names.length !== 1 || areUnknown(ownValue(one, name), ownValue(other, name))) return path
  return placeOfUnknown(one[name], other[name], `${path}/${escaped(name)}`)
}

const marks = /(?<=[:[,])"\\u0000m[0-9a-f]*\.[\w+/]*"(?=[,\]}])/g

/** JSON with `null` in place of marks. */
export function withoutMarks(text: string): string {
  return text.includes('"\\u0000m') ? text.replaceAll(marks, 'null') : text
}

import { type Fields, fieldsOf } from '../../kubernetes/fields.ts'
import { isRawJson } from '../../lib/json.ts'
import { equalJson } from '../api/json.ts'
import {
  duplicateAt,
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
  unsupportedAt,
} from '../api/status-refusal.ts'
import { keyProblems, type NameRule, valueProblems } from './metadata-rules.ts'

/** The value at the same path in the previous version; `undefined` for new objects and for the items of lists. */
export type Previous = { readonly value: unknown } | undefined

/** The problems of the value at a path. */
export type Check = (
  value: unknown,
  path: string,
  parent: Fields,
  previous?: Previous,
) => readonly FieldProblem[]

/**
 * Checks by path: `spec.ports[].port` checks every item; `configMap?.name` checks only if `configMap` exists. Other
 * absent objects of the path are treated as empty.
 */
export type Checks = { readonly [path: string]: AnyCheck }

/** In a list, the first check that finds problems is the last. */
export type AnyCheck = Check | Checks | readonly AnyCheck[]

/** Runs the checks on an object whose path is `at`. */
export function problemsOf(
  object: unknown,
  checks: Checks,
  at = '',
  previous?: Previous,
): FieldProblem[] {
  return Object.entries(checks).flatMap(([place, check]) => {
    const found: FieldProblem[] = []
    visit(object, place.split('.'), at, previous, (...reached) => {
      found.push(...run(check, ...reached))
    })
    return found
  })
}

function run(check: AnyCheck, ...place: Parameters<Check>): readonly FieldProblem[] {
  if (typeof check === 'function') return check(...place)
  const [value, path, , previous] = place
  if (!isList(check)) return problemsOf(value, check, path, previous)
  for (const one of check) {
    const problems = run(one, ...place)
    if (problems.length > 0) return problems
  }
  return []
}

const isList = (check: AnyCheck): check is readonly AnyCheck[] => Array.isArray(check)

function visit(
  object: unknown,
  [step = '', ...rest]: readonly string[],
  at: string,
  previous: Previous,
  visitor: (...place: Parameters<Check>) => void,
): void {
  const [, name = '', mark = ''] = /^(.*?)(\[\]|\?)?$/.exec(step) ?? []
  const parent = fieldsOf(object)
  const value = parent[name]
  const path = at === '' ? name : `${at}.${name}`
  if (mark === '?' && (value === undefined || value === null)) return
  const before = previous && { value: fieldsOf(previous.value)[name] }
  const reached: readonly (readonly [unknown, string, Previous])[] =
    mark === '[]'
      ? listOf(value).map((item, index) => [item, `${path}[${index}]`, undefined])
      : [[value, path, before]]
  for (const [one, place, was] of reached) {
    if (rest.length === 0) visitor(one, place, parent, was)
    else visit(one, rest, place, was, visitor)
  }
}

/** The items of a list; none for other values. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Whether Go would see the value as absent: it does not distinguish absent from empty values. */
export function isEmpty(value: unknown): boolean {
  const isNone = value === undefined || value === null || value === '' || value === 0
  return isNone || (Array.isArray(value) && value.length === 0)
}

/** Reports what all the checks find. */
export const all =
  (...checks: readonly AnyCheck[]): Check =>
  (...place) =>
    checks.flatMap((check) => run(check, ...place))

type Condition = (value: unknown, parent: Fields) => boolean

/** Shows absent values as `''`. */
export const invalidIf =
  (isWrong: Condition, message: string): Check =>
  (value, path, parent) =>
    isWrong(value, parent) ? [invalidAt(path, value ?? '', message)] : []

export const forbiddenIf =
  (isWrong: Condition, message: string): Check =>
  (value, path, parent) =>
    isWrong(value, parent) ? [forbiddenAt(path, message)] : []

/** Forbids a field that is not empty, under a condition on the object around it. */
export const forbiddenUnless = (isAllowed: (parent: Fields) => boolean, message: string): Check =>
  forbiddenIf((value, parent) => !isEmpty(value) && !isAllowed(parent), message)

export const requiredIf =
  (isRequired: (parent: Fields) => boolean, message?: string): Check =>
  (value, path, parent) =>
    isEmpty(value) && isRequired(parent) ? [requiredAt(path, message)] : []

export const required = (message?: string): Check => requiredIf(() => true, message)

export const immutable: Check = (value, path, _, previous) =>
  previous === undefined || equalJson(previous.value ?? null, value ?? null)
    ? []
    : [invalidAt(path, value ?? null, 'field is immutable')]

/** Reports a value that exists and is not right. */
const rule =
  (isRight: (value: unknown) => boolean, text: string | ((value: unknown) => string)): Check =>
  (value, path) => {
    if (value === undefined || value === null || isRight(value)) return []
    return [invalidAt(path, value, typeof text === 'string' ? text : text(value))]
  }

/** Integers beyond 2^53 are kept as their digits. */
const numberOf = (value: unknown): number =>
  Number(isRawJson(value) ? JSON.stringify(value) : value)

export const atLeast = (least: number): Check =>
  rule((value) => !(numberOf(value) < least), `must be greater than or equal to ${least}`)

export const between = (least: number, most: number): Check =>
  rule(
    (value) => numberOf(value) >= least && numberOf(value) <= most,
    `must be between ${least} and ${most}, inclusive`,
  )

export const port: Check = between(1, 65_535)

export const userId: Check = between(0, 2 ** 31 - 1)

export const oneOf =
  (...supported: readonly string[]): Check =>
  (value, path) =>
    isEmpty(value) || supported.includes(String(value))
      ? []
      : [unsupportedAt(path, value, supported)]

/** A name that satisfies a rule. Skips empty names. */
export const named = (name: NameRule): Check =>
  rule(
    (value) => value === '' || name(String(value)) === undefined,
    (value) => name(String(value)) ?? '',
  )

/** The name of a port: an IANA service name. */
export const portName: Check = named((name) => {
  if (name.length > 15) return 'must be no more than 15 characters'
  if (!/^[-a-z0-9]+$/.test(name)) {
    return 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'
  }
  if (!/[a-z]/.test(name)) return 'must contain at least one letter (a-z)'
  if (name.includes('--')) return 'must not contain consecutive hyphens'
  return /^-|-$/.test(name) ? 'must not begin or end with a hyphen' : undefined
})

export const portOrName: Check = (value, path, parent) =>
  (typeof value === 'string' ? portName : port)(value, path, parent)

const percent =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for " +
  "validation is '[0-9]+%')"

/** A number or a percentage; at most 100 % if `bounded`. */
export const intOrPercent =
  (bounded = false): Check =>
  (value, path, parent) => {
    if (typeof value !== 'string') return atLeast(0)(value, path, parent)
    if (!/^[0-9]+%$/.test(value)) return [invalidAt(path, value, percent)]
    const isTooMuch = bounded && Number.parseInt(value, 10) > 100
    return isTooMuch ? [invalidAt(path, value, 'must not be greater than 100%')] : []
  }

/** The number in a number or percentage; 0 without one. */
export const amountOf = (value: unknown): number => Number.parseInt(String(value), 10) || 0

/** Labels, or a map of required labels. */
export const labels: Check = (value, path) =>
  Object.entries(fieldsOf(value)).flatMap(([key, text]) => [
    ...keyProblems(path, key),
    ...valueProblems(path, String(text)),
  ])

export const labelKey: Check = (value, path) =>
  isEmpty(value) ? [] : keyProblems(path, String(value))

/** Reports items of a list with the same `member`. `taken` are values that the items may not have either. */
export const unique =
  (member: string, taken: Iterable<unknown> = []): Check =>
  (value, path) => {
    const seen = new Set(taken)
    return listOf(value).flatMap((item, at): FieldProblem[] => {
      const own = fieldsOf(item)[member]
      const isNew = isEmpty(own) || !seen.has(own)
      seen.add(own)
      return isNew ? [] : [duplicateAt(`${path}[${at}].${member}`, own)]
    })
  }

const isOfSet = ({ operator }: Fields): boolean => operator === 'In' || operator === 'NotIn'
const isOfKey = ({ operator }: Fields): boolean =>
  operator === 'Exists' || operator === 'DoesNotExist'

/** A label selector, in both forms. */
export const labelSelector: Checks = {
  matchLabels: labels,
  'matchExpressions[].key': labelKey,
  'matchExpressions[].operator': rule(
    (value) => ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(String(value)),
    'not a valid selector operator',
  ),
  'matchExpressions[].values': [
    requiredIf(isOfSet, "must be specified when `operator` is 'In' or 'NotIn'"),
    forbiddenUnless(
      (parent) => !isOfKey(parent),
      "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ),
  ],
}

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

/** A quantity as a number, exact enough to compare; NaN for invalid quantities. */
export function quantityOf(value: unknown): number {
  const [, number, suffix = ''] =
    /^([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)([a-zA-Z]*)$/.exec(String(value)) ?? []
  return Number(number) * (factors[suffix] ?? Number.NaN)
}

/*
 * The words of the rules in `type-rules.ts`: each makes a check, which finds the problems of one value. Texts are not
 * always those of a kube-apiserver; reasons and fields are.
 */

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

/** The value at the same path before the write; `undefined` for new objects and for the items of lists. */
export type Previous = { readonly value: unknown } | undefined

/** The problems of the value at a path. `parent` is the object around it. */
export type Check = (
  value: unknown,
  path: string,
  parent: Fields,
  previous?: Previous,
) => readonly FieldProblem[]

/**
 * The rules of one type of the API. Checks stand by field; `self` checks a value of the type as a whole. A type that is
 * one check is not looked into any further. `instead` takes the place of what the schema says of a field.
 */
export type TypeRules = Check | Readonly<Record<string, Check | { readonly instead: Check }>>

export const unchecked: Check = () => []

/** The items of a list; none for other values. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Whether Go would see the value as absent: it does not distinguish absent from empty values. */
export function isEmpty(value: unknown): boolean {
  const isNone = value === undefined || value === null || value === '' || value === 0
  return isNone || (Array.isArray(value) && value.length === 0)
}

/** The names of these members that an object has. */
export const membersOf = (object: unknown, ...names: readonly string[]): readonly string[] =>
  names.filter((name) => (fieldsOf(object)[name] ?? null) !== null)

export const all =
  (...checks: readonly Check[]): Check =>
  (...place) =>
    checks.flatMap((check) => check(...place))

/** Reports what the first check finds that finds anything. */
export const firstOf =
  (...checks: readonly Check[]): Check =>
  (...place) => {
    for (const check of checks) {
      const found = check(...place)
      if (found.length > 0) return found
    }
    return []
  }

export const each =
  (check: Check): Check =>
  (list, path, parent) =>
    listOf(list).flatMap((item, at) => check(item, `${path}[${at}]`, parent))

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
  (isRequired: (parent: Fields) => boolean): Check =>
  (value, path, parent) =>
    isEmpty(value) && isRequired(parent) ? [requiredAt(path)] : []

export const required: Check = requiredIf(() => true)

export const immutable: Check = (value, path, _, previous) =>
  previous === undefined || equalJson(previous.value ?? null, value ?? null)
    ? []
    : [invalidAt(path, value ?? null, 'field is immutable')]

/** Reports a value that exists and is not right. */
const rule =
  (isRight: (value: unknown) => boolean, text: (value: unknown) => string): Check =>
  (value, path) =>
    value === undefined || value === null || isRight(value)
      ? []
      : [invalidAt(path, value, text(value))]

/** Integers beyond 2^53 are kept as their digits. */
const numberOf = (value: unknown): number =>
  Number(isRawJson(value) ? JSON.stringify(value) : value)

export const atLeast = (least: number): Check =>
  rule(
    (value) => !(numberOf(value) < least),
    () => `must be greater than or equal to ${least}`,
  )

export const between = (least: number, most: number): Check =>
  rule(
    (value) => numberOf(value) >= least && numberOf(value) <= most,
    () => `must be between ${least} and ${most}, inclusive`,
  )

export const port: Check = between(1, 65_535)

export const userId: Check = between(0, 2 ** 31 - 1)

/** One of these texts, or nothing. */
export const oneOf =
  (...supported: readonly unknown[]): Check =>
  (value, path) =>
    isEmpty(value) || supported.includes(value) ? [] : [unsupportedAt(path, value, supported)]

/** A name that satisfies a rule. Skips empty names. */
export const named = (name: NameRule): Check =>
  rule(
    (value) => value === '' || name(String(value)) === undefined,
    (value) => name(String(value)) ?? '',
  )

/** The name of a port: an IANA service name. */
export const portName: Check = named((name) => {
  const isName = /^(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && name.length <= 15
  return isName
    ? undefined
    : 'must be at most 15 lower case letters, digits and single hyphens between them, with a letter'
})

export const portOrName: Check = (value, path, parent) =>
  (typeof value === 'string' ? portName : port)(value, path, parent)

/** A number or a percentage; at most 100 % if `bounded`. */
export const intOrPercent =
  (bounded = false): Check =>
  (value, path, parent) => {
    if (typeof value !== 'string') return atLeast(0)(value, path, parent)
    if (!/^[0-9]+%$/.test(value)) return [invalidAt(path, value, "must be a number and a '%'")]
    const isTooMuch = bounded && Number.parseInt(value, 10) > 100
    return isTooMuch ? [invalidAt(path, value, 'must not be greater than 100%')] : []
  }

/** The number in a number or percentage; 0 without one. */
export const amountOf = (value: unknown): number => Number.parseInt(String(value), 10) || 0

/** Labels, or a map of required labels. */
export function labels(value: unknown, path: string): FieldProblem[] {
  return Object.entries(fieldsOf(value)).flatMap(([key, text]) => [
    ...keyProblems(path, key),
    ...valueProblems(path, String(text)),
  ])
}

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

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist']

const requirement: Check = (value, path) => {
  const { key, operator, values } = fieldsOf(value)
  const found = [...labelKey(key, `${path}.key`, {})]
  const isKnown = isEmpty(operator) || operators.includes(String(operator))
  const isOfSet = operator === 'In' || operator === 'NotIn'
  if (!isKnown) found.push(invalidAt(`${path}.operator`, operator, 'not a label selector operator'))
  if (isOfSet && isEmpty(values)) found.push(requiredAt(`${path}.values`))
  if (isKnown && !isOfSet && !isEmpty(values)) {
    found.push(forbiddenAt(`${path}.values`, `may not be specified with ${String(operator)}`))
  }
  return found
}

/** A label selector, in both forms. */
export function labelSelector(value: unknown, path: string): FieldProblem[] {
  const { matchExpressions, matchLabels } = fieldsOf(value)
  return [
    ...labels(matchLabels, `${path}.matchLabels`),
    ...each(requirement)(matchExpressions, `${path}.matchExpressions`, {}),
  ]
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

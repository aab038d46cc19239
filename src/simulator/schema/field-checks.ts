/*
 * The words of the rules of built-in kinds: each makes a check, which finds the problems of one value. A check looks at a
 * value in its place, and answers with a problem, a list of what it found, or `false`. Texts are not those of a
 * kube-apiserver; reasons and fields are.
 */

import { type Fields, fieldsOf } from '../../kubernetes/fields.ts'
import { isRawJson } from '../../lib/json.ts'
import { equalJson } from '../api/json.ts'
import {
  duplicateAt,
  forbiddenAt,
  type Found,
  invalidAt,
  problemsIn,
  requiredAt,
  unsupportedAt,
} from '../api/status-refusal.ts'
import { keyProblem, type NameRule, valueProblem } from './metadata-rules.ts'

/** A value of an object. */
export interface Place {
  readonly value: unknown
  readonly path: string
  /** The object around it. */
  readonly parent: Fields
  /** The value before the write; `undefined` for new objects and for the items of lists. */
  readonly previous?: { readonly value: unknown } | undefined
}

export type Check = (at: Place) => Found

/** The items of a list; none for other values. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

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
  (at) =>
    checks.map((check) => check(at))

/** Reports what the first check finds that finds anything. */
export const firstOf =
  (...checks: readonly Check[]): Check =>
  (at) =>
    checks.map((check) => problemsIn(check(at))).find(({ length }) => length > 0)

export const each =
  (check: Check): Check =>
  ({ value, path, parent }) =>
    listOf(value).map((item, index) => check({ value: item, path: `${path}[${index}]`, parent }))

type Condition = (value: unknown, parent: Fields) => boolean

/** Shows absent values as `''`. */
export const invalidIf =
  (isWrong: Condition, message: string): Check =>
  ({ value, path, parent }) =>
    isWrong(value, parent) && invalidAt(path, value ?? '', message)

/** Forbids a value that is not empty, under a condition on the object around it. */
export const forbiddenIf =
  (isForbidden: (parent: Fields) => boolean, message: string): Check =>
  ({ value, path, parent }) =>
    !isEmpty(value) && isForbidden(parent) && forbiddenAt(path, message)

export const requiredIf =
  (isRequired: (parent: Fields) => boolean): Check =>
  ({ value, path, parent }) =>
    isEmpty(value) && isRequired(parent) && requiredAt(path)

export const required: Check = requiredIf(() => true)

export const immutable: Check = ({ value, path, previous }) =>
  previous !== undefined &&
  !equalJson(previous.value ?? null, value ?? null) &&
  invalidAt(path, value ?? null, 'field is immutable')

/** Integers beyond 2^53 are kept as their digits. */
const numberOf = (value: unknown): number =>
  Number(isRawJson(value) ? JSON.stringify(value) : value)

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

export const atLeast = (least: number): Check =>
  invalidIf(
    (value) => isGiven(value) && numberOf(value) < least,
    `must be greater than or equal to ${least}`,
  )

export const between = (least: number, most: number): Check =>
  invalidIf(
    (value) => isGiven(value) && !(numberOf(value) >= least && numberOf(value) <= most),
    `must be between ${least} and ${most}, inclusive`,
  )

export const port: Check = between(1, 65_535)

export const userId: Check = between(0, 2 ** 31 - 1)

/** One of these texts, or nothing. */
export const oneOf =
  (...supported: readonly unknown[]): Check =>
  ({ value, path }) =>
    !isEmpty(value) && !supported.includes(value) && unsupportedAt(path, value, supported)

/** A name that satisfies a rule. Skips empty names. */
export const named =
  (name: NameRule): Check =>
  ({ value, path }) => {
    const problem = isGiven(value) && value !== '' ? name(String(value)) : undefined
    return problem !== undefined && invalidAt(path, value, problem)
  }

/** The name of a port: an IANA service name. */
export const portName: Check = named((name) =>
  /^(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && name.length <= 15
    ? undefined
    : 'must be at most 15 lower case letters, digits and single hyphens between them, with a letter',
)

export const portOrName: Check = (at) => (typeof at.value === 'string' ? portName : port)(at)

/** A number or a percentage; at most 100 % if `bounded`. */
export const intOrPercent =
  (bounded = false): Check =>
  (at) => {
    const { value, path } = at
    if (typeof value !== 'string') return atLeast(0)(at)
    const isRight = /^[0-9]+%$/.test(value) && !(bounded && amountOf(value) > 100)
    return !isRight && invalidAt(path, value, `must be a percentage${bounded ? ' up to 100%' : ''}`)
  }

/** The number in a number or percentage; 0 without one. */
export const amountOf = (value: unknown): number => Number.parseInt(String(value), 10) || 0

/** Labels, or a map of required labels. */
export const labels: Check = ({ value, path }) =>
  Object.entries(fieldsOf(value)).map(([key, text]) => [
    keyProblem(path, key),
    valueProblem(path, String(text)),
  ])

export const labelKey: Check = ({ value, path }) =>
  !isEmpty(value) && keyProblem(path, String(value))

/** Reports items of a list with the same `member`. `taken` are values that the items may not have either. */
export const unique =
  (member: string, taken: Iterable<unknown> = []): Check =>
  ({ value, path }) => {
    const seen = new Set(taken)
    return listOf(value).map((item, index) => {
      const own = fieldsOf(item)[member]
      const isNew = isEmpty(own) || !seen.has(own)
      seen.add(own)
      return !isNew && duplicateAt(`${path}[${index}].${member}`, own)
    })
  }

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist']

const requirement: Check = ({ value, path, parent }) => {
  const { key, operator, values } = fieldsOf(value)
  const isKnown = isEmpty(operator) || operators.includes(String(operator))
  const isOfSet = operator === 'In' || operator === 'NotIn'
  const isOdd = isKnown && !isOfSet && !isEmpty(values)
  return [
    labelKey({ value: key, path: `${path}.key`, parent }),
    !isKnown && invalidAt(`${path}.operator`, operator, 'not a label selector operator'),
    isOfSet && isEmpty(values) && requiredAt(`${path}.values`),
    isOdd && forbiddenAt(`${path}.values`, `may not be specified with ${String(operator)}`),
  ]
}

/** A label selector, in both forms. */
export const labelSelector: Check = ({ value, path, parent }) => {
  const { matchExpressions, matchLabels } = fieldsOf(value)
  return [
    labels({ value: matchLabels, path: `${path}.matchLabels`, parent }),
    each(requirement)({ value: matchExpressions, path: `${path}.matchExpressions`, parent }),
  ]
}

const suffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/** A quantity as a number, exact enough to compare; NaN for invalid quantities. */
export function quantityOf(value: unknown): number {
  const [, number, suffix = ''] =
    /^([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)([a-zA-Z]*)$/.exec(String(value)) ?? []
  const [decimal, binary] = [suffixes.indexOf(suffix), binarySuffixes.indexOf(suffix)]
  if (decimal < 0 && binary < 0) return Number.NaN
  return Number(number) * (decimal < 0 ? 1024 ** binary : Number(`1e${(decimal - 3) * 3}`))
}

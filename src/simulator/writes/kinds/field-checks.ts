import { isJsonObject, isRawJson } from '../../../lib/json.ts'
import {
  duplicateAt,
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
  unsupportedAt,
} from '../../api/field-problem.ts'
import { keyProblems, valueProblems } from '../metadata-rules.ts'
import type { NameRule } from '../object-name.ts'

/** A JSON object of unknown shape. */
export type Fields = Readonly<Record<string, unknown>>

/** The problems of the value at a path. The first check of a path that finds problems ends the checks of that path. */
export type Check = (value: unknown, path: string, parent: Fields) => readonly FieldProblem[]

/**
 * Checks by path: `spec.ports[].port` checks every item; `configMap?.name` checks only if `configMap` exists. Other
 * absent objects of the path are treated as empty.
 */
export type Checks = Readonly<Record<string, Check | readonly Check[]>>

/** Runs the checks on an object whose path is `at`. */
export function problemsOf(object: unknown, checks: Checks, at = ''): FieldProblem[] {
  return Object.entries(checks).flatMap(([place, list]) => {
    const found: FieldProblem[] = []
    look(object, place.split('.'), at, (value, path, parent) => {
      for (const check of [list].flat()) {
        const problems = check(value, path, parent)
        found.push(...problems)
        if (problems.length > 0) return
      }
    })
    return found
  })
}

function look(
  object: unknown,
  [step = '', ...rest]: readonly string[],
  at: string,
  visit: (value: unknown, path: string, parent: Fields) => void,
): void {
  const [, name = '', mark = ''] = /^(.*?)(\[\]|\?)?$/.exec(step) ?? []
  const parent = fieldsOf(object)
  const value = parent[name]
  const path = at === '' ? name : `${at}.${name}`
  if (mark === '?' && (value === undefined || value === null)) return
  const reached: readonly (readonly [unknown, string])[] =
    mark === '[]'
      ? itemsOf(value).map((item, index) => [item, `${path}[${index}]`])
      : [[value, path]]
  for (const [one, place] of reached) {
    if (rest.length === 0) visit(one, place, parent)
    else look(one, rest, place, visit)
  }
}

/** The members of an object; none for other values. */
export function fieldsOf(value: unknown): Fields {
  return isJsonObject(value) ? value : {}
}

/** The items of a list; none for other values. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A text; `''` for other values. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Whether Go would see the value as absent: it does not distinguish absent from empty values. */
export function isEmpty(value: unknown): boolean {
  const isNone = value === undefined || value === null || value === '' || value === 0
  return isNone || (Array.isArray(value) && value.length === 0)
}

/** Reports a value that exists and is not right. */
const rule =
  (isRight: (value: unknown) => boolean, text: string | ((value: unknown) => string)): Check =>
  (value, path) => {
    if (value === undefined || value === null || isRight(value)) return []
    return [invalidAt(path, value, typeof text === 'string' ? text : text(value))]
  }

export const required =
  (message?: string): Check =>
  (value, path) =>
    isEmpty(value) ? [requiredAt(path, message)] : []

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

/** A port's number. */
export const port: Check = between(1, 65_535)

/** The number of a user or group. */
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
    (value) => value === '' || name.problem(String(value)) === undefined,
    (value) => name.problem(String(value)) ?? '',
  )

/** The name of a port: an IANA service name. */
export const portName: Check = rule(
  (value) => isEmpty(value) || portNameProblem(String(value)) === '',
  (value) => portNameProblem(String(value)),
)

function portNameProblem(name: string): string {
  if (name.length > 15) return 'must be no more than 15 characters'
  if (!/^[-a-z0-9]+$/.test(name)) {
    return 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'
  }
  if (!/[a-z]/.test(name)) return 'must contain at least one letter (a-z)'
  if (name.includes('--')) return 'must not contain consecutive hyphens'
  return /^-|-$/.test(name) ? 'must not begin or end with a hyphen' : ''
}

/** A port by its number or its name. */
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

/** Reports items of a list with the same `member`. */
export const unique =
  (member: string): Check =>
  (value, path) => {
    const seen = new Set<unknown>()
    return itemsOf(value).flatMap((item, at): FieldProblem[] => {
      const own = fieldsOf(item)[member]
      const isNew = isEmpty(own) || !seen.has(own)
      seen.add(own)
      return isNew ? [] : [duplicateAt(`${path}[${at}].${member}`, own)]
    })
  }

/** A label selector, in both forms. */
export const labelSelector: Checks = {
  matchLabels: labels,
  'matchExpressions[].key': labelKey,
  'matchExpressions[].operator': rule(
    (value) => ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(String(value)),
    'not a valid selector operator',
  ),
  'matchExpressions[].values': (value, path, { operator }) => {
    const ofSet = operator === 'In' || operator === 'NotIn'
    if (ofSet && isEmpty(value)) {
      return [requiredAt(path, "must be specified when `operator` is 'In' or 'NotIn'")]
    }
    if ((operator === 'Exists' || operator === 'DoesNotExist') && !isEmpty(value)) {
      const message = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
      return [forbiddenAt(path, message)]
    }
    return []
  },
}

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
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
  return Number(number) * (suffix === '' ? 1 : (factors[suffix] ?? Number.NaN))
}

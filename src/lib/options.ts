/*
 * Options of programs: each has a check, and unknown names are refused with the nearest known one. Numbers that a
 * configuration may set have a table with their default and bounds ({@link NumberOptions}).
 */

import { CodedError } from './coded-error.ts'
import { isRecord } from './json.ts'

/** An option of a program has a value that it cannot have. `hint` says which it can. */
export class InvalidOptionError extends CodedError {
  readonly option: string

  constructor(
    option: string,
    value: unknown,
    expected: string,
    problem = `${option} is ${shown(value)}`,
  ) {
    super('INVALID_OPTION', problem, { value, hint: `give ${expected}` })
    this.option = option
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 200))
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

/** Throws {@link InvalidOptionError} if the option may not have the value. */
export type OptionCheck = (option: string, value: unknown) => void

/** A check for each option. An option without a check is unknown. */
export type OptionChecks<T> = { readonly [Name in keyof T]-?: OptionCheck }

/**
 * Returns the options without `undefined` ones. `of` says what the options are for, such as "an informer". Throws
 * {@link InvalidOptionError} if `options` is not an object, if an option is unknown (naming the nearest known one), or
 * if a value is invalid.
 */
export function checkedOptions<T extends object>(
  of: string,
  options: T,
  checks: OptionChecks<T>,
): T {
  const given: unknown = options
  if (!isRecord(given)) {
    const problem = `the options of ${of} are ${shown(given)}`
    throw new InvalidOptionError('options', given, 'an object', problem)
  }
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  checkEntries(of, '', entries, checks)
  return Object.fromEntries(entries) as T
}

function checkEntries(
  of: string,
  path: string,
  entries: readonly [string, unknown][],
  checks: OptionChecks<Record<string, unknown>>,
): void {
  for (const [name, value] of entries) {
    if (!Object.hasOwn(checks, name)) {
      const known = Object.keys(checks)
      const nearest = nearestName(name, known)
      const way = nearest === undefined ? `one of ${known.join(', ')}` : `${path}${nearest}`
      throw new InvalidOptionError(path + name, value, way, `${of} has no option ${path}${name}`)
    }
    if (value !== undefined) checks[name]?.(`${path}${name}`, value)
  }
}

/** The known name nearest to `name`, by edit distance; `undefined` if none is near. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = Math.max(2, name.length / 3)
  for (const one of known) {
    const [short, long] = [name.toLowerCase(), one.toLowerCase()]
    const isStart = short !== '' && long.startsWith(short)
    // Names of very different lengths are not near. The distance of a long name takes long to compute.
    if (!isStart && Math.abs(short.length - long.length) > least) continue
    const steps = isStart ? 1 : editDistance(short, long)
    if (steps > least || (steps === least && nearest !== undefined)) continue
    nearest = one
    least = steps
  }
  return nearest
}

/** The number of letters to change, add or remove: the Levenshtein distance. */
export function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at]
    for (let to = 1; to <= other.length; to += 1) {
      const change = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1)
      next.push(Math.min(change, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}

function checkOf(expected: string, isValid: (value: unknown) => boolean): OptionCheck {
  return (option, value) => {
    if (!isValid(value)) throw new InvalidOptionError(option, value, expected)
  }
}

/** Milliseconds, 0 or more. `Infinity` means no limit. */
export const aDuration: OptionCheck = checkOf(
  'milliseconds, 0 or more; Infinity for no deadline',
  (value) => typeof value === 'number' && value >= 0,
)

/** A finite number from `least`. */
export function aNumber(least = 0): OptionCheck {
  return checkOf(
    `a number, ${least} or more`,
    (value) => Number.isFinite(value) && (value as number) >= least,
  )
}

/** A whole number of at least 1. */
export const aCount: OptionCheck = checkOf(
  'a whole number of at least 1',
  (value) => Number.isInteger(value) && Number(value) >= 1,
)

/** A number from `least`, or `Infinity` for no limit. */
export function aLimit(least = 0): OptionCheck {
  return checkOf(
    `a number, ${least} or more`,
    (value) => typeof value === 'number' && value >= least,
  )
}

export const aFlag: OptionCheck = checkOf('true or false', (value) => typeof value === 'boolean')
export const aString: OptionCheck = checkOf('a string', (value) => typeof value === 'string')
export const aFunction: OptionCheck = checkOf('a function', (value) => typeof value === 'function')
export const aList: OptionCheck = checkOf('a list', Array.isArray)

/** An object or an instance of a class. Its members are not checked. */
export const anObject: OptionCheck = checkOf('an object', isRecord)

/** Any value. The code that uses the option checks it. */
export const anything: OptionCheck = () => {}

export function oneOf(...values: readonly unknown[]): OptionCheck {
  return checkOf(values.map((one) => `'${String(one)}'`).join(' or '), (value) =>
    values.includes(value),
  )
}

export function optionsOf<T extends object>(checks: OptionChecks<T>): OptionCheck {
  return (option, value) => {
    anObject(option, value)
    checkEntries(option, `${option}.`, Object.entries(value as object), checks)
  }
}

/**
 * Derives the checks from the types of the defaults. A number is a duration if its name ends in `Ms`, else a limit.
 */
export function checksLike<T extends object>(defaults: T): OptionChecks<T> {
  const checks = Object.entries(defaults).map(([name, value]) => [name, checkLike(name, value)])
  return Object.fromEntries(checks) as OptionChecks<T>
}

function checkLike(name: string, value: unknown): OptionCheck {
  if (typeof value === 'number') return name.endsWith('Ms') ? aDuration : aLimit()
  if (typeof value === 'boolean') return aFlag
  if (typeof value === 'string') return aString
  return isRecord(value) ? optionsOf(checksLike(value)) : anything
}

/** Options as a caller may write them: `undefined` counts as absent. */
export type Given<T extends object> = { readonly [K in keyof T]?: T[K] | undefined }

/** Replaces each default by the option of the same name, unless that is `undefined`. */
export function withDefaults<T extends object>(defaults: T, options: Given<T>): T {
  const filled: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(defaults)) {
    filled[name] = (options as Readonly<Record<string, unknown>>)[name] ?? value
  }
  return filled as T
}

/** An option that is a number: its default, and what a configuration may set. */
export interface NumberOption {
  readonly byDefault: number
  readonly least: number
  /** Absent: any number. */
  readonly most?: number
}

export type NumberOptions<T> = { readonly [Name in keyof T]-?: NumberOption }

export function defaultsOf<T>(options: NumberOptions<T>): T {
  const entries = Object.entries<NumberOption>(options)
  return Object.fromEntries(entries.map(([name, { byDefault }]) => [name, byDefault])) as T
}

const maxBytes = 1_099_511_627_776

/** The bounds of the bytes that all users together hold, and that one user holds: by default a half of that. */
export function heldBytesOptions(
  byDefault: number,
): NumberOptions<{ readonly maxHeldBytes: number; readonly maxHeldBytesPerUser: number }> {
  return {
    maxHeldBytes: { byDefault, least: 0, most: maxBytes },
    maxHeldBytesPerUser: { byDefault: Math.floor(byDefault / 2), least: 0, most: maxBytes },
  }
}

/** An object whose members that may be `undefined` are absent instead. */
export type Present<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> }

/** The members that are not `undefined`, ready to be spread over others. */
export function present<T extends object>(options: T): Present<T> {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Present<T>
}

/**
 * The filter of a table as people type it, and the `where` that the gateway takes.
 *
 *     phase:Running,Pending  restarts:>3  -nodeName:*  age:<1h  label:app=web  health:degraded  web*
 *
 * Tokens stand apart by spaces, and all of them hold. A value may be in double quotes. `-` before a token excludes what
 * it matches. A token without a name is about the name of the object.
 */
import { words } from '../words.ts'

/** An index of a kind, as far as a filter depends on it. */
export interface FilterIndex {
  readonly name: string
  readonly form: FilterForm
  /** The only values, if the API has a closed set. */
  readonly values?: readonly string[] | null
}

/** The form of an index's values, as the gateway's `IndexForm`. */
export type FilterForm = 'STRING' | 'INT' | 'BOOLEAN' | 'DATE_TIME' | 'QUANTITY' | 'HEALTH_STATUS'

/** A part of a filter. */
export interface Token {
  readonly negated: boolean
  /** An index, or `label`; absent for free text. */
  readonly name?: string
  /** As it is typed: with quotes, commas, `*` and comparisons. */
  readonly value: string
}

/** A condition in the shape of the gateway's `where`. */
export type Condition = Readonly<Record<string, unknown>>

/** What a filter asks for. */
export interface FilterReading {
  /** Absent: all objects. */
  readonly where?: Condition
  /** What is wrong with each token, in the order of the tokens. Such a token is left out of `where`. */
  readonly problems: readonly (string | undefined)[]
}

const tokenForm = /-?(?:[^\s":]+:)?(?:"(?:[^"\\]|\\.)*"?|[^\s"])*/gu

/** The tokens of a text. */
export function tokensOf(text: string): readonly Token[] {
  return (text.match(tokenForm) ?? []).filter((part) => part !== '').map(tokenOf)
}

/** One token. A sign alone is free text. */
export function tokenOf(part: string): Token {
  const negated = part.length > 1 && part.startsWith('-')
  const rest = negated ? part.slice(1) : part
  const [, name, value] = /^([^\s":]+):(.*)$/su.exec(rest) ?? []
  if (name === undefined || value === undefined) return { negated, value: rest }
  return { negated, name, value }
}

/** The text of tokens: `tokensOf` reads the same tokens from it. */
export function textOf(tokens: readonly Token[]): string {
  return tokens.map(tokenText).join(' ')
}

export function tokenText({ negated, name, value }: Token): string {
  return `${negated ? '-' : ''}${name === undefined ? '' : `${name}:`}${value}`
}

/** A value as it must be typed to mean only itself. */
export function quoted(value: string): string {
  return /^[^\s",*<>=!\\-][^\s",*\\]*$/u.test(value)
    ? value
    : `"${value.replaceAll(/["\\]/gu, String.raw`\$&`)}"`
}

/** Reads tokens as a `where` of a kind with these indexes. Spans such as `1h` are counted back from `nowMs`. */
export function readFilter(
  tokens: readonly Token[],
  indexes: readonly FilterIndex[],
  nowMs: number,
): FilterReading {
  const conditions: Condition[] = []
  const problems = tokens.map((token) => {
    const condition = conditionOf(token, indexes, nowMs)
    if (typeof condition === 'string') return condition
    if (condition !== undefined) conditions.push(condition)
    return undefined
  })
  const [only] = conditions
  if (only === undefined) return { problems }
  return { where: conditions.length === 1 ? only : { and: conditions }, problems }
}

/** The condition of a token, or what is wrong with it; `undefined` for one whose value is not typed yet. */
function conditionOf(
  { negated, name, value }: Token,
  indexes: readonly FilterIndex[],
  nowMs: number,
): Condition | string | undefined {
  if (value === '') return undefined
  if (name === 'label' || name === 'labels') return labelCondition(value, negated)
  const index = indexOf(name ?? 'name', indexes)
  if (index === undefined) return unknownIndex(name ?? 'name', indexes)
  const operators: Condition[] = []
  for (const part of partsOf(value)) {
    const operator = operatorOf(part, name === undefined, index, nowMs)
    if (typeof operator === 'string') return operator
    operators.push(operator)
  }
  return joined(index.name, operators, negated)
}

/** Several operators of one index: any of them may hold. */
function joined(name: string, operators: readonly Condition[], negated: boolean): Condition {
  const [first = {}] = operators
  const values = operators.map((operator) => operator['eq'])
  const one =
    operators.length === 1 ? first : values.every((value) => value !== undefined) && { in: values }
  if (one !== false) return { [name]: negated ? inverse(one) : one }
  const any = { or: operators.map((operator) => ({ [name]: operator })) }
  return negated ? { not: any } : any
}

function inverse(operator: Condition): Condition {
  return 'exists' in operator ? { exists: operator['exists'] !== true } : { not: operator }
}

/** The index that a token means: names are found in any case, and `age` is the time of creation. */
export function indexOf(name: string, indexes: readonly FilterIndex[]): FilterIndex | undefined {
  const wanted = name.toLowerCase()
  return (
    indexes.find((index) => index.name.toLowerCase() === wanted) ??
    (wanted === 'age' ? indexes.find((index) => index.name === 'creationTimestamp') : undefined)
  )
}

function unknownIndex(name: string, indexes: readonly FilterIndex[]): string {
  const wanted = name.toLowerCase()
  const near = indexes
    .map((index) => index.name)
    .filter((known) => {
      const one = known.toLowerCase()
      return one.includes(wanted) || wanted.includes(one) || distance(one, wanted) < 3
    })
  return words.filter.unknownIndex(name, near.slice(0, 3))
}

/** How many letters differ between two words (Levenshtein). */
function distance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let column = 1; column <= other.length; column++) {
      const change = (above[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1)
      next.push(Math.min(change, (above[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    above = next
  }
  return above[other.length] ?? 0
}

/** The values between commas, still with their quotes. */
function partsOf(value: string): readonly string[] {
  return (value.match(/(?:"(?:[^"\\]|\\.)*"?|[^,"])+/gu) ?? []).filter((part) => part !== '')
}

const isQuoted = (part: string): boolean => part.startsWith('"')

function unquoted(part: string): string {
  if (!isQuoted(part)) return part
  return part
    .slice(1, part.length > 1 && part.endsWith('"') ? -1 : undefined)
    .replaceAll(/\\(.)/gu, '$1')
}

/** What one value asks of an index. */
function operatorOf(
  part: string,
  isFreeText: boolean,
  index: FilterIndex,
  nowMs: number,
): Condition | string {
  if (part === '*') return { exists: true }
  if (index.form === 'STRING' || index.form === 'HEALTH_STATUS') {
    return textOperator(part, isFreeText, index)
  }
  const [, sign = '', rest = ''] = /^(>=|<=|>|<|)(.*)$/su.exec(part) ?? []
  return typedOperator(signs[sign] ?? 'eq', unquoted(rest), index, nowMs)
}

const signs: Readonly<Record<string, string>> = { '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte' }

function textOperator(
  part: string,
  isFreeText: boolean,
  { name, form, values }: FilterIndex,
): Condition | string {
  const value = unquoted(part)
  const closed = values ?? []
  if (closed.length > 0) {
    const known = closed.find((one) => one.toLowerCase() === value.toLowerCase())
    return known === undefined ? words.filter.unknownValue(name, value, closed) : { eq: known }
  }
  if (form === 'HEALTH_STATUS' || isQuoted(part)) return { eq: value }
  const [, before, middle = '', after] = /^(\*?)(.*?)(\*?)$/su.exec(value) ?? []
  if (middle.includes('*')) return words.filter.starInside(value)
  if (before === '*' && after === '*') return { contains: middle }
  if (before === '*') return { endsWith: middle }
  if (after === '*') return { startsWith: middle }
  return isFreeText ? { contains: middle } : { eq: middle }
}

const opposite: Readonly<Record<string, string>> = { gt: 'lt', gte: 'lte', lt: 'gt', lte: 'gte' }

function typedOperator(
  operator: string,
  value: string,
  { name, form }: FilterIndex,
  nowMs: number,
): Condition | string {
  if (form === 'BOOLEAN') {
    if (operator === 'eq' && /^(?:true|false)$/iu.test(value)) {
      return { eq: value.toLowerCase() === 'true' }
    }
    return words.filter.noBoolean(name, value)
  }
  if (form === 'INT') {
    const isNumber = /^[-+]?\d+$/u.test(value)
    return isNumber ? { [operator]: Number(value) } : words.filter.noNumber(name, value)
  }
  if (form === 'QUANTITY') {
    const isQuantity = /^[-+]?[\d.]+(?:[eE][-+]?\d+|[numkMGTPE]i?|Ki)?$/u.test(value)
    return isQuantity ? { [operator]: value } : words.filter.noQuantity(name, value)
  }
  const spanMs = spanOf(value)
  if (spanMs !== undefined) {
    // Less than an hour ago is later than an hour before now.
    const time = new Date(nowMs - spanMs).toISOString()
    return { [opposite[operator] ?? 'gt']: time }
  }
  const time = /^\d{4}-\d\d/u.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(time)) return words.filter.noTime(name, value)
  return { [operator]: new Date(time).toISOString() }
}

const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** A span such as `90s`, `1h30m`, `2d`, in milliseconds. */
function spanOf(text: string): number | undefined {
  if (!/^(?:\d+[smhdw])+$/u.test(text)) return undefined
  const parts = text.matchAll(/(\d+)([smhdw])/gu)
  return [...parts].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (unitsMs[unit ?? ''] ?? 0),
    0,
  )
}

/** `app=web`, `app!=web`, `app=web,api`, `app`. */
function labelCondition(value: string, negated: boolean): Condition | string | undefined {
  const [, key = '', sign, rest = ''] = /^([^=!]+)(!?=)?(.*)$/su.exec(value) ?? []
  if (key === '') return words.filter.noLabel(value)
  const isNegated = negated !== (sign === '!=')
  if (sign === undefined) return { labels: [{ key, exists: !isNegated }] }
  const index: FilterIndex = { name: key, form: 'STRING' }
  const operators: Condition[] = []
  for (const part of partsOf(rest)) {
    const operator = part === '*' ? { exists: true } : textOperator(part, false, index)
    if (typeof operator === 'string') return operator
    operators.push(operator)
  }
  if (operators.length === 0) return undefined
  const values = operators.map((operator) => operator['eq'])
  const [first = {}] = operators
  if (operators.length > 1 && values.includes(undefined)) return words.filter.starInList(value)
  const one = operators.length === 1 ? first : { in: values }
  return { labels: [{ key, ...(isNegated ? inverse(one) : one) }] }
}

/*
 * Compiles the filter of one index to a condition. An object matches if *one* of its values meets all comparisons, so
 * `{ gte: 1, lt: 5 }` means a value in between. `exists` asks for any value. `not` matches if the inner filter does not,
 * hence also objects without a value. `{}` matches every object, `in: []` none.
 *
 * An absent or null operator is no condition, as with an unset GraphQL variable. `eq: null` is refused, because callers who
 * write it mean `exists: false`.
 */

import { healthStatuses } from '../../kubernetes/health/health.ts'
import {
  allOf,
  type Condition,
  everything,
  hasAnyValue,
  hasValueWithin,
  type IndexReference,
  noneOf,
  valuesOf,
  type ValueTest,
} from './condition.ts'
import { type ArgumentError, unusableValue, unknownFilter } from './argument-error.ts'
import type { FilterableIndex } from '../index/index-definition.ts'
import { indexKeyOf, type IndexType } from '../index/index-key.ts'
import {
  after,
  everyValue,
  intersectionOf,
  isWithin,
  unionOf,
  type ValueRange,
  type ValueRanges,
  withPrefix,
} from './value-ranges.ts'

export interface Filter<T = unknown> {
  readonly eq?: T
  readonly in?: readonly T[] | null
  readonly exists?: boolean | null
  readonly not?: Filter<T> | null
  readonly lt?: T | null
  readonly lte?: T | null
  readonly gt?: T | null
  readonly gte?: T | null
  /** This and the next two are for strings only, and compare code units: `contains: "A"` does not find `a`. */
  readonly startsWith?: T | null
  readonly endsWith?: T | null
  readonly contains?: T | null
}

export interface FilterContext {
  readonly index: FilterableIndex
  /** The index that holds the values. */
  readonly reference: IndexReference
  /** The path of the filter, for errors: `where.phase`. */
  readonly argument: string
  /** Called with the number of values of each `in`; may throw. */
  spend(argument: string, values: number): void
  readonly maxDepth: number
}

/** One value must be one of the keys (if defined), be within the ranges, and pass all tests. */
interface ValueDemand {
  keys: readonly string[] | undefined
  ranges: ValueRanges
  readonly tests: ValueTest[]
}

/** Throws `ArgumentError` for a wrong value, and for an operator that the index lacks. */
export function compileFilter(filter: unknown, context: FilterContext): Condition {
  if (filter === undefined || filter === null) return everything
  const { index, reference, argument } = context
  if (typeof filter !== 'object' || Array.isArray(filter)) {
    throw unusableValue(argument, filter, 'must be a filter', 'write { eq: … }')
  }
  if (context.maxDepth < 0) throw unusableValue(argument, filter, 'is nested too deep')
  const operators = operatorsOf(index)
  const conditions: Condition[] = []
  const demand: ValueDemand = { keys: undefined, ranges: everyValue, tests: [] }
  for (const [name, value] of Object.entries(filter) as [string, unknown][]) {
    const operator = operators.find((one) => one === name)
    const here = `${argument}.${name}`
    if (operator === undefined) throw unknownFilter(here, name, operators)
    if (value === null && operator === 'eq') throw nullError(here)
    if (value === undefined || value === null) continue
    switch (operator) {
      case 'exists':
        conditions.push(existence(value, here, reference))
        break
      case 'not': {
        const inner = { ...context, argument: here, maxDepth: context.maxDepth - 1 }
        conditions.push(noneOf(compileFilter(value, inner)))
        break
      }
      case 'eq':
        demand.keys = intersect(demand.keys, [valueOf(value, here, index)])
        break
      case 'in':
        demand.keys = intersect(demand.keys, keysOf(value, here, context))
        break
      case 'lt':
      case 'lte':
      case 'gt':
      case 'gte':
      case 'startsWith': {
        const range = rangeOf(operator, keyOf(value, here, index))
        demand.ranges = intersectionOf(demand.ranges, unionOf([range]))
        break
      }
      case 'endsWith': {
        const end = keyOf(value, here, index)
        demand.tests.push((key) => key.endsWith(end))
        break
      }
      case 'contains': {
        const part = keyOf(value, here, index)
        demand.tests.push((key) => key.includes(part))
      }
    }
  }
  return allOf([valueCondition(reference, demand), ...conditions])
}

function valueCondition(index: IndexReference, { keys, ranges, tests }: ValueDemand): Condition {
  const test: ValueTest = (key) => isWithin(ranges, key) && tests.every((one) => one(key))
  if (keys !== undefined) return valuesOf(index, keys.filter(test))
  const [only] = tests
  if (only !== undefined) {
    const isPlain = tests.length === 1 && ranges === everyValue
    return { form: 'tests', index, tests: [isPlain ? only : test] }
  }
  return ranges === everyValue ? everything : hasValueWithin(index, ranges)
}

function nullError(argument: string): ArgumentError {
  const hint = 'leave it out, or ask for objects without a value by exists: false'
  return unusableValue(argument, null, 'must not be null', hint)
}

function existence(value: unknown, argument: string, index: IndexReference): Condition {
  if (typeof value !== 'boolean') {
    throw unusableValue(argument, value, 'must be true or false')
  }
  const exists = hasAnyValue(index)
  return value ? exists : noneOf(exists)
}

function keysOf(value: unknown, argument: string, context: FilterContext): string[] {
  if (!Array.isArray(value)) throw unusableValue(argument, value, 'must be a list')
  context.spend(argument, value.length)
  return value.map((one: unknown, at) => valueOf(one, `${argument}[${at}]`, context.index))
}

function keyOf(value: unknown, argument: string, { type }: FilterableIndex): string {
  // A string index keeps numbers as text, but a caller who filters by a number has mistaken the index.
  const mistaken = type === 'string' && typeof value !== 'string'
  const key = mistaken ? undefined : indexKeyOf(type, value)
  if (key === undefined) throw unusableValue(argument, value, `must be ${describeType(type)}`)
  return key
}

/** The key of a value. Throws if the index can never have the value. */
function valueOf(value: unknown, argument: string, index: FilterableIndex): string {
  const key = keyOf(value, argument, index)
  if (index.values?.includes(key) !== false) return key
  const hint = `there are ${index.values.join(', ')}`
  throw unusableValue(
    argument,
    value,
    `${JSON.stringify(value)} is not a value of ${index.name}`,
    hint,
  )
}

function intersect(
  known: readonly string[] | undefined,
  keys: readonly string[],
): readonly string[] {
  return known === undefined ? keys : known.filter((key) => keys.includes(key))
}

const always = ['eq', 'in', 'exists', 'not'] as const
const comparisons = ['lt', 'lte', 'gt', 'gte'] as const
const ofStrings = ['startsWith', 'endsWith', 'contains'] as const

type RangeOperator = (typeof comparisons)[number] | 'startsWith'

export type FilterOperator = (typeof always)[number] | RangeOperator | (typeof ofStrings)[number]

const ofString: readonly FilterOperator[] = [...always, ...comparisons, ...ofStrings]
const ofComparable: readonly FilterOperator[] = [...always, ...comparisons]

export function operatorsOf({ type }: Pick<FilterableIndex, 'type'>): readonly FilterOperator[] {
  if (type === 'string') return ofString
  return type === 'boolean' || type === 'healthStatus' ? always : ofComparable
}

function rangeOf(operator: RangeOperator, bound: string): ValueRange {
  switch (operator) {
    case 'lt':
      return { from: '', to: bound }
    case 'lte':
      return { from: '', to: after(bound) }
    case 'gt':
      return { from: after(bound), to: undefined }
    case 'gte':
      return { from: bound, to: undefined }
    case 'startsWith':
      return withPrefix(bound)
  }
}

function describeType(type: IndexType): string {
  switch (type) {
    case 'string':
      return 'a string'
    case 'int':
      return 'a whole number'
    case 'boolean':
      return 'true or false'
    case 'healthStatus':
      return `one of ${healthStatuses.join(', ')}`
    case 'dateTime':
      return 'a time such as "2026-01-31T12:00:00Z"'
    case 'quantity':
      return 'a quantity like "500m" or "1.5Gi"'
  }
}

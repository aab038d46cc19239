import {
  allOf,
  type Condition,
  everything,
  type IndexReference,
  noneOf,
  valuesOf,
} from './condition.ts'
import { FilterValueError, UnknownFilterError } from './filter-errors.ts'
import { type BoundOperator, boundTest, describeType, operatorsOf } from './filter-operator.ts'
import type { FilterableIndex } from '../index/index-definition.ts'
import { indexKeyOf } from '../index/index-key.ts'

/**
 * Conditions on one index. An object meets `eq`, `in` and the comparisons if *one* of its values meets all of them that
 * are given, so `{ gte: 1, lt: 5 }` means a value between. `exists` asks for any value. `not` holds where the filter inside
 * does not, hence also for objects without a value. Null or absent is no condition; `in: []` holds for no object.
 */
export interface Filter<T = unknown> {
  readonly eq?: T | null
  readonly in?: readonly T[] | null
  readonly exists?: boolean | null
  readonly not?: Filter<T> | null
  readonly lt?: T | null
  readonly lte?: T | null
  readonly gt?: T | null
  readonly gte?: T | null
  /** Indexes of strings only, as the next two. */
  readonly startsWith?: T | null
  readonly endsWith?: T | null
  readonly contains?: T | null
}

/** What a filter is compiled with. */
export interface FilterContext {
  readonly index: FilterableIndex
  /** Where the values are kept. */
  readonly reference: IndexReference
  /** The path of the filter, for errors: `where.phase`. */
  readonly argument: string
  /** Called with the number of values of each `in`; may throw. */
  spend(argument: string, values: number): void
  readonly maxDepth: number
}

/** Throws {@link UnknownFilterError} for an operator that the index lacks and {@link FilterValueError}. */
export function compileFilter(filter: unknown, context: FilterContext): Condition {
  if (filter === undefined || filter === null) return everything
  const { index, reference, argument } = context
  if (typeof filter !== 'object' || Array.isArray(filter)) {
    throw new FilterValueError(argument, filter, 'must be a filter', 'write { eq: … }')
  }
  if (context.maxDepth < 0) throw new FilterValueError(argument, filter, 'is nested too deep')
  const operators = operatorsOf(index)
  const conditions: Condition[] = []
  const tests: ((key: string) => boolean)[] = []
  let keys: readonly string[] | undefined
  for (const [name, value] of Object.entries(filter) as [string, unknown][]) {
    const operator = operators.find((one) => one === name)
    const here = `${argument}.${name}`
    if (operator === undefined) throw new UnknownFilterError(here, name, operators)
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
        keys = intersect(keys, [keyOf(value, here, index)])
        break
      case 'in':
        keys = intersect(keys, keysOf(value, here, context))
        break
      case 'lt':
      case 'lte':
      case 'gt':
      case 'gte':
      case 'startsWith':
      case 'endsWith':
      case 'contains':
        tests.push(compileBound(operator, value, here, index))
    }
  }
  return allOf([valueCondition(reference, keys, tests), ...conditions])
}

function valueCondition(
  index: IndexReference,
  keys: readonly string[] | undefined,
  tests: readonly ((key: string) => boolean)[],
): Condition {
  const test = (key: string) => tests.every((one) => one(key))
  if (keys !== undefined) return valuesOf(index, keys.filter(test))
  if (tests.length === 0) return everything
  return { form: 'test', index, test }
}

function existence(value: unknown, argument: string, index: IndexReference): Condition {
  if (typeof value !== 'boolean') {
    throw new FilterValueError(argument, value, 'must be true or false')
  }
  const exists: Condition = { form: 'test', index, test: () => true }
  return value ? exists : noneOf(exists)
}

function compileBound(
  operator: BoundOperator,
  value: unknown,
  argument: string,
  index: FilterableIndex,
): (key: string) => boolean {
  return boundTest(operator, keyOf(value, argument, index))
}

function keysOf(value: unknown, argument: string, context: FilterContext): string[] {
  if (!Array.isArray(value)) throw new FilterValueError(argument, value, 'must be a list')
  context.spend(argument, value.length)
  return value.map((one: unknown, at) => keyOf(one, `${argument}[${at}]`, context.index))
}

function keyOf(value: unknown, argument: string, { type }: FilterableIndex): string {
  // An index of strings keeps numbers as text, but whoever filters by one has mistaken the index.
  const mistaken = type === 'string' && typeof value !== 'string'
  const key = mistaken ? undefined : indexKeyOf(type, value)
  if (key === undefined)
    throw new FilterValueError(argument, value, `must be ${describeType(type)}`)
  return key
}

function intersect(
  known: readonly string[] | undefined,
  keys: readonly string[],
): readonly string[] {
  return known === undefined ? keys : known.filter((key) => keys.includes(key))
}

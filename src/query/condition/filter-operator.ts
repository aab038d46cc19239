import type { FilterableIndex } from '../index/index-definition.ts'
import type { IndexType } from '../index/index-key.ts'
import { after, type ValueRange, withPrefix } from './value-ranges.ts'

const always = ['eq', 'in', 'exists', 'not'] as const
const comparisons = ['lt', 'lte', 'gt', 'gte'] as const
const ofStrings = ['startsWith', 'endsWith', 'contains'] as const

/** Operators that hold for a range of the index keys. */
export type RangeOperator = (typeof comparisons)[number] | 'startsWith'

/** The operators of a filter. */
export type FilterOperator = (typeof always)[number] | RangeOperator | (typeof ofStrings)[number]

const ofString: readonly FilterOperator[] = [...always, ...comparisons, ...ofStrings]
const ofComparable: readonly FilterOperator[] = [...always, ...comparisons]

/** The operators that filters of an index understand: one set for each type of values. */
export function operatorsOf({ type }: Pick<FilterableIndex, 'type'>): readonly FilterOperator[] {
  if (type === 'string') return ofString
  return type === 'boolean' ? always : ofComparable
}

/** The index keys for which an operator holds. */
export function rangeOf(operator: RangeOperator, bound: string): ValueRange {
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

/** How a value of the type is described to whoever wrote another one. */
export function describeType(type: IndexType): string {
  switch (type) {
    case 'string':
      return 'a string'
    case 'int':
      return 'a whole number'
    case 'boolean':
      return 'true or false'
    case 'dateTime':
      return 'a time like "2026-01-31T12:00:00Z"'
    case 'quantity':
      return 'a quantity like "500m" or "1.5Gi"'
  }
}

import type { IndexType } from '../index/index-key.ts'
import type { FilterableIndex } from '../index/index-definition.ts'

/** The operators of a filter. */
export type FilterOperator =
  | 'eq'
  | 'in'
  | 'exists'
  | 'not'
  | 'lt'
  | 'lte'
  | 'gt'
  | 'gte'
  | 'startsWith'
  | 'endsWith'
  | 'contains'

const always = ['eq', 'in', 'exists', 'not'] as const
const comparisons = ['lt', 'lte', 'gt', 'gte'] as const
const parts = ['startsWith', 'endsWith', 'contains'] as const

/** The operators that filters of an index understand. */
export function operatorsOf({ type }: Pick<FilterableIndex, 'type'>): readonly FilterOperator[] {
  if (type === 'boolean') return always
  return type === 'string' ? [...always, ...comparisons, ...parts] : [...always, ...comparisons]
}

/** The operators that test a value against a bound. */
export type BoundOperator = Exclude<FilterOperator, 'eq' | 'in' | 'exists' | 'not'>

/** The test of one operator on index keys. */
export function boundTest(operator: BoundOperator, bound: string): (key: string) => boolean {
  switch (operator) {
    case 'lt':
      return (key) => key < bound
    case 'lte':
      return (key) => key <= bound
    case 'gt':
      return (key) => key > bound
    case 'gte':
      return (key) => key >= bound
    case 'startsWith':
      return (key) => key.startsWith(bound)
    case 'endsWith':
      return (key) => key.endsWith(bound)
    case 'contains':
      return (key) => key.includes(bound)
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

/*
 * Compiles a `where` argument against the indexes and relations of a kind. Each field filters by an index, by a relation or
 * by `labels`, or combines further conditions. All fields must hold: `{}` matches every object. So does `and: []`, while
 * `or: []` matches none. A null or absent condition is no condition, as with an unset GraphQL variable.
 */

import { allOf, anyOf, type Condition, everything, noneOf } from './condition.ts'
import { compileFilter, type Filter } from './filter.ts'
import { type ArgumentError, unusableValue, unknownFilter } from './argument-error.ts'
import type { FilterableIndex } from '../index/index-definition.ts'
import { compileRelated, type RelatedFields } from './related-filter.ts'

export interface Where {
  readonly and?: readonly Where[] | null
  readonly or?: readonly Where[] | null
  readonly not?: Where | null
  /** All of these must hold; `[]` matches every object. */
  readonly labels?: readonly LabelFilter[] | null
  /** An index, or a relation with conditions on the objects it leads to. */
  readonly [field: string]:
    | Filter
    | Where
    | RelatedFilter
    | readonly Where[]
    | readonly LabelFilter[]
    | null
    | undefined
}

/** Conditions on related objects: `some`, `none` and `every` for many, `is` and `isNot` for one. */
export type RelatedFilter = Readonly<Record<string, unknown>>

export interface LabelFilter extends Filter<string> {
  readonly key: string
}

/** Bounds of one `where`. The document's depth limit does not cover variables. */
const maxDepth = 20
const maxConditions = 2_000
const maxValues = 10_000

const combinators = ['and', 'or', 'not']
const labels = 'labels'

/** Whether `where` uses the name itself, so that no relation can have it. */
export function isWhereWord(name: string): boolean {
  return name === labels || combinators.includes(name)
}

/** Throws `ArgumentError`, which names the path of the argument. */
export function compileWhere(
  where: Where | null | undefined,
  indexes: readonly FilterableIndex[],
  related: RelatedFields = new Map(),
): Condition {
  let conditions = 0
  let values = 0
  const context: WhereContext = {
    ...fieldsOf(indexes, related),
    maxDepth,
    isNegated: false,
    spendCondition(here) {
      conditions += 1
      if (conditions > maxConditions) throw tooMany(here, maxConditions, 'conditions')
    },
    spend(here, count) {
      values += count
      if (values > maxValues) throw tooMany(here, maxValues, 'values')
    },
  }
  return compileTree(where, 'where', context)
}

function tooMany(argument: string, most: number, what: string): ArgumentError {
  const hint = `write several eq as one in, or ask in several queries`
  return unusableValue(argument, most, `makes more than ${most} ${what}`, hint)
}

interface WhereContext {
  readonly indexes: ReadonlyMap<string, FilterableIndex>
  readonly related: RelatedFields
  readonly maxDepth: number
  /** Whether objects match that do not meet the condition. */
  readonly isNegated: boolean
  spendCondition(argument: string): void
  spend(argument: string, count: number): void
}

function fieldsOf(
  indexes: readonly FilterableIndex[],
  related: RelatedFields,
): Pick<WhereContext, 'indexes' | 'related'> {
  return { indexes: new Map(indexes.map((index) => [index.name, index])), related }
}

function compileTree(where: unknown, argument: string, context: WhereContext): Condition {
  if (where === undefined || where === null) return everything
  if (typeof where !== 'object' || Array.isArray(where)) {
    throw unusableValue(argument, where, 'must be an object of filters')
  }
  if (context.maxDepth < 0) {
    throw unusableValue(argument, where, `is nested more than ${maxDepth} deep`)
  }
  const inner = { ...context, maxDepth: context.maxDepth - 1 }
  const conditions = Object.entries(where).map(([name, value]: [string, unknown]): Condition => {
    const here = `${argument}.${name}`
    context.spendCondition(here)
    if (combinators.includes(name)) {
      if (value === undefined || value === null) return everything
      if (name === 'not') return noneOf(compileTree(value, here, negated(inner)))
      const parts = compileList(value, here, inner)
      return name === 'and' ? allOf(parts) : anyOf(parts)
    }
    if (name === labels) return compileLabels(value, here, inner)
    const index = context.indexes.get(name)
    if (index === undefined) {
      const field = context.related.get(name)
      if (field !== undefined) {
        return compileRelated(value, field, {
          argument: here,
          isNegated: context.isNegated,
          spend: (count, at) => inner.spend(at, count),
          compile(there, kind, at, isNegated) {
            const of = fieldsOf(kind.indexes, kind.related)
            return compileTree(there, at, { ...inner, ...of, isNegated })
          },
        })
      }
      const known = [...context.indexes.keys(), ...context.related.keys(), labels, ...combinators]
      throw unknownFilter(here, name, known)
    }
    const reference = { form: 'index', name } as const
    return compileFilter(value, { ...inner, index, reference, argument: here })
  })
  return allOf(conditions)
}

function negated(context: WhereContext): WhereContext {
  return { ...context, isNegated: !context.isNegated }
}

function compileLabels(list: unknown, argument: string, context: WhereContext): Condition {
  if (list === undefined || list === null) return everything
  if (!Array.isArray(list)) throw unusableValue(argument, list, 'must be a list')
  const conditions = list.map((one: unknown, at) => {
    const here = `${argument}[${at}]`
    context.spendCondition(here)
    const { key, ...filter } = (one ?? {}) as { readonly key?: unknown }
    if (typeof key !== 'string') {
      throw unusableValue(`${here}.key`, key, 'must be the name of a label')
    }
    const index = { name: key, type: 'string' } as const
    const reference = { form: 'label', name: key } as const
    return compileFilter(filter, { ...context, index, reference, argument: here })
  })
  return allOf(conditions)
}

function compileList(list: unknown, argument: string, context: WhereContext): Condition[] {
  if (!Array.isArray(list)) throw unusableValue(argument, list, 'must be a list')
  return list.map((one: unknown, at) => {
    const here = `${argument}[${at}]`
    if (one === undefined || one === null) {
      throw unusableValue(here, one, 'must be an object of filters')
    }
    context.spendCondition(here)
    return compileTree(one, here, context)
  })
}

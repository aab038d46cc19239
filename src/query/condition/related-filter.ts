/*
 * Compiles `where` on related objects: `some`, `none` and `every` for many, `is` and `isNot` for one. Each becomes the
 * condition that the relation leads to at least one object that meets the inner condition, or its negation. Objects without
 * related objects meet a negation. So a negation needs all related objects: it is an error if the schema leaves out some of
 * their kinds.
 */

import type { FilterableIndex } from '../index/index-definition.ts'
import { allOf, anyOf, type Condition, everything, noneOf, type RelatedBy } from './condition.ts'
import { unusableValue, usersLeftOut, unknownFilter } from './argument-error.ts'

export interface WhereFields {
  readonly indexes: readonly FilterableIndex[]
  readonly related: RelatedFields
}

export type RelatedFields = ReadonlyMap<string, RelatedField>

/** A `where` field on the objects that a relation leads to. */
export type RelatedField =
  | {
      /** Whether the relation leads to any number of objects, or to at most one. */
      readonly form: 'many' | 'one'
      readonly name: string
      readonly relation: RelatedBy
      readonly to: () => WhereFields
    }
  /** A relation to several kinds. Its filter only asks whether there are objects, and of which kinds. */
  | {
      readonly form: 'kinds'
      readonly name: string
      readonly ways: readonly RelatedWay[]
      /** Related kinds that the schema does not have. */
      readonly leftOut: readonly string[]
    }

export interface RelatedWay {
  readonly relation: RelatedBy
  /** The related objects that count. */
  readonly condition: Condition
}

export interface RelatedFilterContext {
  /** The path of the filter, for errors: `where.pods`. */
  readonly argument: string
  /** Whether objects match that do not meet the filter. */
  readonly isNegated: boolean
  /** Called with the number of values of a list; may throw. */
  readonly spend: (count: number, argument: string) => void
  readonly compile: (
    where: unknown,
    fields: WhereFields,
    argument: string,
    isNegated: boolean,
  ) => Condition
}

const operators = { many: ['some', 'none', 'every'], one: ['is', 'isNot'], kinds: ['some', 'none'] }
type Operator = 'some' | 'none' | 'every' | 'is' | 'isNot'

/**
 * Compiles conditions on related objects, all of which must hold. `none`, `isNot` and `every` also hold for objects
 * without related objects. Null or absent means no condition. Throws `ArgumentError`.
 */
export function compileRelated(
  filter: unknown,
  field: RelatedField,
  context: RelatedFilterContext,
): Condition {
  if (filter === undefined || filter === null) return everything
  const { argument } = context
  const known = operators[field.form]
  if (typeof filter !== 'object' || Array.isArray(filter)) {
    throw unusableValue(argument, filter, `must be an object of ${known.join(', ')}`)
  }
  const conditions = Object.entries(filter).map(([name, value]: [string, unknown]) => {
    const here = `${argument}.${name}`
    if (!known.includes(name)) throw unknownFilter(here, name, known)
    if (value === undefined || value === null) return everything
    return compileOperator(name as Operator, value, field, { ...context, argument: here })
  })
  return allOf(conditions)
}

function compileOperator(
  operator: Operator,
  value: unknown,
  field: RelatedField,
  context: RelatedFilterContext,
): Condition {
  const holdsWithout = operator === 'none' || operator === 'isNot' || operator === 'every'
  const isNegated = context.isNegated !== holdsWithout
  const { argument } = context
  const related = ({ relation, condition }: RelatedWay): Condition =>
    condition.form === 'nothing'
      ? condition
      : { form: 'related', field: field.name, relation, condition, isNegated, argument }
  if (field.form === 'kinds') {
    const found = anyOf(waysOf(value, field, { ...context, isNegated }).map(related))
    return holdsWithout ? noneOf(found) : found
  }
  const { relation } = field
  // "Every object meets it" is "none fails it".
  const isInverse = operator === 'every'
  const inner = context.compile(value, field.to(), argument, isNegated !== isInverse)
  const found = related({ relation, condition: isInverse ? noneOf(inner) : inner })
  return holdsWithout ? noneOf(found) : found
}

/**
 * The relations from the kinds that the caller names; all if absent. Fails as `usersLeftOut` says if objects of kinds
 * that the schema does not have could make the answer wrong.
 */
function waysOf(
  value: unknown,
  { ways, leftOut }: Extract<RelatedField, { form: 'kinds' }>,
  { argument, spend, isNegated }: RelatedFilterContext,
): readonly RelatedWay[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unusableValue(argument, value, 'must be an object')
  }
  const { types, ...others } = value as { readonly types?: unknown }
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw unknownFilter(`${argument}.${unknown}`, unknown, ['types'])
  if (types === undefined || types === null) {
    if (isNegated && leftOut.length > 0) throw usersLeftOut(argument, leftOut)
    return ways
  }
  const here = `${argument}.types`
  if (!Array.isArray(types)) throw unusableValue(here, types, 'must be a list')
  spend(types.length, here)
  const known = new Set(ways.map(({ relation }) => relation.to))
  for (const [at, type] of types.entries()) {
    if (known.has(String(type))) continue
    throw unknownFilter(`${here}[${at}]`, String(type), [...known])
  }
  return ways.filter(({ relation }) => types.includes(relation.to))
}

import type { RelatedBy } from './related-by.ts'
import { everyValue, unionOf, type ValueRanges } from './value-ranges.ts'

/** An index of a store: a declared or built-in one, or the one of a label key. */
export type IndexReference =
  | { readonly form: 'index'; readonly name: string }
  | { readonly form: 'label'; readonly name: string }

/**
 * What an object must meet, in terms of a store's indexes only; no object is decoded to test it. It belongs to no store
 * and no moment: `bindCondition` makes it a set of ids of one store within one tick. Filters, label selectors, Scopes and
 * relations all become conditions, so that they combine.
 */
export type Condition =
  | { readonly form: 'everything' }
  | { readonly form: 'nothing' }
  /** One of the object's values in the index is one of these. */
  | { readonly form: 'values'; readonly index: IndexReference; readonly values: readonly string[] }
  /** One of the object's values in the index is within the ranges; for all strings: the object has a value. */
  | { readonly form: 'ranges'; readonly index: IndexReference; readonly ranges: ValueRanges }
  /** One of the object's values in the index passes one of the tests. */
  | { readonly form: 'tests'; readonly index: IndexReference; readonly tests: readonly ValueTest[] }
  /** The object's key (`namespace/name`, or `name`) is one of these. */
  | { readonly form: 'keys'; readonly keys: readonly string[] }
  | RelatedCondition
  | { readonly form: 'and'; readonly conditions: readonly Condition[] }
  | { readonly form: 'or'; readonly conditions: readonly Condition[] }
  | { readonly form: 'not'; readonly condition: Condition }

/** A relation leads from the object to at least one other that may be seen and meets a condition of its own. */
export interface RelatedCondition {
  readonly form: 'related'
  /** The field, for whoever reads an explanation: `pods`. */
  readonly field: string
  readonly relation: RelatedBy
  /** On the store that the relation leads to. */
  readonly condition: Condition
  /**
   * Whether it stands where an object without such others is answered, as in `none`: then they must not be there, not only
   * out of sight.
   */
  readonly isNegated: boolean
  /** The path of the argument, for errors: `where.pods.none`. */
  readonly argument: string
}

/** A test on the values of an index, in constant time. Must be pure. */
export type ValueTest = (value: string) => boolean

export const everything: Condition = { form: 'everything' }
export const nothing: Condition = { form: 'nothing' }

/** As {@link valuesOf}, for a declared or built-in index. */
export function hasValue(index: string, values: readonly string[]): Condition {
  return valuesOf({ form: 'index', name: index }, values)
}

/** The objects whose label `key` has one of the values; without values, no object. */
export function hasLabel(key: string, values: readonly string[]): Condition {
  return valuesOf({ form: 'label', name: key }, values)
}

/** The objects that have one of the values in an index; without values, no object. */
export function valuesOf(index: IndexReference, values: readonly string[]): Condition {
  if (values.length === 0) return nothing
  return { form: 'values', index, values: values.length === 1 ? values : [...new Set(values)] }
}

/** The objects that have a value in an index within the ranges; without ranges, no object. */
export function hasValueWithin(index: IndexReference, ranges: ValueRanges): Condition {
  return ranges.length === 0 ? nothing : { form: 'ranges', index, ranges }
}

/** The objects that have any value in an index. */
export function hasAnyValue(index: IndexReference): Condition {
  return hasValueWithin(index, everyValue)
}

/** The objects with one of these keys; without keys, no object. */
export function hasKey(keys: readonly string[]): Condition {
  if (keys.length === 0) return nothing
  return { form: 'keys', keys: keys.length === 1 ? keys : [...new Set(keys)] }
}

/** All of the conditions; `everything` where there are none. */
export function allOf(conditions: readonly Condition[]): Condition {
  // Relations ask for few things at once, and do so for each row.
  const [former = everything, latter = everything] = conditions
  if (conditions.length <= 2) {
    if (latter.form === 'everything' || former.form === 'nothing') return former
    if (former.form === 'everything' || latter.form === 'nothing') return latter
  }
  const flat = conditions
    .flatMap((one) => (one.form === 'and' ? one.conditions : [one]))
    .filter((one) => one.form !== 'everything')
  if (flat.some((one) => one.form === 'nothing')) return nothing
  const [first] = flat
  if (first === undefined) return everything
  if (flat.length === 1) return first
  // What a posting answers comes first: it is tested fastest, and leaves the least for the others to look at.
  return { form: 'and', conditions: flat.toSorted((a, b) => effort(a) - effort(b)) }
}

function effort(condition: Condition): number {
  const { form } = condition
  if (form === 'values' || form === 'keys') return 0
  return relatedIn(condition) === undefined ? (form === 'tests' ? 2 : 1) : 3
}

/** The first part of a condition that is about other objects; `undefined` where it is about the object alone. */
export function relatedIn(condition: Condition): RelatedCondition | undefined {
  switch (condition.form) {
    case 'related':
      return condition
    case 'not':
      return relatedIn(condition.condition)
    case 'and':
    case 'or':
      for (const one of condition.conditions) {
        const found = relatedIn(one)
        if (found !== undefined) return found
      }
      return undefined
    case 'everything':
    case 'nothing':
    case 'values':
    case 'ranges':
    case 'tests':
    case 'keys':
      return undefined
  }
}

/**
 * At least one of the conditions; `nothing` where there are none. Alternatives on one index become one condition: `or` asks
 * whether *some* value meets one of them, so a set of values, a set of ranges or a list of tests says the same as many.
 */
export function anyOf(conditions: readonly Condition[]): Condition {
  const [only = nothing] = conditions
  if (conditions.length <= 1) return only
  const flat = conditions.flatMap((one) => (one.form === 'or' ? one.conditions : [one]))
  if (flat.some((one) => one.form === 'everything')) return everything
  const different = new Map<string, Condition[]>()
  for (const [at, one] of flat.entries()) {
    if (one.form === 'nothing') continue
    const name = mergeName(one) ?? String(at)
    const same = different.get(name)
    if (same === undefined) different.set(name, [one])
    else same.push(one)
  }
  const merged = [...different.values()].map(mergeAlternatives)
  const [first] = merged
  if (first === undefined) return nothing
  return merged.length === 1 ? first : { form: 'or', conditions: merged }
}

/** Conditions of one name are alternatives of one form on one index. */
function mergeName(condition: Condition): string | undefined {
  if (condition.form === 'keys') return 'keys'
  return 'index' in condition
    ? `${condition.form} ${condition.index.form} ${condition.index.name}`
    : undefined
}

function mergeAlternatives(same: readonly Condition[]): Condition {
  const [first = nothing] = same
  if (same.length === 1) return first
  const of = <F extends Condition['form']>(form: F): Extract<Condition, { form: F }>[] =>
    same.filter((one): one is Extract<Condition, { form: F }> => one.form === form)
  switch (first.form) {
    case 'keys':
      return hasKey(of('keys').flatMap(({ keys }) => keys))
    case 'values':
      return valuesOf(
        first.index,
        of('values').flatMap(({ values }) => values),
      )
    case 'ranges':
      return { ...first, ranges: unionOf(of('ranges').flatMap(({ ranges }) => ranges)) }
    case 'tests':
      return { ...first, tests: of('tests').flatMap(({ tests }) => tests) }
    case 'everything':
    case 'nothing':
    case 'related':
    case 'and':
    case 'or':
    case 'not':
      return { form: 'or', conditions: same }
  }
}

/** The objects that do not meet the condition. */
export function noneOf(condition: Condition): Condition {
  switch (condition.form) {
    case 'everything':
      return nothing
    case 'nothing':
      return everything
    case 'not':
      return condition.condition
    case 'values':
    case 'ranges':
    case 'tests':
    case 'keys':
    case 'related':
    case 'and':
    case 'or':
      return { form: 'not', condition }
  }
}

/** The names of the indexes that a condition asks, besides those of labels. */
export function indexesOf(condition: Condition): ReadonlySet<string> {
  const names = new Set<string>()
  const visit = (one: Condition): void => {
    if ('index' in one && one.index.form === 'index') names.add(one.index.name)
    if ('conditions' in one) one.conditions.forEach(visit)
    if (one.form === 'not') visit(one.condition)
  }
  visit(condition)
  return names
}

/**
 * The namespaces outside which no object can meet the condition, sorted; `undefined` where it says nothing of them.
 * Lets a list walk only its own part of the store's order.
 */
export function namespacesOf(condition: Condition): readonly string[] | undefined {
  const parts = condition.form === 'and' ? condition.conditions : [condition]
  let common: readonly string[] | undefined
  for (const part of parts) {
    if (part.form !== 'values' || part.index.form !== 'index') continue
    if (part.index.name !== 'namespace') continue
    const allowed = new Set(part.values)
    common = (common ?? part.values).filter((namespace) => allowed.has(namespace))
  }
  return common?.toSorted()
}

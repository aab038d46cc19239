/*
 * A condition is what an object must meet, in terms of indexes only: testing it never decodes an object. Filters, label
 * selectors, Scopes and relations all become conditions, and so combine. A condition does not depend on a store;
 * `bindCondition` turns it into a set of ids of one store, valid within one tick.
 *
 * After the forms come the functions that make, combine and simplify conditions, and then the interfaces by which conditions
 * reach relations and other stores.
 */

import { everyValue, unionOf, type ValueRanges } from './value-ranges.ts'
import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { ConditionPart } from './read-report.ts'
import type { Scope } from './scope.ts'
import type { WorkBudget } from './work-budget.ts'

/** An index of a store: a declared or built-in one, or the index of a label key. */
export type IndexReference =
  | { readonly form: 'index'; readonly name: string }
  | { readonly form: 'label'; readonly name: string }

export type Condition =
  | { readonly form: 'everything' }
  | { readonly form: 'nothing' }
  /** One of the object's values in the index is in `values`. */
  | { readonly form: 'values'; readonly index: IndexReference; readonly values: readonly string[] }
  /** One of the object's values in the index is within the ranges. All strings: the object has a value. */
  | { readonly form: 'ranges'; readonly index: IndexReference; readonly ranges: ValueRanges }
  /** One of the object's values in the index passes one of the tests. */
  | { readonly form: 'tests'; readonly index: IndexReference; readonly tests: readonly ValueTest[] }
  /** The object's key (`namespace/name`, or `name`) is in `keys`. */
  | { readonly form: 'keys'; readonly keys: readonly string[] }
  | RelatedCondition
  | { readonly form: 'and'; readonly conditions: readonly Condition[] }
  | { readonly form: 'or'; readonly conditions: readonly Condition[] }
  | { readonly form: 'not'; readonly condition: Condition }

/** The relation leads from the object to at least one visible object that meets the inner condition. */
export interface RelatedCondition {
  readonly form: 'related'
  /** The name of the field, for explain: `pods`. */
  readonly field: string
  readonly relation: RelatedBy
  /** A condition on the store that the relation leads to. */
  readonly condition: Condition
  /**
   * Whether an object without such related objects matches, as in `none`. Then hidden related objects are an error,
   * since they could make a difference.
   */
  readonly isNegated: boolean
  /** The path of the argument, for errors: `where.pods.none`. */
  readonly argument: string
}

/** A pure test of an index value, in constant time. */
export type ValueTest = (value: string) => boolean

export const everything: Condition = { form: 'everything' }
export const nothing: Condition = { form: 'nothing' }

/** Like {@link valuesOf}, for a declared or built-in index. */
export function hasValue(index: string, values: readonly string[]): Condition {
  return valuesOf({ form: 'index', name: index }, values)
}

/** Objects whose label `key` has one of the values. No values: no objects. */
export function hasLabel(key: string, values: readonly string[]): Condition {
  return valuesOf({ form: 'label', name: key }, values)
}

/** Objects with one of the values in an index. No values: no objects. */
export function valuesOf(index: IndexReference, values: readonly string[]): Condition {
  if (values.length === 0) return nothing
  return { form: 'values', index, values: values.length === 1 ? values : [...new Set(values)] }
}

/** Objects with a value in an index within the ranges. No ranges: no objects. */
export function hasValueWithin(index: IndexReference, ranges: ValueRanges): Condition {
  return ranges.length === 0 ? nothing : { form: 'ranges', index, ranges }
}

export function hasAnyValue(index: IndexReference): Condition {
  return hasValueWithin(index, everyValue)
}

/** Objects with one of the keys. No keys: no objects. */
export function hasKey(keys: readonly string[]): Condition {
  if (keys.length === 0) return nothing
  return { form: 'keys', keys: keys.length === 1 ? keys : [...new Set(keys)] }
}

export function scopeCondition(scope: Scope): Condition {
  switch (scope.form) {
    case 'all':
      return everything
    case 'namespaces':
      return hasValue('namespace', [...scope.namespaces])
    case 'except':
      return { form: 'not', condition: hasValue('namespace', [...scope.namespaces]) }
    case 'names':
      return hasKey([...scope.keys])
  }
}

/** All of the conditions; `everything` for an empty list. */
export function allOf(conditions: readonly Condition[]): Condition {
  // The fast path of relations, which combine one or two conditions for each row.
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
  // Conditions with postings come first: they are the cheapest to test, and leave the least for the others.
  return { form: 'and', conditions: flat.toSorted((a, b) => effort(a) - effort(b)) }
}

function effort(condition: Condition): number {
  const { form } = condition
  if (form === 'values' || form === 'keys') return 0
  return relatedIn(condition) === undefined ? (form === 'tests' ? 2 : 1) : 3
}

/** The first part of a condition that concerns related objects; `undefined` if there is none. */
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
 * At least one of the conditions; `nothing` for an empty list. Merges alternatives on one index: since *some* value
 * must match, a set of values, ranges or tests expresses all of them.
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

/** Conditions with the same name are alternatives of one form on one index. */
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

/** The names of all indexes in a condition, except label indexes. */
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

/** The parts of a condition about related objects, without the parts nested in them. */
export function relatedOf(
  condition: Condition,
): readonly Extract<Condition, { form: 'related' }>[] {
  if ('conditions' in condition) return condition.conditions.flatMap(relatedOf)
  if (condition.form === 'not') return relatedOf(condition.condition)
  return condition.form === 'related' ? [condition] : []
}

/**
 * The namespaces that a matching object can be in, sorted; `undefined` if the condition does not restrict them. Lets a
 * list walk only that part of the store.
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

/** Following a relation from one object takes as long as so many tests. */
export const testsPerStep = 15

/** The start of a relation: an object in a store, or a state of an object that is in no store. */
export interface OriginView extends Pick<
  StoreView,
  'resource' | 'keyOf' | 'uidOf' | 'hasIndex' | 'labelsOf' | 'object'
> {
  index(name: string): Pick<IndexView, 'valuesOf'>
}

/** The object from which a relation is followed, within one tick. */
export interface RelatedOrigin {
  readonly view: OriginView
  readonly id: ObjectId
  readonly part: (type: string) => RelatedPart
  readonly budget: WorkBudget
  /** How many more objects a multi-step read backwards may examine; absent: no bound. */
  readonly allowance?: Allowance | undefined
}

export interface Allowance {
  left: number
}

/** One step of a relation from one type to another, read backwards. */
export interface RelatedHop {
  readonly from: string
  readonly to: string
  /**
   * The objects that lead to the target in this step: a condition on the store of `from`. Returns `undefined` if that
   * store lacks the index; absent if there is no such index.
   */
  readonly followBack?:
    | ((target: RelatedOrigin, from: StoreView) => Condition | undefined)
    | undefined
}

/** A relation, as far as conditions on related objects use it. */
export interface RelatedBy {
  /** Such as `Node.pods`. */
  readonly name: string
  readonly from: string
  readonly to: string
  /** The types that following it reads, including `from`, with their indexes. */
  readonly indexes: ReadonlyMap<string, RelatedIndexes>
  /** Whether it never leaves the namespace of its start. */
  readonly isLocal: boolean
  /** The objects that it leads to: a condition on the store of `to`. */
  follow(origin: RelatedOrigin): Condition
  /** One step, or several if the relation goes through other types. */
  readonly hops: readonly RelatedHop[]
  /**
   * The objects that lead to the target: a condition on the store of `from`. Returns `undefined` if that store lacks an
   * index, or if more objects would be examined than the target allows.
   */
  followBack?(target: RelatedOrigin, from: StoreView): Condition | undefined
}

interface RelatedIndexes {
  readonly needed: readonly string[]
  /** Indexes to read it backwards. */
  readonly useful: readonly string[]
}

/** A kind that a condition on related objects reads: its store and its visible part. */
export interface RelatedPart {
  readonly view: StoreView
  readonly scope: Scope
}

/** The kinds that conditions on related objects read in one execution. */
export interface RelatedStores {
  /**
   * The type's store and Scope. Throws if the type cannot be read, since then the related objects are unknown.
   * `argument`: the argument that needs the type.
   */
  part(type: string, relation: RelatedBy, argument: string): RelatedPart
  /** Whether the type exists. If it does not, no object is related to its objects. */
  has(type: string): boolean
  /** The error for a condition that needs to see all objects of a type, if the viewer does not. */
  notFullyVisible(type: string, argument: string): Error
  /** Bound sets of a condition, by the filtered store. Empty again after a part has changed. */
  known(condition: Condition): Map<StoreView, object>
}

/** The parts of a condition that must all hold, for explain; `undefined` if it holds for every object. */
export function partsOf(condition: Condition | undefined): readonly ConditionPart[] | undefined {
  if (condition === undefined || condition.form === 'everything') return undefined
  if (condition.form === 'nothing') return []
  const parts = condition.form === 'and' ? condition.conditions : [condition]
  return parts.map((part) => ({
    name: nameOf(part),
    isTested: part.form === 'ranges' || part.form === 'tests',
  }))
}

function nameOf(condition: Condition): string {
  switch (condition.form) {
    case 'values':
    case 'ranges':
    case 'tests':
      return nameOfIndex(condition.index)
    case 'not':
      return `not ${nameOf(condition.condition)}`
    case 'and':
    case 'or':
      return `${condition.form}(${condition.conditions.map(nameOf).join(', ')})`
    case 'keys':
      return 'key'
    case 'related':
      return `${condition.field}(${nameOf(condition.condition)})`
    case 'everything':
    case 'nothing':
      return condition.form
  }
}

function nameOfIndex({ form, name }: IndexReference): string {
  return form === 'label' ? `labels[${JSON.stringify(name)}]` : name
}

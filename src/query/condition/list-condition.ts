import { LabelSelectorError, parseLabelSelector } from '../../kubernetes/label-selector.ts'
import { allOf, type Condition, everything, hasValue } from './condition.ts'
import { FilterValueError } from './filter-errors.ts'
import type { FilterableIndex } from '../index/index-definition.ts'
import type { RelatedFields } from './related-filter.ts'
import { selectorCondition } from './selector-condition.ts'
import { compileWhere, type Where } from './where.ts'

/** The arguments by which lists, connections and subscriptions choose objects. Null or absent is no condition. */
export interface ListArguments {
  readonly namespace?: string | null
  /** `[]` holds for no object. */
  readonly namespaces?: readonly string[] | null
  /** kubectl's syntax. */
  readonly labelSelector?: string | null
  readonly where?: Where | null
}

/**
 * The condition that the arguments of a list make together: all of them must hold, `namespace` and `namespaces` too.
 * Throws `UnknownFilterError` and `FilterValueError`, naming the argument.
 */
export function compileListCondition(
  { namespace, namespaces, labelSelector, where }: ListArguments,
  indexes: readonly FilterableIndex[],
  related?: RelatedFields,
): Condition {
  return allOf([
    namespace === undefined || namespace === null ? everything : hasValue('namespace', [namespace]),
    namespaces === undefined || namespaces === null
      ? everything
      : hasValue('namespace', namespaces),
    compileLabelSelector(labelSelector),
    compileWhere(where, indexes, 'where', related),
  ])
}

/** A `labelSelector` argument as a condition. Throws `FilterValueError`. */
export function compileLabelSelector(selector: string | null | undefined): Condition {
  if (selector === undefined || selector === null) return everything
  try {
    return selectorCondition(parseLabelSelector(selector))
  } catch (error) {
    if (!(error instanceof LabelSelectorError)) throw error
    throw new FilterValueError('labelSelector', selector, error.message, error.hint)
  }
}

import {
  type LabelRequirement,
  type LabelSelector,
  LabelSelectorError,
  parseLabelSelector,
} from '../../kubernetes/label-selector.ts'
import {
  allOf,
  type Condition,
  everything,
  hasAnyValue,
  hasLabel,
  hasValue,
  noneOf,
  type ValueTest,
} from './condition.ts'
import { FilterValueError } from './argument-error.ts'
import type { FilterableIndex } from '../index/index-definition.ts'
import type { RelatedFields } from './related-filter.ts'
import { compileWhere, type Where } from './where.ts'

/** The arguments by which lists, connections and subscriptions select objects. Null or absent means no condition. */
export interface ListArguments {
  readonly namespace?: string | null
  /** `[]` matches no object. */
  readonly namespaces?: readonly string[] | null
  /** In kubectl's syntax. */
  readonly labelSelector?: string | null
  readonly where?: Where | null
}

/**
 * Combines the arguments of a list into one condition. All must hold, including both `namespace` and `namespaces`.
 * Throws `UnknownFilterError` and `FilterValueError`, which name the argument.
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

/** Compiles a `labelSelector` argument. Throws `FilterValueError`. */
export function compileLabelSelector(selector: string | null | undefined): Condition {
  if (selector === undefined || selector === null) return everything
  try {
    return selectorCondition(parseLabelSelector(selector))
  } catch (error) {
    if (!(error instanceof LabelSelectorError)) throw error
    throw new FilterValueError('labelSelector', selector, error.message, error.hint)
  }
}

const integer = /^-?\d+$/

/** A label selector as a condition on label indexes; the equivalent of `matchesLabels`. */
export function selectorCondition(selector: LabelSelector): Condition {
  return allOf(selector.map(requirementCondition))
}

function requirementCondition(requirement: LabelRequirement): Condition {
  const { key, operator } = requirement
  switch (operator) {
    case 'in':
      return hasLabel(key, requirement.values)
    case 'notin':
      return noneOf(hasLabel(key, requirement.values))
    case 'exists':
      return hasAnyValue({ form: 'label', name: key })
    case 'absent':
      return noneOf(hasAnyValue({ form: 'label', name: key }))
    case 'gt':
      return labelTest(key, (value) => integer.test(value) && Number(value) > requirement.value)
    case 'lt':
      return labelTest(key, (value) => integer.test(value) && Number(value) < requirement.value)
  }
}

function labelTest(key: string, test: ValueTest): Condition {
  return { form: 'tests', index: { form: 'label', name: key }, tests: [test] }
}

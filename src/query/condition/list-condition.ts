import {
  type LabelRequirement,
  type LabelSelector,
  LabelSelectorError,
  parseLabelSelector,
} from '../../kubernetes/label-selector.ts'
import {
  allOf,
  type Condition,
  hasAnyValue,
  hasLabel,
  noneOf,
  type ValueTest,
} from './condition.ts'
import { FilterValueError } from './argument-error.ts'

/** Compiles a `labelSelector` argument. Throws `FilterValueError`. */
export function compileLabelSelector(selector: string): Condition {
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

import type { LabelRequirement, LabelSelector } from '../../kubernetes/label-selector.ts'
import { allOf, type Condition, hasLabel, noneOf } from './condition.ts'

const integer = /^-?\d+$/

/** A label selector as a condition on the label indexes; means what `matchesLabels` means. */
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
      return labelTest(key, () => true)
    case 'absent':
      return noneOf(labelTest(key, () => true))
    case 'gt':
      return labelTest(key, (value) => integer.test(value) && Number(value) > requirement.value)
    case 'lt':
      return labelTest(key, (value) => integer.test(value) && Number(value) < requirement.value)
  }
}

function labelTest(key: string, test: (value: string) => boolean): Condition {
  return { form: 'test', index: { form: 'label', name: key }, test }
}

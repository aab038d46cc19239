/*
 * Compiles label selectors to conditions. The labels are the object's own, unless the caller gives `LabelConditions` of other
 * labels, such as the labels in pod templates.
 */

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
import { unusableValue } from './argument-error.ts'

/** Compiles a `labelSelector` argument. Throws `ArgumentError`. */
export function compileLabelSelector(selector: string): Condition {
  return selectorCondition(labelSelectorIn('labelSelector', selector))
}

/** The label selector that an argument gives. Throws `ArgumentError`. */
export function labelSelectorIn(argument: string, text: string): LabelSelector {
  try {
    return parseLabelSelector(text)
  } catch (error) {
    if (!(error instanceof LabelSelectorError)) throw error
    throw unusableValue(argument, text, error.message, error.hint)
  }
}

const integer = /^-?\d+$/

/** Conditions on the labels of objects, by the index that holds them. */
export interface LabelConditions {
  /** The objects whose label has one of these values. */
  hasAny(key: string, values: readonly string[]): Condition
  exists(key: string): Condition
  /** The objects whose label has a value that passes a test. */
  test(key: string, test: ValueTest): Condition
}

const ownLabels: LabelConditions = {
  hasAny: hasLabel,
  exists: (key) => hasAnyValue({ form: 'label', name: key }),
  test: (key, test) => ({ form: 'tests', index: { form: 'label', name: key }, tests: [test] }),
}

/** A label selector as a condition: what `matchesLabels` tests, in terms of indexes. */
export function selectorCondition(
  selector: LabelSelector,
  labels: LabelConditions = ownLabels,
): Condition {
  return allOf(selector.map((requirement) => requirementCondition(requirement, labels)))
}

function requirementCondition(requirement: LabelRequirement, labels: LabelConditions): Condition {
  const { key, operator } = requirement
  switch (operator) {
    case 'in':
      return labels.hasAny(key, requirement.values)
    case 'notin':
      return noneOf(labels.hasAny(key, requirement.values))
    case 'exists':
      return labels.exists(key)
    case 'absent':
      return noneOf(labels.exists(key))
    case 'gt':
      return labels.test(key, (value) => integer.test(value) && Number(value) > requirement.value)
    case 'lt':
      return labels.test(key, (value) => integer.test(value) && Number(value) < requirement.value)
  }
}

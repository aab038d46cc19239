import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import type { IndexDefinition } from '../index/index-definition.ts'
import { indexFunctions } from '../index/index-functions.ts'
import type { Condition, IndexReference } from './condition.ts'
import { isWithin } from './value-ranges.ts'

/** Whether an object meets a condition; `undefined` where that depends on an index that is not known here. */
export type ObjectTest = (object: KubernetesObject) => boolean | undefined

/**
 * A condition as a test of single objects that stand in no store any more, such as what an object was before it changed. Computes
 * the values of each index that the condition names: for few objects, not for lists.
 */
export function objectTest(
  condition: Condition,
  definitions: readonly IndexDefinition[],
): ObjectTest {
  const functionOf = indexFunctions(definitions)
  const valuesOf = (
    { form, name }: IndexReference,
    object: KubernetesObject,
  ): readonly string[] | undefined => {
    if (form === 'index') return functionOf(name)?.(object)
    const value = object.metadata.labels?.[name]
    return value === undefined ? [] : [value]
  }
  return (object) => meets(condition, object, valuesOf)
}

type ValuesOf = (index: IndexReference, object: KubernetesObject) => readonly string[] | undefined

function meets(
  condition: Condition,
  object: KubernetesObject,
  valuesOf: ValuesOf,
): boolean | undefined {
  switch (condition.form) {
    case 'everything':
      return true
    case 'nothing':
      return false
    case 'keys':
      return condition.keys.includes(objectKey(object.metadata))
    case 'values':
      return valuesOf(condition.index, object)?.some((value) => condition.values.includes(value))
    case 'ranges':
      return valuesOf(condition.index, object)?.some((value) => isWithin(condition.ranges, value))
    case 'tests':
      return valuesOf(condition.index, object)?.some((value) =>
        condition.tests.some((test) => test(value)),
      )
    case 'and': {
      const each = condition.conditions.map((one) => meets(one, object, valuesOf))
      return each.includes(false) ? false : each.includes(undefined) ? undefined : true
    }
    case 'or': {
      const each = condition.conditions.map((one) => meets(one, object, valuesOf))
      return each.includes(true) ? true : each.includes(undefined) ? undefined : false
    }
    case 'not': {
      const inner = meets(condition.condition, object, valuesOf)
      return inner === undefined ? undefined : !inner
    }
    case 'related':
      return undefined
  }
}

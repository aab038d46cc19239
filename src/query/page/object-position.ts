import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import type { IndexDefinition } from '../index/index-definition.ts'
import { indexFunctions } from '../index/index-functions.ts'
import type { OrderPosition, OrderTerm } from './list-order.ts'

/**
 * Where single objects stand that are in no store any more, such as what an object was before it changed. Computes the values of
 * each term: for few objects, not for lists. `undefined` where a term is not known here.
 */
export function objectPositions(
  terms: readonly OrderTerm[],
  definitions: readonly IndexDefinition[],
): (object: KubernetesObject) => OrderPosition | undefined {
  const functionOf = indexFunctions(definitions)
  return (object) => {
    const values: (string | undefined)[] = []
    for (const { index, descending } of terms) {
      const valuesOf = functionOf(index)
      if (valuesOf === undefined) return undefined
      const sorted = valuesOf(object).toSorted((a, b) => (a < b ? -1 : 1))
      values.push(sorted.at(descending ? -1 : 0))
    }
    return { values, key: objectKey(object.metadata) }
  }
}

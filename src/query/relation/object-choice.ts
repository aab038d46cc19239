import type { Indexers, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import {
  type LabelSelector,
  LabelSelectorError,
  labelSelectorOf,
} from '../../kubernetes/label-selector.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { isRecord } from '../../lib/json.ts'
import { type Path, valueAt } from '../index/path.ts'
import {
  anyNamespace,
  type LabelPlace,
  placeIn,
  placesOfLabels,
  placesOfSelector,
} from './object-selector.ts'

/** How an object selects others: by a name or by labels, in one namespace or, if that is `undefined`, in any. */
export type ObjectChoice =
  | { readonly form: 'name'; readonly name: string; readonly namespace: string | undefined }
  | {
      readonly form: 'labels'
      readonly labels: LabelSelector
      readonly namespace: string | undefined
    }

/**
 * Reads `name` or `selector`, one of which is required, and `namespace`. A malformed reference, which the API server
 * would have refused, selects nothing.
 */
export function choiceAt(reference: unknown): ObjectChoice | undefined {
  if (!isRecord(reference)) return undefined
  const { name, namespace: said, selector } = reference
  const namespace = typeof said === 'string' && said !== '' ? said : undefined
  if (typeof name === 'string' && name !== '') {
    return selector === undefined ? { form: 'name', name, namespace } : undefined
  }
  if (!isRecord(selector)) return undefined
  try {
    return { form: 'labels', labels: labelSelectorOf(selector), namespace }
  } catch (error) {
    if (error instanceof LabelSelectorError) return undefined
    throw error
  }
}

/** The name of the index that leads from selectable objects back to selecting ones; `field` is `TYPE.FIELD`. */
export const choiceIndex = (field: string): string => `choice:${field}`

/**
 * An index of the selecting objects. Each is indexed under the name that it selects, or under one label that its
 * selector requires. So only the entries for an object's own name and labels, and those without required labels, need a
 * test.
 */
export function choiceIndexers(field: string, path: Path): Indexers {
  return {
    [choiceIndex(field)]: (object) => {
      const choice = choiceAt(valueAt(path, object))
      if (choice === undefined) return []
      const namespace = choice.namespace ?? anyNamespace
      if (choice.form === 'name') return [namePlace(namespace, choice.name)]
      return placesOfSelector(choice.labels).map((place) => labelPlace(namespace, place))
    },
  }
}

/** The index values under which objects that select this one may be found. */
export function placesChoosing(
  view: Pick<StoreView, 'keyOf' | 'labelsOf'>,
  id: ObjectId,
): readonly string[] {
  const { namespace, name } = splitObjectKey(view.keyOf(id))
  const labels = placesOfLabels(view.labelsOf(id))
  const namespaces = namespace === '' ? [anyNamespace] : [namespace, anyNamespace]
  return namespaces.flatMap((where) => [
    namePlace(where, name),
    ...labels.map((place) => labelPlace(where, place)),
  ])
}

const namePlace = (namespace: string, name: string): string => `name:${namespace}/${name}`

const labelPlace = (namespace: string, place: LabelPlace): string =>
  `label:${placeIn(namespace, place)}`

/*
 * Objects that choose others by a name or by labels, while a third object has the kind of the chosen ones: `spec.paramRef` of
 * an admission policy binding. An index of the choosing objects has each under the name that it chooses, or under one label
 * that its selector requires. So only the entries for an object's own name and labels, and those without required labels,
 * need a test.
 */

import type { Indexers, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import {
  type LabelSelector,
  LabelSelectorError,
  labelSelectorOf,
  matchesLabels,
} from '../../kubernetes/label-selector.ts'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { type KubernetesObject, splitObjectKey } from '../../kubernetes/object.ts'
import { isRecord } from '../../lib/json.ts'
import { hasValue, type OriginView, type RelatedPart } from '../condition/condition.ts'
import { type Path, valueAt } from '../index/path.ts'
import { visibleIds } from './last-steps.ts'
import {
  anyNamespace,
  type LabelPlace,
  placeIn,
  placesOfLabels,
  placesOfSelector,
} from './object-selector.ts'
import type { GroupKind, Relation, RelationOrigin } from './relation.ts'

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

/** The name of the index that leads from chosen objects back to the choosing ones. `field`: `TYPE.FIELD`. */
export const choiceIndex = (field: string): string => `choice:${field}`

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

/** A field with `@chooses`: objects choose others, while a third object has their kind. */
export interface ChoosingField {
  /** `TYPE.FIELD`. */
  readonly field: string
  /** The place of `name` or `selector`, and `namespace`. */
  readonly path: Path
  /** Leads from the choosing object to the one that has the kind. */
  readonly kindRelation: Relation
  /** The place of `apiVersion` and `kind` in that object. */
  readonly kindPath: Path
}

/** The keys of the objects that choose an origin. Tries each that the index has under its name or labels. */
export function choosersOf(
  choosing: ChoosingField,
  { view, id, budget, part }: RelationOrigin,
  choosers: RelatedPart,
): readonly string[] {
  const tried = hasValue(choiceIndex(choosing.field), placesChoosing(view, id))
  const { resource } = view
  const found = (visibleIds(tried, choosers, budget) ?? []).filter((one) => {
    budget.spend('rows', 1)
    const choice = choiceAt(valueAt(choosing.path, choosers.view.object(one)))
    if (choice === undefined || !isChosen(choice, view, id)) return false
    const kind = chosenKind(choosing, { view: choosers.view, id: one, budget, part })
    return kind?.kind === resource.kind && kind.group === resource.group
  })
  return found.map((one) => choosers.view.keyOf(one))
}

/** The kind of the objects that an origin chooses; `undefined` if no visible object tells it. */
export function chosenKind(
  { kindRelation, kindPath }: ChoosingField,
  origin: RelationOrigin,
): GroupKind | undefined {
  const { part, budget } = origin
  const holders = part(kindRelation.definition.to)
  const [holder] = visibleIds(kindRelation.follow(origin), holders, budget) ?? []
  if (holder === undefined) return undefined
  budget.spend('rows', 1)
  return groupKindAt(kindPath, holders.view.object(holder))
}

function groupKindAt(path: Path, object: KubernetesObject): GroupKind | undefined {
  const named = valueAt(path, object)
  if (!isRecord(named)) return undefined
  const { apiVersion, kind } = named
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined
  return { group: splitApiVersion(apiVersion).group, kind }
}

/** Whether a choice covers an object of the chosen kind. A choice of a cluster-scoped kind has no namespace. */
function isChosen(choice: ObjectChoice, view: OriginView, id: ObjectId): boolean {
  const { namespace, name } = splitObjectKey(view.keyOf(id))
  const { namespaced } = view.resource
  const isInPlace = choice.namespace === undefined || (namespaced && choice.namespace === namespace)
  if (!isInPlace) return false
  return choice.form === 'name'
    ? choice.name === name
    : matchesLabels(choice.labels, view.labelsOf(id))
}

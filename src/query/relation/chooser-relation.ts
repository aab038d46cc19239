import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { matchesLabels } from '../../kubernetes/label-selector.ts'
import { type KubernetesObject, splitObjectKey } from '../../kubernetes/object.ts'
import { isRecord } from '../../lib/json.ts'
import { hasKey, hasValue, nothing } from '../condition/condition.ts'
import { parsePath, valueAt } from '../index/path.ts'
import { visibleIds } from './last-steps.ts'
import { choiceAt, choiceIndex, choiceIndexers, placesChoosing } from './object-choice.ts'
import type { ReferencePlaces } from './reference-places.ts'
import type { Relation, RelationBase, RelationForm, RelationSet } from './relation.ts'

/** The objects of one kind that choose this one by a name or labels, while a third object has the kind: `spec.paramRef`. */
export interface ChooserRelation extends RelationBase {
  readonly form: 'chooser'
  /** The full name of the field with `@chooses`, which names the index. */
  readonly field: string
  /** The place of `name` or `selector`, and `namespace`. */
  readonly path: string
  /** The full name of the relation from the choosing object to the one that has the kind. */
  readonly kindRelation: string
  /** The place of `apiVersion` and `kind` in that object. */
  readonly kindPath: string
}

/** Tries each object that an index has under the name or labels of the chosen one. */
export const chooserForm: RelationForm<ChooserRelation> = {
  compile: compileChooser,
  staysInNamespace: () => false,
  words: ({ field }) => `whose \`${field}\` leads here`,
}

function compileChooser(definition: ChooserRelation, relations: RelationSet): Relation {
  const { from, to, field } = definition
  const path = parsePath(definition.path)
  const kindPath = parsePath(definition.kindPath)
  const toKind = relations.relation(definition.kindRelation)
  const meant = relations.groupKindOf?.(from)
  const isNamespaced = relations.isNamespaced(from)
  return {
    definition,
    reads: [...toKind.reads.filter((type) => type !== to), to],
    indexers: {
      ...toKind.indexers,
      [to]: { ...toKind.indexers[to], ...choiceIndexers(field, path) },
    },
    follow(origin) {
      const { view, id, budget } = origin
      const { namespace, name } = splitObjectKey(view.keyOf(id))
      const choosers = origin.part(to)
      const tried = hasValue(choiceIndex(field), placesChoosing(view, id))
      const kinds = origin.part(toKind.definition.to)
      const keys = (visibleIds(tried, choosers, budget) ?? []).filter((one) => {
        budget.spend('rows', 2)
        const choice = choiceAt(valueAt(path, choosers.view.object(one)))
        if (choice === undefined) return false
        if (choice.namespace !== undefined && !(isNamespaced && choice.namespace === namespace))
          return false
        const isChosen =
          choice.form === 'name'
            ? choice.name === name
            : matchesLabels(choice.labels, view.labelsOf(id))
        const start = { view: choosers.view, id: one, budget, part: origin.part }
        const [holder] = isChosen ? (visibleIds(toKind.follow(start), kinds, budget) ?? []) : []
        const said = holder === undefined ? undefined : valueAt(kindPath, kinds.view.object(holder))
        if (!isRecord(said) || typeof said['apiVersion'] !== 'string') return false
        return (
          said['kind'] === meant?.kind && splitApiVersion(said['apiVersion']).group === meant?.group
        )
      })
      return keys.length === 0 ? nothing : hasKey(keys.map((one) => choosers.view.keyOf(one)))
    },
  }
}

/** Where a choosing object names or selects the others. */
export function chooserPlaces({ path }: ChooserRelation): ReferencePlaces {
  const parsed = parsePath(path)
  return (object: KubernetesObject) => {
    const choice = choiceAt(valueAt(parsed, object))
    if (choice === undefined) return []
    return [`${path}.${choice.form === 'name' ? 'name' : 'selector'}`]
  }
}

import type { KubernetesObject } from '../../kubernetes/object.ts'
import { hasKey } from '../condition/condition.ts'
import { parsePath, valueAt } from '../index/path.ts'
import { choiceAt, choiceIndexers, choosersOf } from './object-choice.ts'
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
  words: ({ from, path }) => `whose \`${path}\` chooses this ${from}`,
}

function compileChooser(definition: ChooserRelation, relations: RelationSet): Relation {
  const { to, field } = definition
  const path = parsePath(definition.path)
  const kindRelation = relations.relation(definition.kindRelation)
  const choosing = { field, path, kindRelation, kindPath: parsePath(definition.kindPath) }
  return {
    definition,
    reads: [...kindRelation.reads.filter((type) => type !== to), to],
    indexers: {
      ...kindRelation.indexers,
      [to]: { ...kindRelation.indexers[to], ...choiceIndexers(field, path) },
    },
    follow: (origin) => hasKey(choosersOf(choosing, origin, origin.part(to))),
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

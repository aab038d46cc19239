import type { IndexFunction, Indexers } from '../../informer/store/store-view.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { hasValue } from '../condition/condition.ts'
import { stemOf } from './name-template.ts'
import { keysByRule } from './referenced-keys.ts'
import { originObject, type Relation, type RelationContext } from './relation.ts'
import { type NumberedRelation, relationName, type ReverseRelation } from './relation-definition.ts'

/** The index of any store by what stands before the number at the end of a name: one for all relations. */
const stems = 'name:stem'

const stemOfObject: IndexFunction = ({ metadata: { namespace, name } }) => stemsOf(namespace, name)

const stemIndexers: Indexers = { [stems]: stemOfObject }

function stemsOf(namespace: string | undefined, name: string): readonly string[] {
  const stem = stemOf(name)
  if (stem === undefined) return []
  return [namespace === undefined || namespace === '' ? stem : `${namespace}/${stem}`]
}

function indexNameOf(definition: NumberedRelation): string {
  return `ref:${relationName(definition)}`
}

/** Both sides are indexed by what stands before the number. Throws `NameTemplateError` and `PathError`. */
export function compileNumbered(definition: NumberedRelation, context: RelationContext): Relation {
  const valuesOf = keysByRule(definition.names, context.isNamespaced(definition.to))
  const index = indexNameOf(definition)
  return {
    definition,
    reads: [definition.to],
    indexers: { [definition.to]: stemIndexers },
    shortcuts: { [definition.from]: { [index]: valuesOf } },
    follow(origin) {
      const { view, id } = origin
      return hasValue(
        stems,
        view.hasIndex(index) ? view.index(index).valuesOf(id) : valuesOf(originObject(origin)),
      )
    },
  }
}

export function compileReverseNumbered(
  definition: ReverseRelation,
  numbered: NumberedRelation,
  context: RelationContext,
): Relation {
  const index = indexNameOf(numbered)
  const valuesOf = keysByRule(numbered.names, context.isNamespaced(numbered.to))
  return {
    definition,
    reads: [definition.to],
    indexers: { [definition.to]: { [index]: valuesOf } },
    follow({ view, id }) {
      const { namespace, name } = splitObjectKey(view.keyOf(id))
      return hasValue(index, stemsOf(namespace, name))
    },
  }
}

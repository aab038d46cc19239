import type { IndexFunction, Indexers } from '../../informer/store/store-view.ts'
import { hasValue } from '../condition/condition.ts'
import { parseNameTemplate } from './name-template.ts'
import {
  originObject,
  type Relation,
  type RelationContext,
  type RelationOrigin,
} from './relation.ts'
import { relationName, type ReverseRelation, type SameRelation } from './relation-definition.ts'

/** One end of the relation: the texts of its objects, and their index. */
interface SameEnd {
  readonly type: string
  readonly index: string
  readonly valuesOf: IndexFunction
}

/**
 * Looks up the texts of one object in an index of the other objects' texts. Throws `NameTemplateError` and `PathError`.
 */
export function compileSame(definition: SameRelation, context: RelationContext): Relation {
  const { own, other } = endsOf(definition, context)
  return { definition, ...fromTo(own, other) }
}

export function compileReverseSame(
  definition: ReverseRelation,
  same: SameRelation,
  context: RelationContext,
): Relation {
  const { own, other } = endsOf(same, context)
  return { definition, ...fromTo(other, own) }
}

function fromTo(start: SameEnd, end: SameEnd): Omit<Relation, 'definition'> {
  return {
    reads: [end.type],
    indexers: { [end.type]: indexerOf(end) },
    // If both ends are of one type, the other end's index already is on that store.
    shortcuts: start.type === end.type ? {} : { [start.type]: indexerOf(start) },
    follow: (origin) => hasValue(end.index, textsOf(origin, start)),
  }
}

function indexerOf({ index, valuesOf }: SameEnd): Indexers {
  return { [index]: valuesOf }
}

function textsOf(origin: RelationOrigin, { index, valuesOf }: SameEnd): readonly string[] {
  const { view, id } = origin
  return view.hasIndex(index) ? view.index(index).valuesOf(id) : valuesOf(originObject(origin))
}

function endsOf(
  definition: SameRelation,
  context: RelationContext,
): { readonly own: SameEnd; readonly other: SameEnd } {
  const { from, to, texts, as } = definition
  const name = relationName(definition)
  return {
    own: { type: from, index: `same:${name}`, valuesOf: textsIn(texts, from, context) },
    other: { type: to, index: `as:${name}`, valuesOf: textsIn(as, to, context) },
  }
}

function textsIn(texts: readonly string[], type: string, context: RelationContext): IndexFunction {
  const groupKind = context.groupKindOf?.(type)
  const templates = texts.map((text) => parseNameTemplate(text, { mayBeConstant: true, groupKind }))
  return (object) => templates.flatMap((template) => template.namesOf(object))
}

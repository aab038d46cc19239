/*
 * Relates objects that have a text in common. Each end has templates that compose texts from its objects, and an index of
 * them. The relation looks up the texts of one object in the index of the other end; its reverse swaps the ends.
 */

import type { IndexFunction, Indexers } from '../../informer/store/store-view.ts'
import { hasValue } from '../condition/condition.ts'
import { parseNameTemplate, pathsInBraces } from './name-template.ts'
import {
  codeOf,
  type Declaration,
  originObject,
  type Relation,
  type RelationBase,
  type RelationContext,
  type RelationForm,
  relationName,
  type RelationOrigin,
} from './relation.ts'

/** The object and the other have a text in common. */
export interface SameRelation extends RelationBase {
  readonly form: 'same'
  /** Text with paths in braces, of this object. */
  readonly texts: readonly string[]
  /** The same for the other object. */
  readonly as: readonly string[]
}

/** One end of the relation: the texts of its objects, and their index. */
interface SameEnd {
  readonly type: string
  readonly index: string
  readonly valuesOf: IndexFunction
}

export const sameForm: RelationForm<SameRelation> = {
  directives: { same: { read: sameOf } },
  compile(definition, context) {
    const { own, other } = endsOf(definition, context)
    return { definition, ...fromTo(own, other) }
  },
  compileReverse(definition, same, context) {
    const { own, other } = endsOf(same, context)
    return { definition, ...fromTo(other, own) }
  },
  staysInNamespace: () => false,
  isVague: () => true,
  words: ({ as, texts }) =>
    `with a common text: its ${codeOf(as)} is ${codeOf(texts)} of this object`,
  wordsBack: ({ as, texts }) =>
    `with a common text: its ${codeOf(texts)} is ${codeOf(as)} of this object`,
}

function sameOf(
  { text, as }: { readonly text: readonly string[]; readonly as: readonly string[] },
  declaration: Declaration,
): SameRelation {
  const { name, from, to } = declaration
  declaration.needConnection()
  for (const one of [...text, ...as]) parseNameTemplate(one, { mayBeConstant: true })
  if (text.length === 0 || as.length === 0) {
    throw declaration.fail('unsupported', '@same without a text', 'give both ends a text')
  }
  declaration.present(text.flatMap(pathsInBraces))
  declaration.presentOfTarget(as.flatMap(pathsInBraces))
  return { form: 'same', name, from, to, texts: text, as }
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

/*
 * Reads another relation backwards, or references to any kind from the objects of one kind. The form of the other relation
 * compiles the reverse; here are the checks that the two fit.
 */

import { hasKey } from '../condition/condition.ts'
import { compileReverseOfAnyKind } from './reference-relation.ts'
import {
  type Declaration,
  followedBack,
  originObject,
  type RelationForm,
  RelationDefinitionError,
  relationName,
  type ReverseRelation,
} from './relation.ts'

export const reverseForm: RelationForm<ReverseRelation> = {
  directives: { reverse: { read: reverseOf } },
  compile(definition, relations) {
    const { of, from, to } = definition
    const reference = relations.referenceOfAnyKind(of)
    if (reference?.from === to) return compileReverseOfAnyKind(definition, reference, relations)
    const fail = (problem: string, hint?: string): Error =>
      new RelationDefinitionError(relationName(definition), problem, hint)
    const forward = relations.definition(of)
    if (forward === undefined) throw fail(`there is no relation ${of} to reverse`)
    if (forward.from !== to || forward.to !== from) {
      const [wanted, found] = [`${from} to ${to}`, `${forward.from} to ${forward.to}`]
      throw fail(`leads from ${wanted}, but ${of} from ${found}`)
    }
    const reverse = relations.formOf(forward).compileReverse?.(definition, forward, relations)
    if (reverse !== undefined) return reverse
    const problem = `${of} is of the form ${forward.form}, which has no reverse`
    throw fail(problem, 'write owned, owner or through instead')
  },
  backwards(definition, relations) {
    const { of, from, to } = definition
    if (relations.definition(of) !== undefined) return followedBack(relations.relation(of), from)
    // For references to any kind, the index holds the keys of all referenced objects.
    const { indexers } = relations.relation(relationName(definition))
    const [found] = Object.entries(indexers[to] ?? {})
    if (found === undefined) return {}
    const [index, valuesOf] = found
    return {
      followBack: (target) =>
        hasKey(
          target.view.hasIndex(index)
            ? target.view.index(index).valuesOf(target.id)
            : valuesOf(originObject(target)),
        ),
    }
  },
  staysInNamespace: ({ of }, relations) =>
    relations.definition(of) === undefined
      ? relations.referenceOfAnyKind(of)?.isLocal === true
      : relations.inverse(relations.relation(of)).isLocal,
  words: ({ from }) => `that refers to this ${from}`,
}

function reverseOf(
  { of, one }: { readonly of: string; readonly one?: boolean | null },
  declaration: Declaration,
): ReverseRelation {
  const { name, from, to } = declaration
  if (one !== true) declaration.needConnection()
  declaration.needReversible(of)
  return { form: 'reverse', name, from, to, of }
}

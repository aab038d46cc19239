/*
 * All forms of relations, and the compiler of a schema's relations. Forms may refer to other relations, such as `@reverse`
 * and `@through`, so the compiler compiles each relation when one first asks for it, and refuses circles. Then it gives each
 * relation its inverse, as far as indexes allow, so that conditions on related objects can start from either end.
 */

import type { Indexers } from '../../informer/store/store-view.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { type ChooserRelation, chooserForm } from './chooser-relation.ts'
import { type EventsRelation, eventsForm } from './events-relation.ts'
import {
  type OwnedRelation,
  type OwnerRelation,
  ownedForm,
  ownerForm,
} from './ownership-relation.ts'
import type { SelectsRelation } from './object-selector.ts'
import {
  type NumberedRelation,
  numberedForm,
  referenceForm,
  type UidRelation,
  uidForm,
} from './reference-relation.ts'
import type { ReferenceRelation } from './referenced-keys.ts'
import {
  followedBack,
  type ReadDirective,
  type ReferenceOfAnyKind,
  type Relation,
  type RelationBase,
  type RelationContext,
  RelationDefinitionError,
  type RelationForm,
  type RelationInverse,
  relationName,
  type RelationSet,
  type ReverseRelation,
  type TwoWayRelation,
} from './relation.ts'
import { reverseForm } from './reverse-relation.ts'
import { type SameRelation, sameForm } from './same-relation.ts'
import { selectsForm } from './selects-relation.ts'
import { type ThroughRelation, throughForm } from './through-relation.ts'

export type RelationDefinition =
  | ReferenceRelation
  | NumberedRelation
  | UidRelation
  | SameRelation
  | SelectsRelation
  | ReverseRelation
  | OwnedRelation
  | OwnerRelation
  | ThroughRelation
  | EventsRelation
  | ChooserRelation

const forms: {
  readonly [F in RelationDefinition['form']]: RelationForm<Extract<RelationDefinition, { form: F }>>
} = {
  reference: referenceForm,
  numbered: numberedForm,
  uid: uidForm,
  same: sameForm,
  selects: selectsForm,
  reverse: reverseForm,
  owned: ownedForm,
  owner: ownerForm,
  through: throughForm,
  events: eventsForm,
  chooser: chooserForm,
}

export const relationDirectives: ReadonlyMap<string, ReadDirective> = new Map(
  Object.values<RelationForm>(forms).flatMap(({ directives = {} }) => Object.entries(directives)),
)

/** The directives whose relations `@reverse` can read backwards. */
export const reversibleDirectives: readonly string[] = Object.values<RelationForm>(forms)
  .filter((form) => form.compileReverse !== undefined)
  .flatMap(({ directives = {} }) => Object.keys(directives))

export function isReversible({ form }: RelationDefinition): boolean {
  return forms[form].compileReverse !== undefined
}

/** See {@link RelationForm.isVague}. */
export function isVague(definition: RelationDefinition): boolean {
  return formOf(definition).isVague?.(definition) ?? false
}

/**
 * The related objects, as a clause of descriptions: `that it owns`. A `@reverse` has the words of the relation that it
 * reads backwards.
 */
export function relationWords(
  definition: RelationDefinition,
  many: boolean,
  reversed?: RelationDefinition,
): string {
  const back = reversed && formOf(reversed).wordsBack?.(reversed)
  return back ?? formOf(definition).words(definition, many)
}

function formOf({ form }: RelationBase): RelationForm {
  return forms[form as RelationDefinition['form']]
}

/**
 * Compiles relations, and yields after each; returns them by full name (`Pod.node`). Throws {@link RelationDefinitionError} if two have the
 * same name, or a reverse is cyclic or has no relation to reverse; also `NameTemplateError` and `PathError`.
 */
export function* compiledRelationsInSteps(
  definitions: readonly RelationDefinition[],
  context: RelationContext,
  ofAnyKind: readonly ReferenceOfAnyKind[] = [],
): Generator<void, ReadonlyMap<string, TwoWayRelation>> {
  const compiler = new RelationCompiler(definitions, context, ofAnyKind)
  yield
  const compiled = new Map<string, TwoWayRelation>()
  for (const definition of definitions) {
    const name = relationName(definition)
    const relation = compiler.relation(name)
    compiled.set(name, { ...relation, ...compiler.inverse(relation) })
    yield
  }
  return compiled
}

/**
 * The indexes that relations use on each type's store, required or not, in both directions, besides those of every
 * store.
 */
export function indexersByType(
  relations: Iterable<Relation & Partial<RelationInverse>>,
): ReadonlyMap<string, Indexers> {
  const byType = new Map<string, Record<string, Indexers[string]>>()
  for (const { shortcuts = {}, backIndexers = {}, indexers } of relations) {
    const all = [shortcuts, backIndexers, indexers]
    for (const [type, some] of all.flatMap((one) => Object.entries(one))) {
      const known = byType.get(type)
      if (known === undefined) byType.set(type, { ...some })
      else Object.assign(known, some)
    }
  }
  return byType
}

class RelationCompiler implements RelationSet {
  readonly isNamespaced: RelationContext['isNamespaced']
  readonly groupKindOf: NonNullable<RelationContext['groupKindOf']>
  readonly formOf: RelationSet['formOf'] = formOf
  readonly #definitions = new Map<string, RelationBase>()
  readonly #ofAnyKind: ReadonlyMap<string, ReferenceOfAnyKind>
  readonly #compiled = new Map<string, Relation>()
  readonly #inverses = new Map<Relation, RelationInverse>()
  /** The names of the relations that are being compiled. */
  readonly #open: string[] = []

  constructor(
    definitions: readonly RelationDefinition[],
    context: RelationContext,
    ofAnyKind: readonly ReferenceOfAnyKind[],
  ) {
    this.isNamespaced = (type) => context.isNamespaced(type)
    this.groupKindOf = (type) => context.groupKindOf?.(type)
    this.#ofAnyKind = new Map(ofAnyKind.map((one) => [relationName(one), one]))
    for (const definition of definitions) {
      const name = relationName(definition)
      if (this.#definitions.has(name)) throw new RelationDefinitionError(name, 'is declared twice')
      this.#definitions.set(name, definition)
    }
  }

  definition(name: string): RelationBase | undefined {
    return this.#definitions.get(name)
  }

  referenceOfAnyKind(name: string): ReferenceOfAnyKind | undefined {
    return this.#ofAnyKind.get(name)
  }

  relation(name: string): Relation {
    const known = this.#compiled.get(name)
    if (known !== undefined) return known
    if (this.#open.includes(name)) {
      const circle = [...this.#open, name].join(' → ')
      throw new RelationDefinitionError(name, `goes in a circle: ${circle}`)
    }
    const definition = this.#definitions.get(name)
    if (definition === undefined) {
      throw new RelationDefinitionError(this.#open.at(-1) ?? name, `there is no relation ${name}`)
    }
    this.#open.push(name)
    const relation = formOf(definition).compile(definition, this)
    this.#open.pop()
    this.#compiled.set(name, relation)
    return relation
  }

  inverse(relation: Relation): RelationInverse {
    return getOrInsert(this.#inverses, relation, () => this.#inverseOf(relation.definition))
  }

  #inverseOf(definition: RelationBase): RelationInverse {
    const { name, from, to } = definition
    const form = formOf(definition)
    const turned = { form: 'reverse', name, from: to, to: from, of: '' } as const
    const reverse = form.compileReverse?.(turned, definition, this)
    const back =
      reverse === undefined
        ? (form.backwards?.(definition, this) ?? {})
        : followedBack(reverse, from)
    const isLocal =
      this.isNamespaced(from) && this.isNamespaced(to) && form.staysInNamespace(definition, this)
    const { followBack } = back
    return {
      ...back,
      isLocal,
      hops: form.hops?.(definition, this) ?? [{ from, to, followBack }],
    }
  }
}

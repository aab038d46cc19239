import type { Indexers } from '../../informer/store/store-view.ts'
import { compileEvents } from './events-relation.ts'
import { compileOwned, compileOwner } from './ownership-relation.ts'
import {
  compileNumbered,
  compileReference,
  compileReverseNumbered,
  compileReverseOfAnyKind,
  compileReverseReference,
  compileReverseUid,
  compileUid,
} from './reference-relation.ts'
import type { Relation, RelationContext, RelationInverse, TwoWayRelation } from './relation.ts'
import { inverseOf } from './relation-inverse.ts'
import {
  type ReferenceOfAnyKind,
  type RelationDefinition,
  RelationDefinitionError,
  relationName,
  type ReverseRelation,
} from './relation-definition.ts'
import { compileReverseSame, compileSame } from './same-relation.ts'
import { compileReverseSelects, compileSelects } from './selects-relation.ts'
import { compileThrough } from './through-relation.ts'

/**
 * Compiles relations; returns them by full name (`Pod.node`). Throws {@link RelationDefinitionError} if two have the
 * same name, or a reverse is cyclic or has no relation to reverse; also `NameTemplateError` and `PathError`.
 */
export function compileRelations(
  definitions: readonly RelationDefinition[],
  context: RelationContext,
  ofAnyKind: readonly ReferenceOfAnyKind[] = [],
): ReadonlyMap<string, TwoWayRelation> {
  const compiled = new RelationCompiler(definitions, context, ofAnyKind).all()
  return new Map(
    [...compiled].map(([name, relation]) => [
      name,
      { ...relation, ...inverseOf(relation, compiled, context) },
    ]),
  )
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

class RelationCompiler {
  readonly #definitions = new Map<string, RelationDefinition>()
  readonly #ofAnyKind: ReadonlyMap<string, ReferenceOfAnyKind>
  readonly #context: RelationContext
  readonly #compiled = new Map<string, Relation>()

  constructor(
    definitions: readonly RelationDefinition[],
    context: RelationContext,
    ofAnyKind: readonly ReferenceOfAnyKind[],
  ) {
    this.#context = context
    this.#ofAnyKind = new Map(ofAnyKind.map((one) => [relationName(one), one]))
    for (const definition of definitions) {
      const name = relationName(definition)
      if (this.#definitions.has(name)) throw new RelationDefinitionError(name, 'is declared twice')
      this.#definitions.set(name, definition)
    }
  }

  all(): ReadonlyMap<string, Relation> {
    return new Map([...this.#definitions.keys()].map((name) => [name, this.#relation(name, [])]))
  }

  #relation(name: string, on: readonly string[]): Relation {
    const known = this.#compiled.get(name)
    if (known !== undefined) return known
    if (on.includes(name)) {
      throw new RelationDefinitionError(name, `goes in a circle: ${[...on, name].join(' → ')}`)
    }
    const definition = this.#definitions.get(name)
    if (definition === undefined) {
      throw new RelationDefinitionError(on.at(-1) ?? name, `there is no relation ${name}`)
    }
    const relation = this.#compile(definition, [...on, name])
    this.#compiled.set(name, relation)
    return relation
  }

  #compile(definition: RelationDefinition, on: readonly string[]): Relation {
    switch (definition.form) {
      case 'reference':
        return compileReference(definition, this.#context)
      case 'numbered':
        return compileNumbered(definition, this.#context)
      case 'uid':
        return compileUid(definition)
      case 'reverse':
        return this.#reverse(definition)
      case 'selects':
        return compileSelects(definition, this.#context)
      case 'same':
        return compileSame(definition, this.#context)
      case 'owned':
        return compileOwned(definition)
      case 'owner':
        return compileOwner(definition)
      case 'through':
        return compileThrough(
          definition,
          definition.steps.map((step) => this.#relation(step, on)),
        )
      case 'events':
        return compileEvents(definition)
    }
  }

  #reverse(definition: ReverseRelation): Relation {
    const { of, from, to } = definition
    const name = relationName(definition)
    const reference = this.#ofAnyKind.get(of)
    if (reference?.from === to) {
      return compileReverseOfAnyKind(definition, reference, this.#context)
    }
    const forward = this.#definitions.get(of)
    if (forward === undefined) {
      throw new RelationDefinitionError(name, `there is no relation ${of} to reverse`)
    }
    if (forward.from !== to || forward.to !== from) {
      const [wanted, found] = [`${from} to ${to}`, `${forward.from} to ${forward.to}`]
      throw new RelationDefinitionError(name, `leads from ${wanted}, but ${of} from ${found}`)
    }
    switch (forward.form) {
      case 'reference':
        return compileReverseReference(definition, forward, this.#context)
      case 'numbered':
        return compileReverseNumbered(definition, forward, this.#context)
      case 'uid':
        return compileReverseUid(definition, forward)
      case 'selects':
        return compileReverseSelects(definition, forward, this.#context)
      case 'same':
        return compileReverseSame(definition, forward, this.#context)
      case 'reverse':
      case 'owned':
      case 'owner':
      case 'through':
      case 'events':
        throw new RelationDefinitionError(
          name,
          `${of} is of the form ${forward.form}, which has no reverse`,
          'write owned, owner or through instead',
        )
    }
  }
}

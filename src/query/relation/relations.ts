import type { Indexers } from '../../informer/store/store-view.ts'
import { compileEvents } from './events-relation.ts'
import { compileOwned, compileOwner } from './ownership-relation.ts'
import { compileReference, compileReverseReference } from './reference-relation.ts'
import type { Relation, RelationContext, TwoWayRelation } from './relation.ts'
import { inverseOf } from './relation-inverse.ts'
import {
  type RelationDefinition,
  RelationDefinitionError,
  relationName,
  type ReverseRelation,
} from './relation-definition.ts'
import { compileReverseSelects, compileSelects } from './selects-relation.ts'

/**
 * Makes relations ready to be followed, by full name (`Pod.node`). Throws {@link RelationDefinitionError} where two have
 * one name or a reverse has nothing to reverse, and `PathError`.
 */
export function compileRelations(
  definitions: readonly RelationDefinition[],
  context: RelationContext,
): ReadonlyMap<string, TwoWayRelation> {
  const byName = new Map<string, RelationDefinition>()
  for (const definition of definitions) {
    const name = relationName(definition)
    if (byName.has(name)) throw new RelationDefinitionError(name, 'is declared twice')
    byName.set(name, definition)
  }
  return new Map(
    [...byName].map(([name, definition]) => [
      name,
      {
        ...compile(definition, byName, context),
        ...inverseOf(definition, byName, context),
      },
    ]),
  )
}

/** The indexes that a set of relations needs on the store of a type, besides those which every store has. */
export function indexersFor(relations: Iterable<Relation>, type: string): Indexers {
  const indexers: Record<string, Indexers[string]> = {}
  for (const relation of relations) Object.assign(indexers, relation.indexers[type])
  return indexers
}

function compile(
  definition: RelationDefinition,
  byName: ReadonlyMap<string, RelationDefinition>,
  context: RelationContext,
): Relation {
  switch (definition.form) {
    case 'reference':
      return compileReference(definition, context)
    case 'reverse':
      return compileReverse(definition, byName, context)
    case 'selects':
      return compileSelects(definition, context)
    case 'owned':
      return compileOwned(definition)
    case 'owner':
      return compileOwner(definition)
    case 'events':
      return compileEvents(definition)
  }
}

function compileReverse(
  definition: ReverseRelation,
  byName: ReadonlyMap<string, RelationDefinition>,
  context: RelationContext,
): Relation {
  const forward = byName.get(definition.of)
  const name = relationName(definition)
  if (forward === undefined) {
    throw new RelationDefinitionError(name, `there is no relation ${definition.of} to reverse`)
  }
  if (forward.from !== definition.to || forward.to !== definition.from) {
    throw new RelationDefinitionError(
      name,
      `leads from ${definition.from} to ${definition.to}, but ${definition.of} from ${forward.from} to ${forward.to}`,
    )
  }
  if (forward.form === 'reference') return compileReverseReference(definition, forward, context)
  if (forward.form === 'selects') return compileReverseSelects(definition, forward, context)
  throw new RelationDefinitionError(
    name,
    `${definition.of} is of the form ${forward.form}, which has no reverse`,
    'write owned or owner instead',
  )
}

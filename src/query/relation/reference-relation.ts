import type { IndexFunction } from '../../informer/store/store-view.ts'
import { type Condition, everything, hasKey, hasValue, nothing } from '../condition/condition.ts'
import { parsePath, valuesAt } from '../index/path.ts'
import { referencedKeys } from './referenced-keys.ts'
import {
  originObject,
  type Relation,
  type RelationContext,
  type RelationOrigin,
} from './relation.ts'
import {
  type ReferenceOfAnyKind,
  type ReferenceRelation,
  relationName,
  type ReverseRelation,
  type UidRelation,
} from './relation-definition.ts'

/** The index of a reference on the store of the referring type, from the objects that are meant to those that mean them. */
interface ReferenceIndex {
  readonly name: string
  readonly valuesOf: IndexFunction
}

/**
 * A reference is followed by what its index says of the object, or else by the object itself. Throws `PathError`,
 * `NameTemplateError` and `RelationDefinitionError`.
 */
export function compileReference(
  definition: ReferenceRelation,
  context: RelationContext,
): Relation {
  const { only, to } = definition
  if (only !== undefined) {
    return { definition, reads: [to], indexers: {}, follow: () => hasKey([only]) }
  }
  const index = keyIndexOf(definition, context)
  return { ...forwards(definition, index, hasKey), keysIndex: index.name }
}

/** As {@link compileReference}, where the object says UIDs. */
export function compileUid(definition: UidRelation): Relation {
  return forwards(definition, uidIndexOf(definition), (uids) => hasValue('uid', uids))
}

/** A reference read backwards: the index of the referring store, asked for the key of the object. */
export function compileReverseReference(
  definition: ReverseRelation,
  reference: ReferenceRelation,
  context: RelationContext,
): Relation {
  const { only } = reference
  if (only !== undefined) {
    const follow = ({ view, id }: RelationOrigin): Condition =>
      view.keyOf(id) === only ? everything : nothing
    return { definition, reads: [definition.to], indexers: {}, only, follow }
  }
  const index = keyIndexOf(reference, context)
  return backwards(definition, index, ({ view, id }) => [view.keyOf(id)])
}

/** As {@link compileReverseReference}, where the object says UIDs. */
export function compileReverseUid(definition: ReverseRelation, reference: UidRelation): Relation {
  return backwards(definition, uidIndexOf(reference), ({ view, id }) =>
    view.index('uid').valuesOf(id),
  )
}

/** References to whatever kind, read backwards: those of them that mean this kind. */
export function compileReverseOfAnyKind(
  definition: ReverseRelation,
  { from, name, paths }: ReferenceOfAnyKind,
  context: RelationContext,
): Relation {
  const reference: ReferenceRelation = {
    form: 'reference',
    from,
    name: `${name}=${definition.from}`,
    to: definition.from,
    paths: [],
    refPaths: paths,
    many: true,
  }
  return compileReverseReference(definition, reference, context)
}

function forwards(
  definition: ReferenceRelation | UidRelation,
  { name, valuesOf }: ReferenceIndex,
  condition: (values: readonly string[]) => Condition,
): Relation {
  return {
    definition,
    reads: [definition.to],
    indexers: {},
    shortcuts: { [definition.from]: name === namespaceIndex ? {} : { [name]: valuesOf } },
    follow(origin) {
      const { view, id } = origin
      return condition(
        view.hasIndex(name) ? view.index(name).valuesOf(id) : valuesOf(originObject(origin)),
      )
    },
  }
}

function backwards(
  definition: ReverseRelation,
  { name, valuesOf }: ReferenceIndex,
  valuesOfOrigin: (origin: RelationOrigin) => readonly string[],
): Relation {
  return {
    definition,
    reads: [definition.to],
    indexers: { [definition.to]: name === namespaceIndex ? {} : { [name]: valuesOf } },
    follow: (origin) => hasValue(name, valuesOfOrigin(origin)),
  }
}

const namespaceIndex = 'namespace'

/** From an object to its Namespace every store has an index anyway. */
function keyIndexOf(reference: ReferenceRelation, context: RelationContext): ReferenceIndex {
  const { paths, to } = reference
  const isOwn = paths.length === 1 && paths[0] === 'metadata.namespace' && !context.isNamespaced(to)
  const name = isOwn ? namespaceIndex : `ref:${relationName(reference)}`
  return { name, valuesOf: referencedKeys(reference, context) }
}

function uidIndexOf(reference: UidRelation): ReferenceIndex {
  const paths = reference.paths.map(parsePath)
  const valuesOf: IndexFunction = (object) =>
    paths.flatMap((path) => valuesAt(path, object).filter(isUid))
  return { name: `ref:${relationName(reference)}`, valuesOf }
}

function isUid(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

import type { Indexers, IndexFunction } from '../../informer/store/store-view.ts'
import { type Condition, everything, hasKey, hasValue, nothing } from '../condition/condition.ts'
import { parsePath, valuesAt } from '../index/path.ts'
import { keysByRule, referencedKeys } from './referenced-keys.ts'
import {
  originObject,
  type Relation,
  type RelationContext,
  type RelationOrigin,
} from './relation.ts'
import {
  type NumberedRelation,
  type ReferenceOfAnyKind,
  type ReferenceRelation,
  relationName,
  type ReverseRelation,
  type UidRelation,
} from './relation-definition.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { stemOf } from './name-template.ts'

/**
 * The index of a reference on the store of the referring type. It leads from the referenced objects to the referring
 * ones.
 */
interface ReferenceIndex {
  readonly name: string
  readonly valuesOf: IndexFunction
}

/**
 * Follows a reference by its index, if the store has it, or else by the object. Throws `PathError`, `NameTemplateError`
 * and `RelationDefinitionError`.
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

/** Like {@link compileReference}, for objects that refer by UID. */
export function compileUid(definition: UidRelation): Relation {
  return forwards(definition, uidIndexOf(definition), (uids) => hasValue('uid', uids))
}

/** A reference read backwards: looks up the object's key in the index of the referring store. */
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

/** Like {@link compileReverseReference}, for references by UID. */
export function compileReverseUid(definition: ReverseRelation, reference: UidRelation): Relation {
  return backwards(definition, uidIndexOf(reference), ({ view, id }) =>
    view.index('uid').valuesOf(id),
  )
}

/** References to any kind, read backwards from the objects of one kind. */
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

/** References to the own Namespace use the `namespace` index, which every store has. */
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

/** The index of any store by the part of the name before its number. All relations share it. */
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

/** Both sides are indexed by the part of the name before the number. Throws `NameTemplateError` and `PathError`. */
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

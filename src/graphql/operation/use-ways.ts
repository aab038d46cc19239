import { type Condition, everything, hasValue, noneOf } from '../../query/condition/condition.ts'
import { endedIndexName, endedValue } from '../../query/index/ended-index.ts'
import { type ReferencePlaces, referencePlaces } from '../../query/relation/reference-places.ts'
import type { RelationContext } from '../../query/relation/relation.ts'
import type { Kind } from '../model/kind.ts'
import type { RelatedNeed, SchemaRelation } from './schema-relations.ts'

/** One of the ways in which objects of other kinds make use of a kind's: a reference of theirs. */
export interface UseWay {
  /** The kind of those that use. */
  readonly user: Kind
  /** From the object that is used to them. */
  readonly relation: SchemaRelation
  /** Which of them count: those that have not ended. */
  readonly condition: Condition
  readonly places: ReferencePlaces
  /** What has to be read, and by which indexes. */
  readonly needs: readonly RelatedNeed[]
}

/** The way of a relation that reads a reference backwards. */
export function useWayOf(
  relation: SchemaRelation,
  forward: SchemaRelation['relation'] | undefined,
  context: RelationContext,
): UseWay {
  const definition = forward?.definition
  if (definition?.form !== 'reference') throw new TypeError(`${relation.name} reads no reference`)
  const { to: user, needs } = relation
  const { ended } = user
  const index = ended === undefined ? undefined : endedIndexName(ended)
  return {
    user,
    relation,
    condition: index === undefined ? everything : noneOf(hasValue(index, [endedValue])),
    places: referencePlaces(definition, context),
    needs: [...needs.values()].map(({ kind, indexes }) =>
      kind !== user || index === undefined
        ? { kind, indexes }
        : { kind, indexes: { ...indexes, needed: [...(indexes.needed ?? []), index] } },
    ),
  }
}

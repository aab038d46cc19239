import { isWhereWord } from '../../query/condition/where.ts'
import type { Kind, RelationField } from './kind.ts'
import { usedByField } from './uses.ts'

/** Whether the lists of a kind can be filtered by what makes use of its objects. */
export function isFilteredByUse({ usedBy, indexes }: Kind): boolean {
  return usedBy.length > 0 && !indexes.some(({ name }) => name === usedByField)
}

/**
 * The relations of a kind by which its lists can be filtered, `events` included. Where an index has the name of a relation, as
 * `namespace` has, the field of `where` is the index's.
 */
export function filteringRelations(kind: Kind): readonly RelationField[] {
  const { relations, events, indexes } = kind
  const taken = new Set(indexes.map(({ name }) => name))
  return [...relations, ...(events === undefined ? [] : [events])].filter(
    ({ definition: { name } }) => !taken.has(name) && !isWhereWord(name),
  )
}

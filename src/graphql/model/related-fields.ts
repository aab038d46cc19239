import { isWhereWord } from '../../query/condition/where.ts'
import type { Kind, RelationField } from './kind.ts'

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

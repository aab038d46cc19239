import type { RelatedField, WhereFields } from '../../query/condition/related-filter.ts'
import type { RelatedBy } from '../../query/condition/related-by.ts'
import { isWhereWord } from '../../query/condition/where.ts'
import type { Kind } from '../model/kind.ts'
import type { RelatedNeed } from '../reads/schema-relations.ts'
import type { ServedSchema } from './served-schema.ts'

/**
 * The kinds that a `where` on the objects of a kind rests on because of relations, with the indexes that they are read by. What
 * is wrong with it is told when it is compiled.
 */
export function whereKinds(
  served: ServedSchema,
  kind: Kind,
  where: unknown,
): readonly RelatedNeed[] {
  const relations = new Set<RelatedBy>()
  collect(where, served.relations.whereFields(kind), relations)
  return [...relations].flatMap(({ indexes }) =>
    [...indexes].flatMap(([type, wanted]) => {
      const read = served.kinds.get(type)
      return read === undefined ? [] : [{ kind: read, indexes: wanted }]
    }),
  )
}

function collect(where: unknown, fields: WhereFields, relations: Set<RelatedBy>): void {
  if (typeof where !== 'object' || where === null) return
  for (const [name, value] of Object.entries(where) as [string, unknown][]) {
    if (value === undefined || value === null) continue
    const field = fields.related.get(name)
    if (field !== undefined) collectField(field, value, relations)
    else if (isWhereWord(name)) {
      for (const one of Array.isArray(value) ? value : [value]) collect(one, fields, relations)
    }
  }
}

function collectField(field: RelatedField, filter: unknown, relations: Set<RelatedBy>): void {
  const inner = typeof filter === 'object' && filter !== null ? Object.values(filter) : []
  for (const value of inner as unknown[]) {
    if (value === undefined || value === null) continue
    if (field.form === 'kinds') {
      const { kinds } = value as { readonly kinds?: unknown }
      for (const { relation } of field.ways) {
        if (Array.isArray(kinds) && !kinds.includes(relation.to)) continue
        relations.add(relation)
      }
    } else {
      relations.add(field.relation)
      collect(value, field.to(), relations)
    }
  }
}

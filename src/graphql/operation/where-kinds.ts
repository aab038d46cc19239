import type { RelatedField, WhereFields } from '../../query/condition/related-filter.ts'
import { isWhereWord } from '../../query/condition/where.ts'
import type { Kind } from '../model/kind.ts'
import type { ServedSchema } from './served-schema.ts'

/** The kinds, besides its own, that a `where` on the objects of a kind rests on. What is wrong with it, is told when it is compiled. */
export function whereKinds(served: ServedSchema, kind: Kind, where: unknown): readonly Kind[] {
  const types = new Set<string>()
  collect(where, served.relations.whereFields(kind), types)
  return [...types].flatMap((type) => served.kinds.get(type) ?? [])
}

function collect(where: unknown, fields: WhereFields, types: Set<string>): void {
  if (typeof where !== 'object' || where === null) return
  for (const [name, value] of Object.entries(where) as [string, unknown][]) {
    if (value === undefined || value === null) continue
    const field = fields.related.get(name)
    if (field !== undefined) collectField(field, value, types)
    else if (isWhereWord(name)) {
      for (const one of Array.isArray(value) ? value : [value]) collect(one, fields, types)
    }
  }
}

function collectField(field: RelatedField, filter: unknown, types: Set<string>): void {
  const inner = typeof filter === 'object' && filter !== null ? Object.values(filter) : []
  for (const value of inner as unknown[]) {
    if (value === undefined || value === null) continue
    if (field.form === 'kinds') {
      const { kinds } = value as { readonly kinds?: unknown }
      for (const { relation } of field.ways) {
        if (Array.isArray(kinds) && !kinds.includes(relation.to)) continue
        for (const type of relation.reads) types.add(type)
      }
    } else {
      for (const type of field.relation.reads) types.add(type)
      collect(value, field.to(), types)
    }
  }
}

import type { RelatedField, WhereFields } from '../../query/condition/related-filter.ts'
import type { TwoWayRelation } from '../../query/relation/relation.ts'
import { type RelationDefinition, relationName } from '../../query/relation/relation-definition.ts'
import { compileRelations } from '../../query/relation/relations.ts'
import type { RelatedBy } from '../../query/condition/related-by.ts'
import type { Kind, RelationField } from '../model/kind.ts'
import { filteringRelations } from '../model/related-fields.ts'

/** A relation of the schema, ready to be followed. */
export interface SchemaRelation {
  /** `Pod.node`. */
  readonly name: string
  readonly relation: TwoWayRelation
  /** The kind that it leads to. */
  readonly to: Kind
  /** The kinds that must be readable besides the one it starts from; {@link to} is the last. */
  readonly reads: readonly Kind[]
}

/** The relations of a schema, resolved once when it is made. */
export interface SchemaRelations {
  /** Every field that is a relation, `events` of each kind included. */
  readonly byField: ReadonlyMap<RelationField, SchemaRelation>
  /** The compiled relations alone: what the stores need indexes for. */
  readonly compiled: readonly TwoWayRelation[]
  /** The kinds whose objects, as the SDL says, objects of this kind may own directly. */
  ownedKinds(kind: Kind): readonly Kind[]
  /** What a `where` may ask of the objects of a kind. */
  whereFields(kind: Kind): WhereFields
}

/** Resolves all relations of the kinds. Throws `RelationDefinitionError` and `PathError`. */
export function resolveRelations(
  kinds: ReadonlyMap<string, Kind>,
  definitions: readonly RelationDefinition[],
): SchemaRelations {
  const compiled = compileRelations(definitions, {
    isNamespaced: (type) => kinds.get(type)?.resource.namespaced ?? true,
  })
  const byField = new Map<RelationField, SchemaRelation>()
  for (const kind of kinds.values()) {
    for (const field of [...kind.relations, ...(kind.events === undefined ? [] : [kind.events])]) {
      const name = relationName(field.definition)
      const relation = compiled.get(name)
      if (relation === undefined) throw new TypeError(`relation ${name} is not compiled`)
      const reads = relation.reads.map((type) => kindNamed(kinds, type, name))
      byField.set(field, { name, relation, reads, to: kindNamed(kinds, field.definition.to, name) })
    }
  }
  const owned = ownedTypes(definitions)
  const fields = new Map<Kind, WhereFields>()
  const whereFields = (kind: Kind): WhereFields => {
    let known = fields.get(kind)
    if (known === undefined) fields.set(kind, (known = whereFieldsOf(kind)))
    return known
  }
  const whereFieldsOf = (kind: Kind): WhereFields => {
    const related = new Map<string, RelatedField>()
    for (const field of filteringRelations(kind)) {
      const found = byField.get(field)
      if (found === undefined) continue
      const { name } = field.definition
      related.set(name, {
        form: field.many ? 'many' : 'one',
        name,
        relation: relatedBy(found),
        to: () => whereFields(found.to),
      })
    }
    return { indexes: kind.indexes, related }
  }
  return {
    byField,
    compiled: [...compiled.values()],
    whereFields,
    ownedKinds: ({ typeName }) =>
      [...(owned.get(typeName) ?? [])].map((type) => kindNamed(kinds, type, typeName)),
  }
}

function relatedBy({ name, relation }: SchemaRelation): RelatedBy {
  const { definition, reads, isLocal, followBack } = relation
  const { from, to } = definition
  return {
    name,
    from,
    to,
    reads,
    isLocal,
    follow: (origin) => relation.follow(origin),
    ...(followBack === undefined ? {} : { followBack }),
  }
}

function kindNamed(kinds: ReadonlyMap<string, Kind>, type: string, relation: string): Kind {
  const kind = kinds.get(type)
  if (kind === undefined) throw new TypeError(`${relation} speaks of ${type}, which is not served`)
  return kind
}

/** From each type to those that it owns in one step: every step of `@owned` and `@owner` says so of two types. */
function ownedTypes(
  definitions: readonly RelationDefinition[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const owned = new Map<string, Set<string>>()
  for (const definition of definitions) {
    if (definition.form !== 'owned' && definition.form !== 'owner') continue
    const { from, through = [], to, form } = definition
    const upwards = [from, ...through, to]
    const chain = form === 'owned' ? upwards : upwards.toReversed()
    for (const [position, owner] of chain.slice(0, -1).entries()) {
      const child = chain[position + 1]
      if (child === undefined) continue
      let children = owned.get(owner)
      if (children === undefined) owned.set(owner, (children = new Set()))
      children.add(child)
    }
  }
  return owned
}

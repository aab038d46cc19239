/*
 * The relations of a schema, resolved once: what each field follows, which kinds and indexes it needs, and how filters
 * use it. The definitions of all kinds are compiled together (`query/relation`), since relations go through each other
 * and back.
 */

import type { WantedIndexes } from '../../cache/cached-resource.ts'
import {
  type Condition,
  everything,
  hasValue,
  noneOf,
  type RelatedBy,
} from '../../query/condition/condition.ts'
import { endedIndexName, endedValue } from '../../query/index/index-definition.ts'
import {
  type ReferencePlaces,
  referencePlaces,
  selectorPlaces,
} from '../../query/relation/reference-places.ts'
import type { Indexers } from '../../informer/store/store-view.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { RelatedField, WhereFields } from '../../query/condition/related-filter.ts'
import {
  type ReferenceOfAnyKind,
  type RelationContext,
  relationName,
  type TwoWayRelation,
} from '../../query/relation/relation.ts'
import { chooserPlaces } from '../../query/relation/chooser-relation.ts'
import { referenceTo } from '../../query/relation/reference-relation.ts'
import {
  compiledRelationsInSteps,
  type RelationDefinition,
} from '../../query/relation/relations.ts'
import {
  filteringRelations,
  isFilteredByUse,
  type Kind,
  type RelationField,
  relationFieldsOf,
  usedByField,
} from '../model/kind.ts'

export class SchemaRelation {
  /** `Pod.node`. */
  readonly name: string
  readonly relation: TwoWayRelation
  readonly from: Kind
  /** The kinds that must be readable besides the origin's kind; {@link to} is the last. */
  readonly reads: readonly Kind[]
  readonly to: Kind
  #needs: ReadonlyMap<string, RelatedNeed> | undefined

  constructor(relation: TwoWayRelation, from: Kind, reads: readonly Kind[], to: Kind) {
    this.name = relationName(relation.definition)
    this.relation = relation
    this.from = from
    this.reads = reads
    this.to = to
  }

  /** The kinds of {@link reads} and the origin's kind, by type name, with the indexes that the relation reads. */
  get needs(): ReadonlyMap<string, RelatedNeed> {
    const { indexers, shortcuts = {} } = this.relation
    this.#needs ??= new Map(
      [this.from, ...this.reads].map((kind) => {
        const needed = Object.keys(indexers[kind.typeName] ?? {})
        const useful = Object.keys(shortcuts[kind.typeName] ?? {})
        return [kind.typeName, { kind, indexes: { needed, useful } }]
      }),
    )
    return this.#needs
  }
}

export interface RelatedNeed {
  readonly kind: Kind
  readonly indexes: WantedIndexes
}

/** The kinds to load before a relation can be followed. */
export function relationNeeds(
  { byField }: Pick<SchemaRelations, 'byField'>,
  field: RelationField,
): readonly RelatedNeed[] {
  const needs = [...(byField.get(field)?.needs.values() ?? [])]
  return needs.filter(({ kind }) => !kind.uncached)
}

export interface SchemaRelations {
  /** Every relation field, including `events` of each kind. */
  readonly byField: ReadonlyMap<RelationField, SchemaRelation>
  /** The compiled relations. The stores build their indexes. */
  readonly compiled: readonly TwoWayRelation[]
  readonly indexTexts: Readonly<Record<string, string>>
  /** The kinds whose objects may be owned directly by objects of this kind, according to the SDL. */
  ownedKinds(kind: Kind): readonly Kind[]
  /** The fields of a `where` for a kind. */
  whereFields(kind: Kind): WhereFields
  usesOf(kind: Kind): readonly UseWay[]
}

/** Resolves all relations of the kinds; pauses between kinds. Throws `RelationDefinitionError` and `PathError`. */
export function* resolveRelations(
  kinds: ReadonlyMap<string, Kind>,
  definitions: readonly RelationDefinition[],
  ofAnyKind: readonly ReferenceOfAnyKind[],
): Generator<void, SchemaRelations> {
  const context: RelationContext = {
    isNamespaced: (type) => kinds.get(type)?.resource.namespaced ?? true,
    groupKindOf: (type) => kinds.get(type)?.resource,
  }
  const compiled = yield* compiledRelationsInSteps(definitions, context, ofAnyKind)
  const byField = new Map<RelationField, SchemaRelation>()
  for (const kind of kinds.values()) {
    for (const field of relationFieldsOf(kind)) {
      const name = relationName(field.definition)
      const relation = compiled.get(name)
      if (relation === undefined) throw new TypeError(`relation ${name} is not compiled`)
      const reads = relation.reads.map((type) => kindNamed(kinds, type, name))
      const to = kindNamed(kinds, field.definition.to, name)
      byField.set(field, new SchemaRelation(relation, kind, reads, to))
    }
    yield
  }
  const anyByName = new Map(ofAnyKind.map((one) => [relationName(one), one]))
  const byName = new Map(definitions.map((definition) => [relationName(definition), definition]))
  const owned = ownedTypes(definitions)
  const uses = new Map<Kind, readonly UseWay[]>()
  const usesOf = (kind: Kind): readonly UseWay[] => {
    return getOrInsert(uses, kind, () =>
      kind.usedBy.flatMap((field) => {
        const found = byField.get(field)
        if (found === undefined) return []
        if (field.definition.form === 'chooser')
          return [useWayOf(found, chooserPlaces(field.definition))]
        if (field.definition.form !== 'reverse') return []
        const { of } = field.definition
        const any = anyByName.get(of)
        const reference = byName.get(of) ?? (any && referenceTo(kind.typeName, any))
        if (reference?.form === 'selects') return [useWayOf(found, selectorPlaces(reference))]
        if (reference?.form === 'reference' || reference?.form === 'numbered')
          return [useWayOf(found, referencePlaces(reference, context))]
        throw new TypeError(`${found.name} reads neither a reference nor a selector`)
      }),
    )
  }
  const fields = new Map<Kind, WhereFields>()
  const whereFields = (kind: Kind): WhereFields => {
    const known = fields.get(kind)
    if (known !== undefined) return known
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
    if (isFilteredByUse(kind)) {
      const ways = usesOf(kind).map(({ relation, condition, needs }) => ({
        relation: relatedBy(relation, needs),
        condition,
      }))
      related.set(usedByField, {
        form: 'kinds',
        name: usedByField,
        ways,
        leftOut: kind.leftOutUsers,
      })
    }
    const ofKind = { indexes: kind.indexes, related }
    fields.set(kind, ofKind)
    return ofKind
  }
  return {
    byField,
    compiled: [...compiled.values()],
    whereFields,
    usesOf,
    indexTexts: textsOf([...compiled.values()], [...definitions, ...ofAnyKind], context),
    ownedKinds: ({ typeName }) =>
      [...(owned.get(typeName) ?? [])].map((type) => kindNamed(kinds, type, typeName)),
  }
}

/** A filter follows a relation for all objects of a kind, so it needs indexes that only speed up a single look-up. */
function relatedBy(
  { name, relation }: SchemaRelation,
  further: readonly RelatedNeed[] = [],
): RelatedBy {
  const {
    definition,
    reads,
    indexers,
    shortcuts = {},
    isLocal,
    followBack,
    backIndexers,
    hops,
  } = relation
  const { from, to } = definition
  const indexes = new Map(
    [from, ...reads].map((type) => {
      const asked = further.flatMap(({ kind, indexes: { needed = [] } }) =>
        kind.typeName === type ? [...needed] : [],
      )
      const needed = Object.keys({ ...indexers[type], ...shortcuts[type] })
      return [
        type,
        {
          needed: [...new Set([...needed, ...asked])],
          useful: Object.keys(backIndexers?.[type] ?? {}),
        },
      ]
    }),
  )
  return {
    name,
    from,
    to,
    indexes,
    isLocal,
    hops,
    follow: (origin) => relation.follow(origin),
    ...(followBack === undefined ? {} : { followBack }),
  }
}

/** The name of an index is `…:relation`, with `=kind` behind it for a reference of any kind. */
function textsOf(
  compiled: readonly TwoWayRelation[],
  definitions: readonly (RelationDefinition | ReferenceOfAnyKind)[],
  context: RelationContext,
): Readonly<Record<string, string>> {
  const made = new Map(
    definitions.map((definition) => {
      const ends = 'to' in definition ? [definition.from, definition.to] : [definition.from]
      const place = ends.map((type) => [
        context.isNamespaced(type),
        context.groupKindOf?.(type)?.kind,
      ])
      return [relationName(definition), JSON.stringify([definition, place])]
    }),
  )
  const texts: Record<string, string> = {}
  for (const { indexers, shortcuts = {}, backIndexers = {} } of compiled) {
    for (const byName of [indexers, shortcuts, backIndexers].flatMap(Object.values<Indexers>)) {
      for (const name of Object.keys(byName)) {
        const [relation = ''] = name.slice(name.indexOf(':') + 1).split('=')
        const text = made.get(relation)
        if (text !== undefined) texts[name] = text
      }
    }
  }
  return texts
}

function kindNamed(kinds: ReadonlyMap<string, Kind>, type: string, relation: string): Kind {
  const kind = kinds.get(type)
  if (kind === undefined) throw new TypeError(`${relation} names ${type}, which is not served`)
  return kind
}

/** The types that each type owns in one step. Each step of `@owned` and `@owner` relates two types. */
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
      const children = getOrInsert(owned, owner, () => new Set())
      children.add(child)
    }
  }
  return owned
}

/** A reference or selector by which objects of another kind use objects of a kind. */
export interface UseWay {
  readonly user: Kind
  /** Leads from the used object to its users. */
  readonly relation: SchemaRelation
  /** Selects users that have not ended. */
  readonly condition: Condition
  readonly places: ReferencePlaces
  readonly needs: readonly RelatedNeed[]
}

function useWayOf(relation: SchemaRelation, places: ReferencePlaces): UseWay {
  const { to: user, needs } = relation
  const { ended } = user
  const index = ended === undefined ? undefined : endedIndexName(ended)
  return {
    user,
    relation,
    condition: index === undefined ? everything : noneOf(hasValue(index, [endedValue])),
    places,
    needs: [...needs.values()].map(({ kind, indexes }) =>
      kind !== user || index === undefined
        ? { kind, indexes }
        : { kind, indexes: { ...indexes, needed: [...(indexes.needed ?? []), index] } },
    ),
  }
}

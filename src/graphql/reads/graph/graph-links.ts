/*
 * The relations that `graph` follows, made once from the relations of a schema. Each relation field is a link from the
 * objects of its kind. A reverse field has the edge of the relation that it reverses, so that both directions draw one
 * edge. A reference to any kind is no relation, but a field that reverses it also gives a link forwards.
 */

import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { type Condition, hasKey } from '../../../query/condition/condition.ts'
import type { OwnedRelation, OwnerRelation } from '../../../query/relation/ownership-relation.ts'
import type { RelationOrigin } from '../../../query/relation/relation.ts'
import { isVague, type RelationDefinition } from '../../../query/relation/relations.ts'
import { compactText } from '../../../lib/text.ts'
import type { Kind } from '../../model/kind.ts'
import type { RelatedNeed, SchemaRelation, SchemaRelations } from '../../served/schema-relations.ts'

/** A relation of the schema, followed from the objects of its kind. */
export interface GraphLink {
  /** The name of the field: `pods`. */
  readonly field: string
  /** `Node.pods`. */
  readonly name: string
  readonly to: Kind
  /** The needs of the kind that it starts from. */
  readonly start: RelatedNeed
  /** The kinds that it reads; {@link to} is the last. */
  readonly reads: readonly RelatedNeed[]
  /** The name of its edges: the relation itself or, read backwards, the relation that it reverses. */
  readonly edge: string
  readonly backwards: boolean
  /** Whether graphs follow it when the request names no relations. See `RelationForm.isVague`. */
  readonly isDefault: boolean
  /** The direction, if the relation is direct ownership. */
  readonly ownership?: 'up' | 'down'
  /** See `Relation.ofSiblings`. */
  readonly ofSiblings: boolean
  /** See `Relation.follow`. */
  follow(origin: RelationOrigin): Condition
}

interface GraphLinks {
  /** By the type of the kind that they start from. */
  readonly byType: ReadonlyMap<string, readonly GraphLink[]>
  /** Their fields, and their names: `pods`, `Node.pods`. */
  readonly fields: ReadonlySet<string>
}

const known = new WeakMap<SchemaRelations, GraphLinks>()

export function graphLinksOf(relations: SchemaRelations): GraphLinks {
  return getOrInsert(known, relations, () => linksOf(relations))
}

function linksOf({ byField }: SchemaRelations): GraphLinks {
  const owners = new Map<string, string>()
  const vague = new Set<string>()
  const names = new Set<string>()
  for (const [{ definition }, { name }] of byField) {
    names.add(name)
    if (definition.form === 'owner') owners.set(chainOf(definition).join(), name)
    if (isVague(definition)) vague.add(name)
  }
  const byType = new Map<string, GraphLink[]>()
  const fields = new Set<string>()
  const add = (type: string, link: GraphLink): void => {
    fields.add(link.field).add(link.name)
    getOrInsert(byType, type, () => []).push(link)
  }
  for (const [{ definition }, relation] of byField) {
    const reversed = reversedBy(definition, owners)
    const edge = compactText(reversed ?? relation.name)
    add(definition.from, {
      field: definition.name,
      name: relation.name,
      to: relation.to,
      ...needsOf(relation, definition.from, relation.relation.reads),
      edge,
      backwards: reversed !== undefined,
      isDefault: !vague.has(edge),
      ...(definition.form === 'owner' && !hasSteps(definition) && { ownership: 'up' }),
      ...(definition.form === 'owned' && !hasSteps(definition) && { ownership: 'down' }),
      ofSiblings: relation.relation.ofSiblings === true,
      follow: (origin) => relation.relation.follow(origin),
    })
    // A reference to any kind is no relation itself. Where a relation reverses it, its index also leads forwards.
    if (definition.form === 'reverse' && !names.has(definition.of)) {
      const forwards = forwardsOf(definition.of, relation)
      if (forwards !== undefined) add(definition.to, forwards)
    }
  }
  return { byType, fields }
}

/** The link from objects that refer to any kind to their targets of one kind. */
function forwardsOf(name: string, { relation, needs }: SchemaRelation): GraphLink | undefined {
  const { from, to } = relation.definition
  const target = needs.get(from)?.kind
  const [index] = Object.keys(relation.indexers[to] ?? {})
  if (target === undefined || index === undefined) return undefined
  return {
    field: name.slice(name.indexOf('.') + 1),
    name,
    to: target,
    ...needsOf({ needs }, to, [from]),
    edge: name,
    backwards: false,
    isDefault: true,
    ofSiblings: false,
    follow: ({ view, id }) => hasKey(view.index(index).valuesOf(id)),
  }
}

function needsOf(
  { needs }: Pick<SchemaRelation, 'needs'>,
  from: string,
  types: readonly string[],
): Pick<GraphLink, 'start' | 'reads'> {
  const needOf = (type: string): RelatedNeed => {
    const need = needs.get(type)
    if (need === undefined) throw new TypeError(`the relation does not read ${type}`)
    return need
  }
  return { start: needOf(from), reads: types.map(needOf) }
}

function hasSteps(definition: RelationDefinition): boolean {
  const { form } = definition
  return (form === 'owned' || form === 'owner') && (definition.through ?? []).length > 0
}

/** The relation that a field reads backwards. Owned objects name their owners, so `owned` is read backwards. */
function reversedBy(
  definition: RelationDefinition,
  owners: ReadonlyMap<string, string>,
): string | undefined {
  if (definition.form === 'reverse') return definition.of
  if (definition.form !== 'owned') return undefined
  const declared = owners.get(chainOf(definition).toReversed().join())
  return declared ?? (hasSteps(definition) ? undefined : `${definition.to}.owners`)
}

/** The types along the relation, both ends included. */
function chainOf({ from, through = [], to }: OwnerRelation | OwnedRelation): readonly string[] {
  return [from, ...through, to]
}

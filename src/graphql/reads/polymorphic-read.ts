import type { StoreView } from '../../informer/store/store-view.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import {
  allOf,
  anyOf,
  type Condition,
  everything,
  hasLabel,
  hasValue,
  nothing,
} from '../../query/condition/condition.ts'
import type { RelationOrigin } from '../../query/relation/relation.ts'
import type { Kind, PolymorphicRelationField } from '../model/kind.ts'
import type { KindOf } from '../schema/object-ref.ts'
import { choosingNeeds, choosingPart, chosenPart } from './chosen-objects.ts'
import { ClientError } from '../operation/client-error.ts'
import type { CachedParts, KindView } from '../operation/kind-view.ts'
import type { SchemaRelation, SchemaRelations } from './schema-relations.ts'

export interface PolymorphicRelationOptions {
  readonly relations: SchemaRelations
  /** All kinds that the cluster serves. */
  readonly kinds: Iterable<Kind>
  readonly kindOf: KindOf
  readonly parts: CachedParts
  readonly cluster: string
  /** The kinds that were asked for by name. */
  readonly named: readonly Kind[]
  readonly origin: Omit<RelationOrigin, 'part' | 'view'> & { readonly view: StoreView }
}

/** Where the objects of several kinds are looked for that a relation leads to. */
export interface PolymorphicParts {
  readonly parts: readonly (KindView & { readonly condition: Condition })[]
  /** Why others could not be looked into. */
  readonly failures: readonly ClientError[]
  /** The type names of kinds that might hold more and were not looked into: not loaded, or not allowed. Sorted. */
  readonly notLookedAt: () => readonly string[]
  /** The kinds that were read, on the way, too. */
  readonly reads: readonly Kind[]
}

/**
 * The kinds that are looked into, each with what the related objects have in common: those that are cached, those that are
 * named, and the one that is meant where the relation says so itself.
 */
export function polymorphicParts(
  field: PolymorphicRelationField,
  options: PolymorphicRelationOptions,
): PolymorphicParts {
  if (field.sameLabel !== undefined) return labelledParts(field.sameLabel, options)
  if (field.chosen !== undefined || field.chosenBy !== undefined) return choiceParts(field, options)
  const { relations, parts, cluster, named, origin } = options
  const found = new Map<Kind, KindView & { readonly condition: Condition }>()
  const failures: ClientError[] = []
  const reads = new Set<Kind>()
  const passedOver = new Set<Kind>()
  const key = origin.view.keyOf(origin.id)
  for (const one of field.relations) {
    const known = relations.byField.get(one)
    if (known === undefined) throw new TypeError(`${one.definition.name} is not resolved`)
    const { to, relation } = known
    const isMeant = relation.only === undefined ? named.includes(to) : relation.only === key
    const isCached = relation.only === undefined && parts.cachedPart({ cluster, kind: to })
    if (to.uncached || (!isMeant && !isCached)) {
      if (relation.only === undefined) passedOver.add(to)
      continue
    }
    for (const read of known.reads) reads.add(read)
    try {
      const part = (type: string): KindView => partOf(known, type, parts, cluster)
      const condition = relation.follow({ ...origin, part })
      const before = found.get(to)?.condition ?? nothing
      found.set(to, { ...part(to.typeName), condition: anyOf([before, condition]) })
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      failures.push(error)
    }
  }
  const parted = { parts: [...found.values()], failures, reads: [...reads] }
  return { ...parted, notLookedAt: () => namesOf(passedOver) }
}

function namesOf(kinds: Iterable<Kind>): readonly string[] {
  return Array.from(kinds, ({ typeName }) => typeName).toSorted()
}

/** What is chosen, of its one kind, or all kinds that may choose. */
function choiceParts(
  field: PolymorphicRelationField,
  options: PolymorphicRelationOptions,
): PolymorphicParts {
  const { chosen, chosenBy = [] } = field
  const { origin } = options
  const choosing = { ...options, budget: origin.budget }
  const parts: (KindView & { readonly condition: Condition })[] = []
  const failures: ClientError[] = []
  const reading = [
    ...(chosen === undefined ? [] : [() => chosenPart(chosen, choosing, origin)]),
    ...chosenBy.map((one) => () => choosingPart(one, choosing, origin)),
  ]
  for (const read of reading) {
    try {
      const part = read()
      if (part !== undefined) parts.push(part)
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      failures.push(error)
    }
  }
  const onTheWay = choosingNeeds(field, options.relations)
  const reads = [...onTheWay, ...parts].map(({ kind }) => kind)
  return { parts, failures, reads, notLookedAt: () => [] }
}

/** Those that have a label in common, of the same namespace or where one of them is in none. */
function labelledParts(
  label: string,
  { kinds, parts, cluster, named, origin }: PolymorphicRelationOptions,
): PolymorphicParts {
  const { view, id } = origin
  const values = view.label(label)?.valuesOf(id) ?? []
  if (values.length === 0) return { parts: [], failures: [], reads: [], notLookedAt: () => [] }
  const { namespace } = splitObjectKey(view.keyOf(id))
  const found: (KindView & { readonly condition: Condition })[] = []
  const failures: ClientError[] = []
  const passedOver: Kind[] = []
  for (const kind of kinds) {
    const isBound = namespace !== '' && kind.resource.namespaced
    const reading = isBound ? { within: () => [namespace] } : {}
    const at = { cluster, kind }
    try {
      const part = named.includes(kind) ? parts.part(at, reading) : parts.cachedPart(at, reading)
      if (kind.uncached || part === undefined) {
        passedOver.push(kind)
        continue
      }
      const place = isBound ? hasValue('namespace', [namespace]) : everything
      found.push({ ...part, condition: allOf([hasLabel(label, values), place]) })
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      failures.push(error)
    }
  }
  const reads = found.map(({ kind }) => kind)
  return { parts: found, failures, reads, notLookedAt: () => namesOf(passedOver) }
}

function partOf(
  { needs, name }: SchemaRelation,
  type: string,
  parts: CachedParts,
  cluster: string,
): KindView {
  const need = needs.get(type)
  if (need === undefined) throw new TypeError(`${name} does not read ${type}`)
  return parts.part({ cluster, ...need })
}

/*
 * A relation from the objects of a kind to objects of several kinds: common kinds, kinds in memory, named kinds, and the
 * kind that the object itself refers to. It has one of three forms: relations to each kind, a label that both objects
 * have, or a choice (`@chooses`), in either direction. Each form finds its places and the condition of its objects.
 */

import { objectKey, splitObjectKey } from '../../../kubernetes/object.ts'
import {
  allOf,
  anyOf,
  type Condition,
  everything,
  hasKey,
  hasLabel,
  hasValue,
  nothing,
} from '../../../query/condition/condition.ts'
import { selectorCondition } from '../../../query/condition/list-condition.ts'
import { valueAt } from '../../../query/index/path.ts'
import {
  choiceAt,
  choiceIndex,
  type ChoosingField,
  choosersOf,
  chosenKind,
} from '../../../query/relation/object-choice.ts'
import type { RelationOrigin } from '../../../query/relation/relation.ts'
import type {
  ChosenObjects,
  Kind,
  PolymorphicRelationField,
  RelationField,
} from '../../model/kind.ts'
import type { FoundObject, KindView } from '../../prepare/kind-view.ts'
import type { ObjectOwnedArguments } from '../../schema/gateway-types.ts'
import { commonKindsOf, kindsServedBy, knownKinds, namedKinds } from '../../served/named-kinds.ts'
import type { RelatedNeed, SchemaRelation, SchemaRelations } from '../../served/schema-relations.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { originOf } from '../object-read.ts'
import { partOnTheWay } from '../relation-read.ts'
import { kindsConnection, type PlacedPart } from './kinds-connection.ts'
import { Places, type PlacesRead, unnamedPart } from '../places.ts'
import { OncePerRun, type ReadRun } from '../read-run.ts'

interface Origin {
  readonly run: ReadRun
  readonly cluster: string
  readonly object: FoundObject
  readonly named: readonly Kind[]
}

export class PolymorphicRead {
  readonly #served: ServedSchema
  readonly #from: Kind
  readonly #field: PolymorphicRelationField
  readonly #named = new OncePerRun<readonly Kind[]>()

  constructor(served: ServedSchema, from: Kind, field: PolymorphicRelationField) {
    this.#served = served
    this.#from = from
    this.#field = field
  }

  /** The kinds that the field loads, with their indexes. Ignores unknown names. */
  needs({ types }: { readonly types?: unknown }, cluster: string): readonly RelatedNeed[] {
    const { sameLabel, relations } = this.#field
    const { byField } = this.#served.relations
    const common = commonKindsOf(this.#served, cluster)
    const named = [...new Set([...knownKinds(this.#served, types), ...common])]
    const needs =
      sameLabel === undefined
        ? relations
            .filter(({ definition }) => named.some(({ typeName }) => typeName === definition.to))
            .flatMap((one) => [...(byField.get(one)?.needs.values() ?? [])])
        : named.map((kind): RelatedNeed => ({ kind, indexes: {} }))
    const choosing = choosingNeeds(this.#field, this.#served.relations)
    return [...needs, ...choosing].filter(({ kind }) => !kind.uncached)
  }

  /** A page of the related objects; empty if the object is gone. Throws as `listPage` does, and `ClientError`. */
  page(run: ReadRun, object: FoundObject, args: ObjectOwnedArguments): object {
    const named = this.#named.of(run, args.types?.join() ?? '', () =>
      namedKinds(this.#served, args.types),
    )
    const found = originOf(run, object)
    const { cluster } = object.part
    const field = this.#field
    const origin = found && { run, cluster, object: found, named }
    let places: PolymorphicParts
    if (origin === undefined) places = nowhere(run)
    else if (field.sameLabel !== undefined) places = labelledParts(field.sameLabel, origin)
    else if (field.chosen ?? field.chosenBy) places = choiceParts(field, origin)
    else places = relatedParts(field, origin)
    run.followed?.({ reads: places.reads, condition: everything, isSaid: false })
    const { view } = object.part
    const name = view.uidOf(object.id) || view.keyOf(object.id)
    const identity = { list: `${cluster}/${this.#from.typeName}.${field.name}/${name}` }
    return kindsConnection(run, places, { identity, bounds: args })
  }
}

function nowhere(run: ReadRun): PolymorphicParts {
  return { ...new Places<PlacedPart>(run).read(), reads: [] }
}

interface PolymorphicParts extends PlacesRead<PlacedPart> {
  /** All kinds read, including kinds on the way. */
  readonly reads: readonly Kind[]
}

/**
 * Reads the common kinds, the cached kinds, the named kinds, and the kind that a relation itself refers to, each with
 * the condition of the related objects.
 */
function relatedParts(
  field: PolymorphicRelationField,
  { run, cluster, object, named }: Origin,
): PolymorphicParts {
  const { budget } = run
  const { view } = object.part
  const origin = { view, id: object.id, budget }
  const byKind = new Map<Kind, PlacedPart>()
  const places = new Places<PlacedPart>(run)
  const reads = new Set<Kind>()
  const passedOver = new Set<Kind>()
  const key = view.keyOf(object.id)
  for (const one of field.relations) {
    const known = relationOf(one, run)
    const { to, relation } = known
    const isMeant = relation.only === undefined ? named.includes(to) : relation.only === key
    const isCached = relation.only === undefined && unnamedPart(run, { cluster, kind: to })
    if (to.uncached || (!isMeant && !isCached)) {
      if (relation.only === undefined) passedOver.add(to)
      continue
    }
    for (const read of known.reads) reads.add(read)
    const part = (type: string): KindView => partOnTheWay(known, type, run, cluster)
    places.find(() => {
      const condition = relation.follow({ ...origin, part })
      const before = byKind.get(to)?.condition ?? nothing
      byKind.set(to, { ...part(to.typeName), condition: anyOf([before, condition]) })
      return undefined
    })
  }
  places.parts.push(...byKind.values())
  return { ...places.read(() => namesOf(passedOver)), reads: [...reads] }
}

function namesOf(kinds: Iterable<Kind>): readonly string[] {
  return Array.from(kinds, ({ typeName }) => typeName)
}

/** The objects that this one chooses, all of one kind, or the objects of every kind that may choose it. */
function choiceParts(field: PolymorphicRelationField, origin: Origin): PolymorphicParts {
  const { chosen, chosenBy = [] } = field
  const { served } = origin.run
  const { run, cluster, object } = origin
  const places = new Places<PlacedPart>(run)
  if (chosen !== undefined) {
    places.find(() => {
      const { choosing, origin: start } = choosingFrom(chosen, run, object)
      const named = chosenKind(choosing, start)
      if (named === undefined) return undefined
      run.budget.spend('rows', 1)
      const of = served.kindOf(named.group, named.kind)
      const { part, id } = object
      const choice = of && choiceIn(valueAt(chosen.path, part.view.object(id)), of)
      if (choice === undefined || choice.kind.uncached) return undefined
      const { kind, within, condition } = choice
      return { ...run.parts.part({ cluster, kind }, { within: () => within }), condition }
    })
  }
  for (const one of chosenBy) {
    places.find(() => {
      const { choosing, origin: start } = choosingFrom(one, run, object)
      const { from } = one.relation.definition
      const part = partOnTheWay(relationOf(one.relation, run), from, run, cluster)
      return { ...part, condition: hasKey(choosersOf(choosing, start, part)) }
    })
  }
  const reads = [...choosingNeeds(field, served.relations), ...places.parts].map(({ kind }) => kind)
  return { ...places.read(), reads }
}

/** Objects with the same value of a label, in the same namespace or if either is cluster-scoped. */
function labelledParts(label: string, { run, cluster, object, named }: Origin): PolymorphicParts {
  const { served, parts } = run
  const { id } = object
  const { view } = object.part
  const values = view.label(label)?.valuesOf(id) ?? []
  if (values.length === 0) return nowhere(run)
  const { namespace } = splitObjectKey(view.keyOf(id))
  const places = new Places<PlacedPart>(run)
  const passedOver: Kind[] = []
  for (const kind of kindsServedBy(served, cluster)) {
    const isBound = namespace !== '' && kind.resource.namespaced
    const reading = isBound ? { within: () => [namespace] } : {}
    const at = { cluster, kind }
    places.find(() => {
      const part = named.includes(kind) ? parts.part(at, reading) : unnamedPart(run, at, reading)
      if (kind.uncached || part === undefined) {
        passedOver.push(kind)
        return undefined
      }
      const place = isBound ? hasValue('namespace', [namespace]) : everything
      return { ...part, condition: allOf([hasLabel(label, values), place]) }
    })
  }
  const reads = places.parts.map(({ kind }) => kind)
  return { ...places.read(() => namesOf(passedOver)), reads }
}

interface Choice {
  readonly kind: Kind
  /** The namespaces that the choice covers; `undefined`: all. */
  readonly within: readonly string[] | undefined
  readonly condition: Condition
}

/** The kinds to read in order to find the chosen or the choosing objects. */
function choosingNeeds(
  { chosen, chosenBy = [] }: PolymorphicRelationField,
  relations: SchemaRelations,
): readonly RelatedNeed[] {
  const needsOf = ({ relation }: ChosenObjects): readonly RelatedNeed[] => [
    ...(relations.byField.get(relation)?.needs.values() ?? []),
  ]
  return [
    ...(chosen === undefined ? [] : needsOf(chosen)),
    ...chosenBy.flatMap((one) => {
      const needs = needsOf(one)
      const { from } = one.relation.definition
      const indexes = { needed: [choiceIndex(one.field)] }
      return [
        ...needs,
        ...needs
          .filter(({ kind }) => kind.typeName === from)
          .map(({ kind }) => ({ kind, indexes })),
      ]
    }),
  ]
}

/** A field with `@chooses`, and an object to start from. */
function choosingFrom(
  { relation, ...field }: ChosenObjects,
  run: ReadRun,
  { part: { cluster, view }, id }: FoundObject,
): { readonly choosing: ChoosingField; readonly origin: RelationOrigin } {
  const known = relationOf(relation, run)
  const part = (type: string): KindView => partOnTheWay(known, type, run, cluster)
  const choosing = { ...field, kindRelation: known.relation }
  return { choosing, origin: { view, id, part, budget: run.budget } }
}

function relationOf(relation: RelationField, { served }: ReadRun): SchemaRelation {
  const known = served.relations.byField.get(relation)
  if (known === undefined) throw new TypeError(`${relation.definition.name} is not resolved`)
  return known
}

/** A choice without a namespace covers all. A choice of a cluster-scoped kind must have none. */
function choiceIn(reference: unknown, kind: Kind): Choice | undefined {
  const choice = choiceAt(reference)
  if (choice === undefined) return undefined
  const { namespaced } = kind.resource
  const { namespace } = choice
  if (namespace !== undefined && !namespaced) return undefined
  const within = namespace === undefined ? undefined : [namespace]
  if (choice.form === 'name') {
    const { name } = choice
    if (namespace !== undefined) {
      return { kind, within, condition: hasKey([objectKey({ namespace, name })]) }
    }
    return { kind, within, condition: namespaced ? hasValue('name', [name]) : hasKey([name]) }
  }
  const place = within === undefined ? everything : hasValue('namespace', within)
  return { kind, within, condition: allOf([place, selectorCondition(choice.labels)]) }
}
